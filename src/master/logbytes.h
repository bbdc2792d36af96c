/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helpers to read and write log files: little-endian numbers of a given width, and whole blocks. */
#ifndef TITAN_MASTER_LOGBYTES_H
#define TITAN_MASTER_LOGBYTES_H

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

static inline void logbytes_put(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t logbytes_get(const uint8_t *in, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | in[i];
	return value;
}

/* Read len bytes at a position. Return how many there were (fewer at the end of the file), or -errno. */
static inline ssize_t logbytes_read(int fd, void *out, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = pread(fd, (uint8_t *)out + done, len - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static inline int logbytes_write(int fd, const void *data, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t wrote = pwrite(fd, (const uint8_t *)data + done, len - done, (off_t)(at + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return wrote < 0 ? -errno : -EIO;
		done += (size_t)wrote;
	}
	return 0;
}

#endif
