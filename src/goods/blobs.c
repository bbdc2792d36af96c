/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory of contents: blobs/ab/cdef... (one content each), packs/ (small contents together), incoming/ (unfinished
 * uploads). A name in blobs or packs appears by rename, after its bytes were synced, and the directory is synced before anybody
 * is told.
 */
#include "goods/blobs_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/limits.h"

/* ---- names ---- */

void hex_of(const uint8_t hash[SHA256_SIZE], char ret_text[HEX_SIZE])
{
	char text[SHA256_TEXT_SIZE];

	sha256_text(hash, text);
	memcpy(ret_text, text + SHA256_TEXT_SIZE - HEX_SIZE, HEX_SIZE);
}

void blob_path(const uint8_t hash[SHA256_SIZE], char ret_path[BLOB_PATH_SIZE])
{
	char hex[HEX_SIZE];

	hex_of(hash, hex);
	snprintf(ret_path, BLOB_PATH_SIZE, "%.2s/%s", hex, hex + 2);
}

enum err blobs_failed(const struct blobs *blobs, int number, const char *what, struct error *error)
{
	if (number != ENOSPC && number != EDQUOT && number != EFBIG)
		return error_system(error, number, "can't %s in %s", what, blobs->dir);
	error_set(error, ERR_FULL, "the disk of %s is full: nothing of this content was kept", blobs->dir);
	return error_next(error, "df -h %s", blobs->dir);
}

enum err blobs_room(const struct blobs *blobs, uint64_t bytes, struct error *error)
{
	struct statvfs space;
	uint64_t available;

	if (fstatvfs(blobs->blobs_fd, &space) < 0)
		return error_system(error, errno, "can't ask how much room there is in %s", blobs->dir);
	available = (uint64_t)space.f_bavail * space.f_frsize;
	if (bytes <= INT64_MAX && available >= bytes + LIMIT_GOODS_FREE)
		return ERR_NONE;
	error_set(error, ERR_FULL, "the disk of %s has %llu MiB available, but the content needs %llu MiB, and %d MiB must stay free",
		  blobs->dir, (unsigned long long)(available >> 20), (unsigned long long)((bytes + (1 << 20) - 1) >> 20),
		  LIMIT_GOODS_FREE >> 20);
	return error_next(error, "df -h %s", blobs->dir);
}

/* ---- opening ---- */

static enum err open_in(struct blobs *blobs, const char *name, int *ret_fd, struct error *error)
{
	struct buf joined = { 0 };
	const char *path;
	int result;

	buf_addf(&joined, "%s/%s", blobs->dir, name);
	path = buf_cstr(&joined);
	result = io_make_dirs(path, 0700);
	if (result == 0) {
		*ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		result = *ret_fd < 0 ? -errno : 0;
	}
	if (result < 0)
		error_dir(error, -result, "a directory of assets", path);
	buf_free(&joined);
	return result < 0 ? error->code : ERR_NONE;
}

enum err blobs_open(const char *dir, struct blobs **ret_blobs, struct error *error)
{
	struct blobs *blobs = mem_zalloc(sizeof(*blobs));
	enum err err;

	blobs->dir = mem_strdup(dir);
	blobs->blobs_fd = blobs->packs_fd = blobs->incoming_fd = -1;
	for (size_t i = 0; i < PARTS_OPEN; i++)
		blobs->parts[i].fd = -1;
	err = open_in(blobs, "blobs", &blobs->blobs_fd, error);
	if (err == ERR_NONE)
		err = open_in(blobs, "packs", &blobs->packs_fd, error);
	if (err == ERR_NONE)
		err = open_in(blobs, "incoming", &blobs->incoming_fd, error);
	if (err == ERR_NONE)
		err = packs_load(blobs, error);
	if (err != ERR_NONE) {
		blobs_close(blobs);
		return err;
	}
	*ret_blobs = blobs;
	return ERR_NONE;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void blobs_close(struct blobs *blobs)
{
	if (!blobs)
		return;
	parts_close(blobs);
	packs_free(blobs);
	close_fd(blobs->blobs_fd);
	close_fd(blobs->packs_fd);
	close_fd(blobs->incoming_fd);
	mem_free(blobs->dir);
	mem_free(blobs);
}

/* ---- contents ---- */

bool blobs_find(const struct blobs *blobs, const uint8_t hash[SHA256_SIZE], uint64_t *ret_size)
{
	const struct packed *packed = packed_find(blobs, hash);
	char path[BLOB_PATH_SIZE];
	struct stat found;

	if (packed) {
		*ret_size = packed->size;
		return true;
	}
	blob_path(hash, path);
	if (fstatat(blobs->blobs_fd, path, &found, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(found.st_mode))
		return false;
	*ret_size = (uint64_t)found.st_size;
	return true;
}

static enum err read_file(const struct blobs *blobs, int fd, uint64_t offset, uint64_t limit, struct buf *out, uint64_t *ret_size,
			  struct error *error)
{
	struct stat found;
	uint64_t left;

	if (fstat(fd, &found) < 0)
		return error_system(error, errno, "can't read a content in %s", blobs->dir);
	*ret_size = (uint64_t)found.st_size;
	left = offset < *ret_size ? *ret_size - offset : 0;
	if (left > limit)
		left = limit;
	while (left > 0) {
		ssize_t got = pread(fd, buf_reserve(out, (size_t)left), (size_t)left, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_system(error, got < 0 ? errno : EIO, "can't read a content in %s", blobs->dir);
		out->len += (size_t)got;
		offset += (uint64_t)got;
		left -= (uint64_t)got;
	}
	return ERR_NONE;
}

enum err blobs_read(const struct blobs *blobs, const uint8_t hash[SHA256_SIZE], uint64_t offset, uint64_t limit, struct buf *out,
		    uint64_t *ret_size, struct error *error)
{
	const struct packed *packed = packed_find(blobs, hash);
	char path[BLOB_PATH_SIZE];
	enum err err;
	int fd;

	if (packed) {
		struct buf whole = { 0 };

		err = packed_read(blobs, packed, &whole, error);
		*ret_size = whole.len;
		if (err == ERR_NONE && offset < whole.len)
			buf_add(out, whole.data + offset, whole.len - offset < limit ? whole.len - (size_t)offset : (size_t)limit);
		buf_free(&whole);
		return err;
	}
	blob_path(hash, path);
	fd = openat(blobs->blobs_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_system(error, errno, "can't read the content %s in %s", path, blobs->dir);
	err = read_file(blobs, fd, offset, limit, out, ret_size, error);
	close(fd);
	return err;
}

enum err blobs_keep(struct blobs *blobs, const char *name, const uint8_t hash[SHA256_SIZE], struct error *error)
{
	char path[BLOB_PATH_SIZE], dir[3];
	bool made;
	int fd;

	blob_path(hash, path);
	snprintf(dir, sizeof(dir), "%.2s", path);
	made = mkdirat(blobs->blobs_fd, dir, 0700) == 0;
	if ((!made && errno != EEXIST) || (made && fsync(blobs->blobs_fd) < 0))
		return blobs_failed(blobs, errno, "make a directory", error);
	if (renameat(blobs->incoming_fd, name, blobs->blobs_fd, path) < 0)
		return blobs_failed(blobs, errno, "keep a content", error);
	fd = openat(blobs->blobs_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0) {
		blobs_failed(blobs, errno, "sync a directory", error);
		unlinkat(blobs->blobs_fd, path, 0);
	} else {
		error->code = ERR_NONE;
	}
	close_fd(fd);
	return error->code;
}

void blobs_remove(struct blobs *blobs, const uint8_t hash[SHA256_SIZE])
{
	char path[BLOB_PATH_SIZE];

	if (packed_remove(blobs, hash))
		return;
	blob_path(hash, path);
	if (unlinkat(blobs->blobs_fd, path, 0) < 0 && errno != ENOENT)
		log_warn_limited("can't remove %s/blobs/%s: %s", blobs->dir, path, strerror(errno));
}

/* ---- removing what nobody wants ---- */

static bool is_old(int dir_fd, const char *name, int64_t kept_from)
{
	struct stat found;

	return fstatat(dir_fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_mtime < kept_from;
}

static uint64_t sweep_dir(struct blobs *blobs, const char *dir, int64_t kept_from,
			  bool (*wanted_cb)(void *arg, const uint8_t hash[SHA256_SIZE]), void *arg)
{
	int fd = openat(blobs->blobs_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t removed = 0;

	if (!list) {
		close_fd(fd);
		return 0;
	}
	while ((entry = readdir(list))) {
		char text[SHA256_TEXT_SIZE];
		uint8_t hash[SHA256_SIZE];

		if (strlen(entry->d_name) != HEX_SIZE - 3)
			continue;
		snprintf(text, sizeof(text), "sha256:%.2s%.62s", dir, entry->d_name);
		if (!sha256_read(slice_str(text), hash) || wanted_cb(arg, hash) || !is_old(fd, entry->d_name, kept_from))
			continue;
		removed += unlinkat(fd, entry->d_name, 0) == 0;
	}
	closedir(list);
	return removed;
}

uint64_t blobs_sweep(struct blobs *blobs, int64_t kept_from, bool (*wanted_cb)(void *arg, const uint8_t hash[SHA256_SIZE]), void *arg)
{
	uint64_t removed = packs_sweep(blobs, kept_from, wanted_cb, arg);
	int fd = openat(blobs->blobs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (strlen(entry->d_name) == 2 && strcmp(entry->d_name, "..") != 0)
			removed += sweep_dir(blobs, entry->d_name, kept_from, wanted_cb, arg);
	if (list)
		closedir(list);
	else
		close_fd(fd);
	parts_sweep(blobs, kept_from);
	return removed;
}
