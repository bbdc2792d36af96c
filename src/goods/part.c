/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unfinished uploads: a file in incoming for each uploader and content. Its size is how far the upload has come, so it
 * goes on where it was after the end of the master. The hash is computed along the way; what is found on disk is read again.
 */
#include "goods/blobs_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/limits.h"

#define SYNC_BYTES (8u << 20)            /* bytes after which the disk is told to begin writing, so that the last sync is short */

static void name_of(const struct part_key *key, char ret_name[HEX_SIZE])
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, slice_make(key->hash, SHA256_SIZE));
	sha256_add(&hash, key->owner);
	sha256_end(&hash, digest);
	hex_of(digest, ret_name);
}

static void part_close(struct part *part)
{
	if (part->fd < 0)
		return;
	close(part->fd);
	part->fd = -1;
	sha256_drop(&part->hash);
}

void parts_close(struct blobs *blobs)
{
	for (size_t i = 0; i < PARTS_OPEN; i++)
		part_close(&blobs->parts[i]);
}

static struct part *part_open_one(struct blobs *blobs, const char *name)
{
	for (size_t i = 0; i < PARTS_OPEN; i++)
		if (blobs->parts[i].fd >= 0 && strcmp(blobs->parts[i].name, name) == 0)
			return &blobs->parts[i];
	return NULL;
}

uint64_t part_size(const struct blobs *blobs, const struct part_key *key)
{
	char name[HEX_SIZE];
	struct stat found;

	name_of(key, name);
	return fstatat(blobs->incoming_fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) ? (uint64_t)found.st_size : 0;
}

/* Read what the file has already, for the hash. */
static int rehash(struct part *part)
{
	uint8_t bytes[16384];

	for (;;) {
		ssize_t got = read(part->fd, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		sha256_add(&part->hash, slice_make(bytes, (size_t)got));
		part->size += (uint64_t)got;
	}
}

/* Open the upload, anew or as far as it has come, in the place of the one unused for longest. */
static int part_open(struct blobs *blobs, const char *name, bool anew, struct part **ret)
{
	struct part *part = &blobs->parts[0];
	int result;

	for (size_t i = 1; i < PARTS_OPEN && part->fd >= 0; i++)
		if (blobs->parts[i].fd < 0 || blobs->parts[i].used < part->used)
			part = &blobs->parts[i];
	part_close(part);
	*part = (struct part){ .fd = openat(blobs->incoming_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (anew ? O_TRUNC : 0), 0600) };
	if (part->fd < 0)
		return -errno;
	memcpy(part->name, name, HEX_SIZE);
	sha256_init(&part->hash);
	result = rehash(part);
	if (result < 0)
		part_close(part);
	*ret = part;
	return result;
}

static void part_drop(struct blobs *blobs, struct part *part)
{
	unlinkat(blobs->incoming_fd, part->name, 0);
	part_close(part);
}

static enum err part_write(struct blobs *blobs, struct part *part, struct slice data, struct error *error)
{
	size_t at = 0;

	while (at < data.len) {
		ssize_t done = pwrite(part->fd, data.data + at, data.len - at, (off_t)(part->size + at));

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			blobs_failed(blobs, errno, "write a content", error);
			part_drop(blobs, part);
			return error->code;
		}
		at += (size_t)done;
	}
	sha256_add(&part->hash, data);
	part->size += data.len;
	if (part->size - part->synced >= SYNC_BYTES) {
		sync_file_range(part->fd, (off_t)part->synced, 0, SYNC_FILE_RANGE_WRITE);
		part->synced = part->size;
	}
	return ERR_NONE;
}

static enum err part_finish(struct blobs *blobs, struct part *part, const struct part_key *key, struct error *error)
{
	char text[SHA256_TEXT_SIZE];
	uint8_t digest[SHA256_SIZE];
	enum err err = ERR_NONE;
	uint64_t there;

	sha256_end(&part->hash, digest);
	if (memcmp(digest, key->hash, SHA256_SIZE) != 0) {
		sha256_text(key->hash, text);
		error_set(error, ERR_INVALID, "the uploaded content doesn't have the hash %s that was given for it", text);
		part_drop(blobs, part);
		return ERR_INVALID;
	}
	if (blobs_find(blobs, key->hash, &there)) {
		part_drop(blobs, part);
		return ERR_NONE;
	}
	if (fsync(part->fd) < 0)
		err = blobs_failed(blobs, errno, "sync a content", error);
	if (err == ERR_NONE)
		err = blobs_keep(blobs, part->name, key->hash, error);
	if (err != ERR_NONE)
		part_drop(blobs, part);
	else
		part_close(part);
	return err;
}

enum err part_add(struct blobs *blobs, const struct part_key *key, uint64_t size, uint64_t offset, struct slice data, bool *ret_whole,
		  struct error *error)
{
	struct part *part;
	char name[HEX_SIZE];
	int result = 0;

	*ret_whole = false;
	name_of(key, name);
	part = part_open_one(blobs, name);
	if (part && offset == 0 && part->size > 0) {
		part_drop(blobs, part);
		part = NULL;
	}
	if (offset > INT64_MAX || data.len > LIMIT_GOODS_CHUNK || size > INT64_MAX || offset + data.len > size || (data.len == 0 && size > 0))
		return error_set(error, ERR_INVALID, "a piece of a content is empty, too long, or beyond the end of the content");
	if (blobs_room(blobs, size - offset, error) != ERR_NONE) {
		unlinkat(blobs->incoming_fd, name, 0);
		if (part)
			part_drop(blobs, part);
		return error->code;
	}
	if (!part)
		result = part_open(blobs, name, offset == 0, &part);
	if (result < 0)
		return blobs_failed(blobs, -result, "write a content", error);
	part->used = ++blobs->uses;
	if (part->size != offset)
		return error_set(error, ERR_CHANGED, "the upload of this content has come to byte %llu, but the piece begins at %llu",
				 (unsigned long long)part->size, (unsigned long long)offset);
	if (part_write(blobs, part, data, error) != ERR_NONE)
		return error->code;
	if (part->size < size)
		return ERR_NONE;
	*ret_whole = true;
	return part_finish(blobs, part, key, error);
}

void parts_sweep(struct blobs *blobs, int64_t kept_from)
{
	int fd = openat(blobs->incoming_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat found;

	if (!list) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && !part_open_one(blobs, entry->d_name) &&
		    fstatat(fd, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_mtime < kept_from)
			unlinkat(fd, entry->d_name, 0);
	closedir(list);
}
