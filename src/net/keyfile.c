/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys as text, and their files. */
#include "net/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/rand.h"
#include "base/text.h"
#include "proto/limits.h"

#define FILE_MAX   4096
#define RANDOM_LEN 6

void key_make(struct key *ret, enum key_kind kind, const char *name)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	uint8_t random[RANDOM_LEN];
	size_t len;

	rand_system(ret->secret, sizeof(ret->secret));
	rand_system(random, sizeof(random));
	snprintf(ret->identity, sizeof(ret->identity), "%c1:%.*s.", (char)kind, LIMIT_TOKEN_ID_MAX - RANDOM_LEN - 1, name);
	len = strlen(ret->identity);
	for (int i = 0; i < RANDOM_LEN; i++)
		ret->identity[len++] = letters[random[i] % (sizeof(letters) - 1)];
	ret->identity[len] = '\0';
}

static int digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return -1;
}

enum err key_parse(struct slice text, const char *what, struct key *ret, struct error *error)
{
	const uint8_t *end;
	struct slice id, hex;

	while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == ' '))
		text.len--;
	if (text.len < 4 || !memchr("twj", text.data[0], 3) || text.data[1] != '1' || text.data[2] != ':' ||
	    !(end = memchr(text.data + 3, ':', text.len - 3)))
		goto bad;
	id = slice_make(text.data + 3, (size_t)(end - text.data) - 3);
	hex = slice_make(end + 1, text.len - id.len - 4);
	if (!text_is_name(id) || id.len > LIMIT_TOKEN_ID_MAX || hex.len != 2 * TLS_KEY_SIZE)
		goto bad;
	for (size_t i = 0; i < TLS_KEY_SIZE; i++) {
		int high = digit(hex.data[2 * i]), low = digit(hex.data[2 * i + 1]);

		if (high < 0 || low < 0)
			goto bad;
		ret->secret[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(ret->identity, text.data, id.len + 3);
	ret->identity[id.len + 3] = '\0';
	return ERR_NONE;
bad:
	error_set(error, ERR_INVALID, "%s contains no token: a token is one line of the form t1:ID:SECRET", what);
	return error_next(error, "titan token add NAME --role ROLE, on the master's machine, makes a token");
}

void key_write(const struct key *key, struct buf *out)
{
	buf_addf(out, "%s:", key->identity);
	for (size_t i = 0; i < TLS_KEY_SIZE; i++)
		buf_addf(out, "%02x", key->secret[i]);
	buf_add_byte(out, '\n');
}

enum err keyfile_read(const char *path, struct key *ret, struct error *error)
{
	uint8_t bytes[FILE_MAX];
	struct stat stat;
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum err err;

	if (fd < 0)
		return error_system(error, errno, "can't open the key file %s", path);
	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid() || (stat.st_mode & 077) != 0) {
		close(fd);
		error_set(error, ERR_DENIED, "the key file %s must be yours, and nobody else may read it", path);
		return error_next(error, "chmod 600 %s", path);
	}
	len = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (len < 0)
		return error_system(error, errno, "can't read the key file %s", path);
	err = key_parse(slice_make(bytes, (size_t)len), path, ret, error);
	return err;
}

enum err keyfile_write(const char *path, const struct key *key, struct error *error)
{
	struct buf text = { 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), result = 0;

	if (fd < 0)
		return error_system(error, errno, "can't make the key file %s", path);
	key_write(key, &text);
	if (io_write_all(fd, text.data, text.len) < 0 || fsync(fd) < 0)
		result = errno;
	if (close(fd) < 0 && result == 0)
		result = errno;
	buf_free(&text);
	if (result == 0)
		return ERR_NONE;
	unlink(path);
	return error_system(error, result, "can't write the key file %s", path);
}
