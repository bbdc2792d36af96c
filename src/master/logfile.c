/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The format of one attempt's output. Every byte that came is either in the file or counted as dropped.
 * Only the end of a file can be torn, by a crash, and opening it cuts that off: the worker still has
 * those bytes, because it was never told that they are synced.
 */
#include "master/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "proto/limits.h"

#define MARK         0x746f
#define FLAG_NOTE    1
#define GROUP        32                  /* pieces in one write */
#define SCAN_WINDOW  ((size_t)65536)
#define NAME_SIZE    64

struct header {
	uint8_t stream, flags;
	uint32_t length;
	int64_t wall_ms;
	uint64_t offset;
};

static void put(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *in, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | in[i];
	return value;
}

static void header_put(uint8_t out[LOGFILE_HEADER], const struct header *header)
{
	out[0] = header->stream;
	out[1] = header->flags;
	put(out + 2, MARK, 2);
	put(out + 4, header->length, 4);
	put(out + 8, (uint64_t)header->wall_ms, 8);
	put(out + 16, header->offset, 8);
}

/* false when it is none of ours. */
static bool header_get(const uint8_t in[LOGFILE_HEADER], struct header *ret_header)
{
	struct header header = {
		.stream = in[0],
		.flags = in[1],
		.length = (uint32_t)get(in + 4, 4),
		.wall_ms = (int64_t)get(in + 8, 8),
		.offset = get(in + 16, 8),
	};

	if (get(in + 2, 2) != MARK || header.length > LIMIT_OUTPUT_CHUNK)
		return false;
	if (header.flags == FLAG_NOTE ? header.stream != 0 || header.length != LOGFILE_NOTE :
	    header.flags != 0 || header.stream < 1 || header.stream > 2)
		return false;
	*ret_header = header;
	return true;
}

static ssize_t read_at(int fd, void *out, size_t len, uint64_t at)
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

void logfile_init(struct logfile *file, uint64_t run, uint64_t job, uint64_t epoch)
{
	*file = (struct logfile){ .run = run, .job = job, .epoch = epoch, .fd = -1, .cap = LIMIT_LOG_JOB_MAX };
}

/* ---- opening ---- */

static void learn_data(struct logfile *file, const struct header *header)
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
	ssize_t got = read_at(file->fd, note, sizeof(note), at + LOGFILE_HEADER);

	if (got < 0)
		return (int)got;
	CHECK(got == LOGFILE_NOTE);
	for (int i = 0; i < 2; i++)
		if (get(note + 8 * i, 8) > file->received[i])
			file->received[i] = get(note + 8 * i, 8);
	*dropped = get(note + 16, 8);
	file->note_at = at;
	file->has_note = true;
	return 0;
}

/* Read the headers; what follows the last whole record is cut off. */
static int scan(struct logfile *file)
{
	uint8_t *window = mem_alloc(SCAN_WINDOW);
	uint64_t start = 0, at = 0, dropped = 0, end;
	size_t len = 0;
	struct header header;
	struct stat info;
	int result = 0;

	if (fstat(file->fd, &info) < 0)
		result = -errno;
	end = result == 0 ? (uint64_t)info.st_size : 0;
	while (result == 0 && end - at >= LOGFILE_HEADER) {
		if (at < start || at + LOGFILE_HEADER > start + len) {
			ssize_t got = read_at(file->fd, window, SCAN_WINDOW, at);

			if (got < LOGFILE_HEADER) {
				result = got < 0 ? (int)got : -EIO;
				break;
			}
			start = at;
			len = (size_t)got;
		}
		if (!header_get(window + (at - start), &header) || header.length > end - at - LOGFILE_HEADER)
			break;
		if (header.flags == FLAG_NOTE)
			result = learn_note(file, at, &dropped);
		else
			learn_data(file, &header);
		at += LOGFILE_HEADER + header.length;
	}
	mem_free(window);
	if (result == 0 && at < end && ftruncate(file->fd, (off_t)at) < 0)
		result = -errno;
	file->size = at;
	file->dropped += dropped;         /* to what was lost while it couldn't be opened */
	return result;
}

static void make_names(const struct logfile *file, char dir[NAME_SIZE], char path[NAME_SIZE])
{
	snprintf(dir, NAME_SIZE, "%llu", (unsigned long long)file->run);
	snprintf(path, NAME_SIZE, "%llu/%llu.%llu", (unsigned long long)file->run, (unsigned long long)file->job,
		 (unsigned long long)file->epoch);
}

int logfile_open(struct logfile *file, int logs_fd, bool create)
{
	char dir[NAME_SIZE], path[NAME_SIZE];
	struct logfile before = *file;
	int result = 0;

	make_names(file, dir, path);
	if (file->fd < 0)
		file->fd = openat(logs_fd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
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
			logfile_close(file);
			*file = before;
			return result;
		}
		file->known = true;
	}
	return 0;
}

void logfile_close(struct logfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* ---- writing ---- */

struct group {                           /* pieces to be written at once */
	struct iovec iov[2 * GROUP];
	uint8_t headers[GROUP][LOGFILE_HEADER];
	size_t count;
	uint64_t bytes, data;
};

static int write_vector(int fd, struct iovec *iov, int count, uint64_t at)
{
	while (count > 0) {
		ssize_t wrote = pwritev(fd, iov, count, (off_t)at);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		if (wrote == 0)
			return -EIO;
		at += (uint64_t)wrote;
		while (count > 0 && (size_t)wrote >= iov->iov_len) {
			wrote -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count > 0) {
			iov->iov_base = (uint8_t *)iov->iov_base + wrote;
			iov->iov_len -= (size_t)wrote;
		}
	}
	return 0;
}

static void drop(struct logfile *file, uint64_t bytes)
{
	file->dropped += bytes;
	file->unnoted |= bytes > 0;
}

static int flush_group(struct logfile *file, struct group *group)
{
	int result;

	if (group->count == 0)
		return 0;
	result = write_vector(file->fd, group->iov, (int)(2 * group->count), file->size);
	if (result == 0) {
		file->size += group->bytes;
		file->kept += group->data;
		file->has_note = false;
		file->dirty = true;
	} else {
		drop(file, group->data);
		/* What part of it was written would be taken for a torn end; should this fail, too, it is one. */
		if (ftruncate(file->fd, (off_t)file->size) < 0)
			result = -errno;
	}
	group->count = 0;
	group->bytes = 0;
	group->data = 0;
	return result;
}

static int write_note(struct logfile *file, int64_t wall_ms)
{
	uint8_t bytes[LOGFILE_HEADER + LOGFILE_NOTE];
	struct header header = { .flags = FLAG_NOTE, .length = LOGFILE_NOTE, .wall_ms = wall_ms };
	struct iovec iov = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	uint64_t at = file->has_note ? file->note_at : file->size;
	int result;

	header_put(bytes, &header);
	put(bytes + LOGFILE_HEADER, file->received[0], 8);
	put(bytes + LOGFILE_HEADER + 8, file->received[1], 8);
	put(bytes + LOGFILE_HEADER + 16, file->dropped, 8);
	result = write_vector(file->fd, &iov, 1, at);
	if (result < 0)
		return result;
	if (!file->has_note)
		file->size += sizeof(bytes);
	file->note_at = at;
	file->has_note = true;
	file->unnoted = false;
	file->dirty = true;
	return 0;
}

/* Puts in the group what of the item is new and fits. */
static void take_piece(struct logfile *file, struct group *group, const struct rec_output *item)
{
	uint64_t *received = &file->received[item->stream - 1];
	struct header header = { .stream = (uint8_t)item->stream, .wall_ms = item->wall_ms };
	uint64_t end = item->offset + item->data.len, skip, room, len;

	if (end <= *received)
		return;
	if (item->offset > *received)
		drop(file, item->offset - *received);
	skip = item->offset < *received ? *received - item->offset : 0;
	len = item->data.len - skip;
	room = file->kept + group->data < file->cap ? file->cap - file->kept - group->data : 0;
	if (len > room) {
		drop(file, len - room);
		len = room;
	}
	*received = end;
	if (len == 0)
		return;
	header.length = (uint32_t)len;
	header.offset = item->offset + skip;
	header_put(group->headers[group->count], &header);
	group->iov[2 * group->count] = (struct iovec){ group->headers[group->count], LOGFILE_HEADER };
	group->iov[2 * group->count + 1] = (struct iovec){ (void *)(uintptr_t)(item->data.data + skip), len };
	group->count++;
	group->bytes += LOGFILE_HEADER + len;
	group->data += len;
}

int logfile_append(struct logfile *file, const struct rec_output *items, size_t count)
{
	struct group group = { .count = 0 };
	int result = 0, failed;

	CHECK(file->known && file->fd >= 0);
	for (size_t i = 0; i < count; i++) {
		CHECK(items[i].stream >= 1 && items[i].stream <= 2);
		take_piece(file, &group, &items[i]);
		if (group.count == GROUP || i + 1 == count) {
			failed = flush_group(file, &group);
			if (failed < 0)
				result = failed;
		}
	}
	if (file->unnoted) {
		failed = write_note(file, items[count - 1].wall_ms);
		if (failed < 0)
			result = failed;
	}
	return result;
}

void logfile_lose(struct logfile *file, const struct rec_output *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t *received = &file->received[items[i].stream - 1];
		uint64_t end = items[i].offset + items[i].data.len;

		if (end <= *received)
			continue;
		drop(file, end - *received);
		*received = end;
	}
}

int logfile_complete(struct logfile *file, uint64_t total, int64_t wall_ms)
{
	CHECK(file->known && file->fd >= 0);
	if (total > file->kept + file->dropped)
		drop(file, total - file->kept - file->dropped);
	return file->unnoted ? write_note(file, wall_ms) : 0;
}

void logfile_start_sync(const struct logfile *file)
{
	if (file->fd >= 0)
		sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int logfile_sync(struct logfile *file)
{
	CHECK(file->fd >= 0);
	if (file->dirty && fdatasync(file->fd) < 0)
		return -errno;
	file->dirty = false;
	return 0;
}

int logfile_sync_name(struct logfile *file, int logs_fd)
{
	char dir[NAME_SIZE], path[NAME_SIZE];
	int fd, result = 0;

	make_names(file, dir, path);
	fd = openat(logs_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || fsync(logs_fd) < 0)
		result = -errno;
	if (fd >= 0)
		close(fd);
	return result;
}

/* ---- reading ---- */

struct reading {
	const struct logfile *file;
	struct arena *arena;
	struct rec_output *pieces;
	size_t count, cap;
};

static struct rec_output *next_piece(struct reading *reading)
{
	if (reading->count == reading->cap) {
		size_t cap = reading->cap ? reading->cap * 2 : 64;
		struct rec_output *pieces = arena_zalloc(reading->arena, cap, sizeof(*pieces));

		if (reading->count > 0)
			memcpy(pieces, reading->pieces, reading->count * sizeof(*pieces));
		reading->pieces = pieces;
		reading->cap = cap;
	}
	return &reading->pieces[reading->count++];
}

/* The whole records at the front of bytes, which live in the arena; how many bytes they are. */
static size_t split_records(struct reading *reading, struct slice bytes)
{
	size_t at = 0;
	struct header header;

	while (bytes.len - at >= LOGFILE_HEADER && reading->count < 4096) {
		struct rec_output *piece;

		if (!header_get(bytes.data + at, &header) || header.length > bytes.len - at - LOGFILE_HEADER)
			break;
		if (header.flags != FLAG_NOTE) {
			piece = next_piece(reading);
			piece->job = reading->file->job;
			piece->epoch = reading->file->epoch;
			piece->run = reading->file->run;
			piece->stream = header.stream;
			piece->offset = header.offset;
			piece->wall_ms = header.wall_ms;
			piece->data = slice_make(bytes.data + at + LOGFILE_HEADER, header.length);
		}
		at += LOGFILE_HEADER + header.length;
	}
	return at;
}

int logfile_read(const struct logfile *file, uint64_t offset, size_t max, struct arena *arena,
		 struct rec_output **ret_pieces, size_t *ret_count, uint64_t *ret_next)
{
	struct reading reading = { .file = file, .arena = arena };
	uint64_t len = offset < file->size ? file->size - offset : 0;
	size_t least = LOGFILE_HEADER + LIMIT_OUTPUT_CHUNK;
	uint8_t *bytes;
	size_t done = 0;
	ssize_t got;

	CHECK(file->known && file->fd >= 0);
	if (offset > file->size)
		return -EINVAL;
	if (max < least)
		max = least;
	if (len > max)
		len = max;
	if (len > 0) {
		bytes = arena_alloc(arena, len);
		got = read_at(file->fd, bytes, len, offset);
		if (got < 0)
			return (int)got;
		done = split_records(&reading, slice_make(bytes, (size_t)got));
		if (done == 0)
			return -EINVAL;
	}
	*ret_pieces = reading.pieces;
	*ret_count = reading.count;
	*ret_next = offset + done;
	return 0;
}
