/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log file of one attempt: opening, scanning, syncing, closing. Every byte received is either in the file or
 * counted as dropped (logfile_write.c). A crash can damage only the end of a file, which is cut off when the file is
 * opened. The worker still has those bytes, because it was never told that they are on disk.
 */
#include "master/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "master/logrecord.h"
#include "proto/limits.h"

#define SCAN_WINDOW  ((size_t)65536)
#define MARK_EVERY   ((uint64_t)262144)

void logfile_init(struct logfile *file, uint64_t run, uint64_t job, uint64_t epoch)
{
	*file = (struct logfile){ .run = run, .job = job, .epoch = epoch, .fd = -1, .cap = LIMIT_LOG_JOB_MAX };
}

void logfile_mark(struct logfile *file, uint64_t at)
{
	if (at < MARK_EVERY + (file->mark_count > 0 ? file->marks[file->mark_count - 1] : 0))
		return;
	if (file->mark_count == file->mark_cap) {
		file->mark_cap = file->mark_cap ? file->mark_cap * 2 : 16;
		file->marks = mem_resize(file->marks, file->mark_cap, sizeof(*file->marks));
	}
	file->marks[file->mark_count++] = at;
}

/* ---- opening ---- */

static void learn_data(struct logfile *file, const struct log_header *header)
{
	uint64_t *received = &file->received[header->stream - 1];

	if (header->offset + header->length > *received)
		*received = header->offset + header->length;
	file->kept += header->length;
	file->has_note = false;
}

static int learn_note(struct logfile *file, uint64_t at, uint64_t *dropped)
{
	uint8_t note[LOGFILE_NOTE];
	ssize_t got = logbytes_read(file->fd, note, sizeof(note), at + LOGFILE_HEADER);

	if (got < 0)
		return (int)got;
	CHECK(got == LOGFILE_NOTE);
	for (int i = 0; i < 2; i++)
		if (logbytes_get(note + 8 * i, 8) > file->received[i])
			file->received[i] = logbytes_get(note + 8 * i, 8);
	*dropped = logbytes_get(note + 16, 8);
	file->note_at = at;
	file->has_note = true;
	return 0;
}

/* Read all record headers and cut off what follows the last complete record. */
static int scan(struct logfile *file)
{
	uint8_t *window = mem_alloc(SCAN_WINDOW);
	uint64_t start = 0, at = 0, dropped = 0, end;
	size_t len = 0;
	struct log_header header;
	struct stat info;
	int result = 0;

	if (fstat(file->fd, &info) < 0)
		result = -errno;
	end = result == 0 ? (uint64_t)info.st_size : 0;
	while (result == 0 && end - at >= LOGFILE_HEADER) {
		if (at < start || at + LOGFILE_HEADER > start + len) {
			ssize_t got = logbytes_read(file->fd, window, SCAN_WINDOW, at);

			if (got < LOGFILE_HEADER) {
				result = got < 0 ? (int)got : -EIO;
				break;
			}
			start = at;
			len = (size_t)got;
		}
		if (!log_header_get(window + (at - start), &header) || header.length > end - at - LOGFILE_HEADER)
			break;
		logfile_mark(file, at);
		if (header.flags == LOG_FLAG_NOTE)
			result = learn_note(file, at, &dropped);
		else
			learn_data(file, &header);
		at += LOGFILE_HEADER + header.length;
	}
	mem_free(window);
	if (result == 0 && at < end && ftruncate(file->fd, (off_t)at) < 0)
		result = -errno;
	file->size = at;
	file->dropped += dropped; /* added to the number of bytes that were dropped while the file couldn't be opened */
	return result;
}

static void note_synced(struct logfile *file)
{
	file->synced = (struct logpack_facts){
		.received = { file->received[0], file->received[1] }, .kept = file->kept,
		.dropped = file->dropped, .size = file->size,
	};
}

static void run_name(const struct logfile *file, char ret_name[LOGFILE_NAME])
{
	snprintf(ret_name, LOGFILE_NAME, "%llu", (unsigned long long)file->run);
}

void logfile_name(const struct logfile *file, const char *suffix, char ret_name[LOGFILE_NAME])
{
	snprintf(ret_name, LOGFILE_NAME, "%llu/%llu.%llu%s", (unsigned long long)file->run,
		 (unsigned long long)file->job, (unsigned long long)file->epoch, suffix);
}

/* Rebuild a damaged index of a compressed log from its records. */
static int rebuild(int fd, struct logpack *pack)
{
	struct logpack_facts facts = { 0 };
	struct arena arena = { 0 };
	int result = logpack_rebuild(fd, pack);

	for (size_t i = 0; result == 0 && i < pack->count; i++) {
		struct slice records;

		arena_reset(&arena);
		if (logpack_read(pack, fd, i, &arena, &records) == 0)
			logfile_learn(records, &facts);
	}
	arena_free(&arena);
	if (result < 0)
		return result;
	facts.size = pack->facts.size;
	pack->facts = facts;
	return 0;
}

/* Open the compressed form. -ENOENT: there is none. */
static int open_pack(struct logfile *file, int logs_fd)
{
	char name[LOGFILE_NAME];
	struct logpack pack;
	int result;

	logfile_name(file, ".zst", name);
	file->fd = openat(logs_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (file->fd < 0)
		return -errno;
	result = logpack_open(file->fd, &pack);
	if (result == -EBADMSG) {
		result = rebuild(file->fd, &pack);
		if (result == 0)
			log_warn_limited("the index of the log %s is damaged; the log is read without it as far as "
				"possible", name);
	}
	if (result < 0) {
		logfile_close(file);
		return result;
	}
	file->pack = mem_zalloc(sizeof(*file->pack));
	*file->pack = pack;
	file->size = pack.facts.size;
	file->kept = pack.facts.kept;
	file->dropped += pack.facts.dropped;
	for (int i = 0; i < 2; i++)
		if (pack.facts.received[i] > file->received[i])
			file->received[i] = pack.facts.received[i];
	file->known = true;
	return 0;
}

int logfile_open(struct logfile *file, int logs_fd, bool create)
{
	char dir[LOGFILE_NAME], path[LOGFILE_NAME];
	struct logfile before = *file;
	int result = 0;

	run_name(file, dir);
	logfile_name(file, "", path);
	if (file->fd < 0)
		file->fd = openat(logs_fd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (file->fd < 0 && errno == ENOENT && !file->known) {
		result = open_pack(file, logs_fd);
		if (result != -ENOENT)
			return result;
		errno = ENOENT;
		result = 0;
	}
	if (file->fd < 0 && errno == ENOENT && create) {
		if (mkdirat(logs_fd, dir, 0700) < 0 && errno != EEXIST)
			return -errno;
		file->fd = openat(logs_fd, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		file->fresh = true;
	}
	if (file->fd < 0)
		return -errno;
	if (!file->known) {
		result = scan(file);
		if (result < 0) {
			logfile_free(file);
			*file = before;
			return result;
		}
		file->known = true;
		/* An earlier master may have written the file and died before it synced the file or its name. */
		file->dirty = file->fresh = true;
		note_synced(file);
	}
	return 0;
}

void logfile_close(struct logfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (!file->pack)
		return;
	/* The index is large and on disk: free it, and read it again when the file is opened. */
	file->known = false;
	file->dropped -= file->pack->facts.dropped;
	logpack_free(file->pack);
	mem_free(file->pack);
	file->pack = NULL;
}

void logfile_free(struct logfile *file)
{
	logfile_close(file);
	mem_free(file->marks);
	file->marks = NULL;
	file->mark_count = file->mark_cap = 0;
}

/* ---- syncing ---- */

void logfile_start_sync(const struct logfile *file)
{
	if (file->fd >= 0)
		sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int logfile_sync(struct logfile *file)
{
	CHECK(file->fd >= 0 && !file->broken);
	if (file->dirty && fdatasync(file->fd) < 0)
		return -errno;
	file->dirty = false;
	note_synced(file);
	return 0;
}

int logfile_sync_name(struct logfile *file, int logs_fd)
{
	char dir[LOGFILE_NAME];
	int fd, result = 0;

	run_name(file, dir);
	fd = openat(logs_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || fsync(logs_fd) < 0)
		result = -errno;
	if (fd >= 0)
		close(fd);
	return result;
}
