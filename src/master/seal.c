/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sealing by AES-256-GCM: 12 random bytes, the encrypted secret, 16 bytes of tag. */
#include "master/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/io.h"
#include "base/rand.h"

#define NONCE_SIZE 12
#define TAG_SIZE   16

static enum err key_read(int fd, const char *path, uint8_t ret_key[SEAL_KEY_SIZE], struct error *error)
{
	struct stat stat;
	uint8_t more;

	if (fstat(fd, &stat) < 0)
		return error_system(error, errno, "can't look at %s", path);
	if (stat.st_uid != getuid() || (stat.st_mode & 077) != 0) {
		error_set(error, ERR_DENIED, "%s holds the key that encrypts all tokens, but other users than its owner may read it", path);
		return error_next(error, "chmod 600 %s", path);
	}
	if (read(fd, ret_key, SEAL_KEY_SIZE) != SEAL_KEY_SIZE || read(fd, &more, 1) != 0) {
		error_set(error, ERR_DAMAGED, "%s is damaged: it must have %d bytes", path, SEAL_KEY_SIZE);
		return error_next(error, "restore the file from a copy; without a copy, remove the file and replace all tokens");
	}
	return ERR_NONE;
}

/* Make the key's file so that it appears complete under its name or not at all. */
static enum err key_make(const struct statedir *statedir, const char *path, uint8_t ret_key[SEAL_KEY_SIZE], struct error *error)
{
	char part[PATH_MAX];
	int fd, result = 0;

	statedir_path(statedir, "titan.key.part", part);
	unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_system(error, errno, "can't make %s", part);
	rand_system(ret_key, SEAL_KEY_SIZE);
	if (io_write_all(fd, ret_key, SEAL_KEY_SIZE) < 0 || fsync(fd) < 0 || rename(part, path) < 0)
		result = errno;
	close(fd);
	if (result == 0) {
		fd = open(statedir->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || fsync(fd) < 0)
			result = errno;
		if (fd >= 0)
			close(fd);
	}
	return result == 0 ? ERR_NONE : error_system(error, result, "can't write %s", path);
}

enum err seal_key_open(const struct statedir *statedir, uint8_t ret_key[SEAL_KEY_SIZE], struct error *error)
{
	char path[PATH_MAX];
	enum err err;
	int fd;

	fd = open(statedir_path(statedir, "titan.key", path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return key_make(statedir, path, ret_key, error);
	if (fd < 0)
		return error_system(error, errno, "can't open %s", path);
	err = key_read(fd, path, ret_key, error);
	close(fd);
	return err;
}

void seal(const uint8_t key[SEAL_KEY_SIZE], struct slice name, struct slice secret, uint8_t *ret_sealed)
{
	uint8_t *body = ret_sealed + NONCE_SIZE;
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int len;

	rand_system(ret_sealed, NONCE_SIZE);
	CHECK(context && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, ret_sealed) == 1 &&
	      EVP_EncryptUpdate(context, NULL, &len, name.data, (int)name.len) == 1 &&
	      EVP_EncryptUpdate(context, body, &len, secret.data, (int)secret.len) == 1 &&
	      EVP_EncryptFinal_ex(context, body + secret.len, &len) == 1 &&
	      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG_SIZE, body + secret.len) == 1);
	EVP_CIPHER_CTX_free(context);
}

bool seal_open(const uint8_t key[SEAL_KEY_SIZE], struct slice name, struct slice sealed, uint8_t *ret_secret)
{
	uint8_t tag[TAG_SIZE];
	EVP_CIPHER_CTX *context;
	const uint8_t *body = sealed.data + NONCE_SIZE;
	size_t body_len = sealed.len - SEAL_EXTRA;
	bool good;
	int len;

	if (sealed.len < SEAL_EXTRA)
		return false;
	memcpy(tag, body + body_len, TAG_SIZE);
	context = EVP_CIPHER_CTX_new();
	CHECK(context);
	good = EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, sealed.data) == 1 &&
	       EVP_DecryptUpdate(context, NULL, &len, name.data, (int)name.len) == 1 &&
	       EVP_DecryptUpdate(context, ret_secret, &len, body, (int)body_len) == 1 &&
	       EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG_SIZE, tag) == 1 &&
	       EVP_DecryptFinal_ex(context, ret_secret + body_len, &len) == 1;
	EVP_CIPHER_CTX_free(context);
	return good;
}
