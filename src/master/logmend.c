/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mends a log after a failed sync. The kernel reports the failure only once: the lost bytes may still be readable, and
 * the next sync succeeds without them. So everything written since the last good sync is removed from the file before
 * anything else is written or synced.
 */
#include "master/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "master/logbytes.h"

#define WINDOW ((size_t)262144)

static int copy_into(const struct logfile *file, int fd)
{
	uint8_t *window = mem_alloc(WINDOW);
	uint64_t at = 0;
	int result = 0;

	while (result == 0 && at < file->size) {
		size_t size = file->size - at < WINDOW ? (size_t)(file->size - at) : WINDOW;
		ssize_t got = logbytes_read(file->fd, window, size, at);

		if (got <= 0)
			result = got < 0 ? (int)got : -EIO;
		else
			result = logbytes_write(fd, window, (size_t)got, at);
		at += got > 0 ? (uint64_t)got : 0;
	}
	mem_free(window);
	return result == 0 && fdatasync(fd) < 0 ? -errno : result;
}

/* Replace the file by a copy under the same name; that name then needs a sync. */
static int renew(struct logfile *file, int logs_fd)
{
	char plain[LOGFILE_NAME], temporary[LOGFILE_NAME];
	int fd, result;

	logfile_name(file, "", plain);
	logfile_name(file, ".new", temporary);
	fd = openat(logs_fd, temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	result = copy_into(file, fd);
	if (result == 0 && renameat(logs_fd, temporary, logs_fd, plain) < 0)
		result = -errno;
	if (result < 0) {
		unlinkat(logs_fd, temporary, 0);
		close(fd);
		return result;
	}
	close(file->fd);
	file->fd = fd;
	return 0;
}

int logfile_mend(struct logfile *file, int logs_fd)
{
	int result = 0;

	if (!file->broken)
		return 0;
	CHECK(file->fd >= 0 && !file->pack);
	if (file->fresh)
		result = renew(file, logs_fd);
	else if (ftruncate(file->fd, (off_t)file->size) < 0)
		result = -errno;
	if (result < 0)
		return result;
	file->broken = false;
	file->dirty = true;
	return logfile_complete(file, 0, clock_wall_ms());
}

int logfile_unsync(struct logfile *file, int logs_fd)
{
	const struct logpack_facts *synced = &file->synced;

	CHECK(file->known);
	/* The compressed form is never written to. */
	if (file->pack)
		return 0;
	if (file->cap == UINT64_MAX) {
		file->stuck |= memcmp(file->received, synced->received, sizeof(file->received)) != 0;
		memcpy(file->received, synced->received, sizeof(file->received));
	} else {
		file->dropped += file->kept - synced->kept;
	}
	/* The last note may be among the bytes taken out. */
	file->unnoted |= file->dropped > synced->dropped || (file->has_note && file->note_at >= synced->size);
	file->size = synced->size;
	file->kept = synced->kept;
	file->has_note = false;
	while (file->mark_count > 0 && file->marks[file->mark_count - 1] >= file->size)
		file->mark_count--;
	file->broken = true;
	return logfile_mend(file, logs_fd);
}
