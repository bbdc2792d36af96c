/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads logs back, plain or compressed, by the same offsets: forward, or from a place near the end. Reading
 * the last lines doesn't need the whole log: the places of some records are known.
 */
#include "master/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/check.h"
#include "master/logrecord.h"

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

/*
 * Split the complete records at the front of bytes, which are in the arena, into pieces; return the number of bytes
 * used.
 */
static size_t split_records(struct reading *reading, struct slice bytes)
{
	size_t at = 0;
	struct log_header header;

	while (bytes.len - at >= LOGFILE_HEADER && reading->count < 4096) {
		struct rec_output *piece;

		if (!log_header_get(bytes.data + at, &header) || header.length > bytes.len - at - LOGFILE_HEADER)
			break;
		if (header.flags != LOG_FLAG_NOTE) {
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

/* Read bytes from offset on, as many as one read returns; the last record may be incomplete. */
static int read_raw(const struct logfile *file, uint64_t offset, uint64_t end, size_t max, struct arena *arena,
		    struct slice *ret_bytes)
{
	uint64_t len = offset < end ? end - offset : 0;
	size_t least = LOGFILE_HEADER + LIMIT_OUTPUT_CHUNK;
	struct slice bytes = { 0 };
	int result;

	if (len > 0 && file->pack) {
		size_t frame = logpack_find(file->pack, offset), skip;

		result = logpack_read(file->pack, file->fd, frame, arena, &bytes);
		if (result < 0)
			return result;
		skip = (size_t)(offset - file->pack->frames[frame].offset);
		bytes = slice_make(bytes.data + skip, bytes.len - skip < len ? bytes.len - skip : (size_t)len);
	} else if (len > 0) {
		uint8_t *room;
		ssize_t got;

		max = max < least ? least : max;
		len = len < max ? len : max;
		room = arena_alloc(arena, len);
		got = logbytes_read(file->fd, room, len, offset);
		if (got < 0)
			return (int)got;
		bytes = slice_make(room, (size_t)got);
	}
	*ret_bytes = bytes;
	return 0;
}

int logfile_read(const struct logfile *file, uint64_t offset, uint64_t end, size_t max, struct arena *arena,
		 struct rec_output **ret_pieces, size_t *ret_count, uint64_t *ret_next)
{
	struct reading reading = { .file = file, .arena = arena };
	struct slice bytes;
	size_t done;
	int result;

	CHECK(file->known && file->fd >= 0);
	if (offset > file->size)
		return -EINVAL;
	result = read_raw(file, offset, end < file->size ? end : file->size, max, arena, &bytes);
	if (result < 0)
		return result;
	done = split_records(&reading, bytes);
	if (done == 0 && bytes.len > 0)
		return -EINVAL;
	*ret_pieces = reading.pieces;
	*ret_count = reading.count;
	*ret_next = offset + done;
	return 0;
}

uint64_t logfile_beyond(const struct logfile *file, uint64_t offset)
{
	return file->pack ? file->pack->frames[logpack_find(file->pack, offset) + 1].offset : file->size;
}

/* Size of the first record; 0: it is incomplete. */
static size_t record_size(struct slice bytes)
{
	struct log_header header;

	if (bytes.len < LOGFILE_HEADER || !log_header_get(bytes.data, &header) || header.length > bytes.len - LOGFILE_HEADER)
		return 0;
	return LOGFILE_HEADER + header.length;
}

int logfile_records(const struct logfile *file, uint64_t offset, struct arena *arena, struct slice *ret_records)
{
	struct slice bytes;
	size_t done = 0, next;
	int result = read_raw(file, offset, file->size, LOGPACK_FRAME, arena, &bytes);

	if (result < 0)
		return result;
	while ((next = record_size(slice_make(bytes.data + done, bytes.len - done))) > 0 &&
	       (done == 0 || file->pack || done + next <= LOGPACK_FRAME))
		done += next;
	if (done == 0 && bytes.len > 0)
		return -EIO;
	*ret_records = slice_make(bytes.data, done);
	return 0;
}

void logfile_learn(struct slice records, struct logpack_facts *facts)
{
	size_t at = 0, next;
	struct log_header header;

	for (; (next = record_size(slice_make(records.data + at, records.len - at))) > 0; at += next) {
		const uint8_t *note = records.data + at + LOGFILE_HEADER;

		CHECK(log_header_get(records.data + at, &header));
		for (int i = 0; i < 2; i++) {
			uint64_t *received = &facts->received[i], to = header.offset + header.length;

			if (header.flags == LOG_FLAG_NOTE)
				to = logbytes_get(note + 8 * i, 8);
			else if (header.stream != i + 1)
				continue;
			*received = to > *received ? to : *received;
		}
		if (header.flags == LOG_FLAG_NOTE)
			facts->dropped = logbytes_get(note + 16, 8);
		else
			facts->kept += header.length;
	}
}

/* The nearest place at or before at where a record is known to begin. */
static uint64_t mark_before(const struct logfile *file, uint64_t at)
{
	size_t low = 0, high = file->mark_count;

	if (file->pack)
		return file->pack->frames[logpack_find(file->pack, at)].offset;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->marks[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? file->marks[low - 1] : 0;
}

int logfile_back(const struct logfile *file, uint64_t before, uint64_t back, uint64_t *ret_start)
{
	uint64_t end = before < file->size ? before : file->size, target = end > back ? end - back : 0;
	uint64_t at = mark_before(file, target);
	struct arena arena = { 0 };
	struct slice bytes;
	size_t next = 0;
	bool last = false;
	int result = 0;

	CHECK(file->known && file->fd >= 0);
	while (result == 0 && at < target && !last) {
		arena_reset(&arena);
		result = read_raw(file, at, end, LOGPACK_FRAME, &arena, &bytes);
		/* Stop here: a read that continues from this place reports the damage. */
		if (result == -EBADMSG) {
			result = 0;
			break;
		}
		for (size_t done = 0; at < target; done += next, at += next) {
			next = record_size(slice_make(bytes.data + done, bytes.len - done));
			/* At least one record is wanted, however long it is. */
			last = at + next >= end || (next == 0 && done == 0);
			if (last || next == 0)
				break;
		}
	}
	arena_free(&arena);
	if (result == 0)
		*ret_start = at;
	return result;
}

/* ---- from the compressed form back to the plain one ---- */

static int unpack_into(const struct logfile *file, int fd)
{
	struct arena arena = { 0 };
	uint64_t at = 0;
	int result = 0;

	while (result == 0 && at < file->size) {
		struct slice records = { 0 };

		arena_reset(&arena);
		result = logfile_records(file, at, &arena, &records);
		if (result == 0)
			result = logbytes_write(fd, records.data, records.len, at);
		at += records.len;
	}
	arena_free(&arena);
	return result == 0 && fdatasync(fd) < 0 ? -errno : result;
}

int logfile_thaw(struct logfile *file, int logs_fd)
{
	char plain[LOGFILE_NAME], packed[LOGFILE_NAME], temporary[LOGFILE_NAME];
	int result, fd;

	CHECK(file->pack);
	logfile_name(file, "", plain);
	logfile_name(file, ".zst", packed);
	logfile_name(file, ".new", temporary);
	fd = openat(logs_fd, temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	result = unpack_into(file, fd);
	close(fd);
	if (result == 0 && renameat(logs_fd, temporary, logs_fd, plain) < 0)
		result = -errno;
	if (result < 0) {
		unlinkat(logs_fd, temporary, 0);
		return result;
	}
	result = logfile_sync_name(file, logs_fd);
	/* Remove the compressed form only when the plain form's name is on disk. */
	if (result == 0)
		unlinkat(logs_fd, packed, 0);
	logfile_close(file);
	memset(file->received, 0, sizeof(file->received));
	file->kept = 0;
	return logfile_open(file, logs_fd, false);
}
