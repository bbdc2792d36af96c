/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trailer is the text "titan backup sha256 HEX SIZE". `head -c -106 FILE | sha256sum` gives the same checksum. */
#include "store/trailer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "store/store.h"

#define TRAILER_WORDS  "titan backup sha256 "
#define TRAILER_LEN    (sizeof(TRAILER_WORDS) - 1 + 2 * SHA256_SIZE + 1 + 20 + 1)
#define PIECE       (1u << 18)
#define HEADER_LEN  100                  /* length of the header of SQLite's database file */

/* Read exactly len bytes. Return 0 or a negative errno; -ENODATA: the file is too short. */
static int read_at(int fd, void *data, size_t len, int64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = pread(fd, (uint8_t *)data + done, len - done, at + (int64_t)done);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -ENODATA;
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* Compute the trailer of the first size bytes of a file. */
static int make_trailer(int fd, int64_t size, char ret_trailer[TRAILER_LEN + 1])
{
	uint8_t *piece = mem_alloc(PIECE);
	uint8_t digest[SHA256_SIZE];
	struct sha256 hash;
	int result = 0;
	size_t len;

	sha256_init(&hash);
	for (int64_t at = 0; at < size && result == 0; at += PIECE) {
		len = size - at < PIECE ? (size_t)(size - at) : PIECE;
		result = read_at(fd, piece, len, at);
		if (result == 0)
			sha256_add(&hash, slice_make(piece, len));
	}
	mem_free(piece);
	sha256_end(&hash, digest);
	len = (size_t)snprintf(ret_trailer, TRAILER_LEN + 1, TRAILER_WORDS);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		len += (size_t)snprintf(ret_trailer + len, TRAILER_LEN + 1 - len, "%02x", digest[i]);
	snprintf(ret_trailer + len, TRAILER_LEN + 1 - len, " %020" PRId64 "\n", size);
	return result;
}

enum err trailer_write(const char *path, struct error *error)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	char trailer[TRAILER_LEN + 1];
	struct stat info;
	int result = fd < 0 || fstat(fd, &info) < 0 ? -errno : 0;

	if (result == 0)
		result = make_trailer(fd, info.st_size, trailer);
	if (result == 0 && lseek(fd, 0, SEEK_END) < 0)
		result = -errno;
	if (result == 0)
		result = io_write_all(fd, trailer, TRAILER_LEN);
	if (result == 0 && fsync(fd) < 0)
		result = -errno;
	if (fd >= 0)
		close(fd);
	return result == 0 ? ERR_NONE : error_system(error, -result, "can't write the checksum of %s", path);
}

/* ---- a file without a trailer ---- */

static uint32_t number_at(const uint8_t *header, size_t at, size_t len)
{
	uint32_t number = 0;

	for (size_t i = 0; i < len; i++)
		number = number << 8 | header[at + i];
	return number;
}

/* The file size that the database header states; -1: none, or the file is no database. */
static int64_t size_by_header(int fd)
{
	uint8_t header[HEADER_LEN];
	uint32_t page_size;

	if (read_at(fd, header, sizeof(header), 0) < 0 || memcmp(header, "SQLite format 3", 16) != 0)
		return -1;
	page_size = number_at(header, 16, 2);
	if (page_size == 1)
		page_size = 65536;
	/*
	 * The page count is valid only if the two change counters are equal, which means that the last writer set it.
	 */
	if (number_at(header, 24, 4) != number_at(header, 92, 4))
		return -1;
	return (int64_t)page_size * number_at(header, 28, 4);
}

/* Is there a log beside the file? Then the file is a store itself, and its size proves nothing. */
static bool has_log(const char *path)
{
	size_t size = strlen(path) + sizeof("-wal");
	char *log = mem_alloc(size);
	struct stat info;
	bool there;

	snprintf(log, size, "%s-wal", path);
	there = stat(log, &info) == 0 && info.st_size > 0;
	mem_free(log);
	return there;
}

static enum err check_length(int fd, const char *path, int64_t size, struct error *error)
{
	int64_t wanted = size_by_header(fd);

	if (wanted < 0 || wanted == size || has_log(path))
		return ERR_NONE;
	return error_set(error, ERR_STORE_TRUST, "%s has %lld bytes, of which the database has %lld, and the rest "
		"isn't a checksum: the backup was changed or cut off", path, (long long)size, (long long)wanted);
}

/* ---- a file with a trailer ---- */

static enum err compare(int fd, const char *path, int64_t size, const char *found, struct error *error)
{
	char trailer[TRAILER_LEN + 1];
	int result = make_trailer(fd, size, trailer);

	if (result < 0)
		return error_system(error, -result, "can't read %s", path);
	if (memcmp(trailer, found, TRAILER_LEN) == 0)
		return ERR_NONE;
	return error_set(error, ERR_STORE_TRUST, "the backup %s was changed after it was made: its checksum doesn't "
		"match", path);
}

enum err trailer_check(const char *path, bool *ret_found, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char found[TRAILER_LEN + 1] = "";
	struct stat info;
	enum err err;
	int result;

	*ret_found = false;
	if (fd < 0 || fstat(fd, &info) < 0) {
		err = error_system(error, errno, "can't read %s", path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	/* Accept what isn't a regular file: the caller opens it as a database next, and that error is clearer. */
	if (!S_ISREG(info.st_mode)) {
		close(fd);
		return ERR_NONE;
	}
	result = info.st_size < (off_t)TRAILER_LEN ? 0 : read_at(fd, found, TRAILER_LEN, info.st_size - (off_t)TRAILER_LEN);
	*ret_found = memcmp(found, TRAILER_WORDS, sizeof(TRAILER_WORDS) - 1) == 0;
	if (result < 0)
		err = error_system(error, -result, "can't read %s", path);
	else if (*ret_found)
		err = compare(fd, path, info.st_size - (off_t)TRAILER_LEN, found, error);
	else
		err = check_length(fd, path, info.st_size, error);
	close(fd);
	return err;
}
