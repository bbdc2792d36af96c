/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes new output that fits into its file, several pieces in one write. The rest is counted as dropped. */
#include "master/logfile.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "master/logrecord.h"

#define GROUP 32                         /* most pieces in one write */

struct record_group {                           /* pieces to be written at once */
	struct iovec iov[2 * GROUP];
	uint8_t headers[GROUP][LOGFILE_HEADER];
	size_t count;
	uint64_t data;
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

/* Write the group. received: the received offsets before its pieces. */
static int flush_group(struct logfile *file, struct record_group *group, const uint64_t received[2])
{
	int result;

	if (group->count == 0)
		return 0;
	result = write_vector(file->fd, group->iov, (int)(2 * group->count), file->size);
	if (result == 0) {
		for (size_t i = 0; i < group->count; i++) {
			logfile_mark(file, file->size);
			file->size += LOGFILE_HEADER + logbytes_get(group->headers[i] + 4, 4);
		}
		file->kept += group->data;
		file->has_note = false;
		file->dirty = true;
		file->stuck = false;
	} else {
		if (file->cap == UINT64_MAX) {
			memcpy(file->received, received, sizeof(file->received));
			file->stuck = true;
		} else {
			drop(file, group->data);
		}
		/* Cut off a partly written record, so that later records follow complete ones. */
		if (ftruncate(file->fd, (off_t)file->size) < 0) {
			result = -errno;
			file->broken = file->dirty = true;
		}
	}
	group->count = 0;
	group->data = 0;
	return result;
}

static int write_note(struct logfile *file, int64_t wall_ms)
{
	uint8_t bytes[LOGFILE_HEADER + LOGFILE_NOTE];
	struct log_header header = { .flags = LOG_FLAG_NOTE, .length = LOGFILE_NOTE, .wall_ms = wall_ms };
	struct iovec iov = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	uint64_t at = file->has_note ? file->note_at : file->size;
	int result;

	log_header_put(bytes, &header);
	logbytes_put(bytes + LOGFILE_HEADER, file->received[0], 8);
	logbytes_put(bytes + LOGFILE_HEADER + 8, file->received[1], 8);
	logbytes_put(bytes + LOGFILE_HEADER + 16, file->dropped, 8);
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

/* Add to the group the part of the piece that is new and fits. */
static void take_piece(struct logfile *file, struct record_group *group, const struct rec_output *item)
{
	uint64_t *received = &file->received[item->stream - 1];
	struct log_header header = { .stream = (uint8_t)item->stream, .wall_ms = item->wall_ms };
	uint64_t end = item->offset + item->data.len, skip, room, len;

	if (end <= *received || (file->stuck && item->offset > *received))
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
	log_header_put(group->headers[group->count], &header);
	group->iov[2 * group->count] = (struct iovec){ group->headers[group->count], LOGFILE_HEADER };
	group->iov[2 * group->count + 1] = (struct iovec){ (void *)(uintptr_t)(item->data.data + skip), len };
	group->count++;
	group->data += len;
}

int logfile_append(struct logfile *file, const struct rec_output *items, size_t count)
{
	struct record_group group = { .count = 0 };
	uint64_t received[2] = { file->received[0], file->received[1] };
	int result = 0, failed;

	CHECK(file->known && file->fd >= 0 && !file->pack);
	if (file->broken) {
		logfile_lose(file, items, count);
		return -EIO;
	}
	for (size_t i = 0; i < count; i++) {
		CHECK(items[i].stream >= 1 && items[i].stream <= 2);
		take_piece(file, &group, &items[i]);
		if (group.count == GROUP || i + 1 == count) {
			failed = flush_group(file, &group, received);
			if (failed < 0)
				result = failed;
			memcpy(received, file->received, sizeof(received));
		}
	}
	if (file->unnoted && !file->broken) {
		failed = write_note(file, items[count - 1].wall_ms);
		if (failed < 0)
			result = failed;
	}
	return result;
}

bool logfile_wants(const struct logfile *file, const struct rec_output *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (items[i].offset + items[i].data.len > file->received[items[i].stream - 1])
			return true;
	return false;
}

void logfile_lose(struct logfile *file, const struct rec_output *items, size_t count)
{
	file->stuck = file->cap == UINT64_MAX;
	if (file->stuck)
		return;
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
	return file->unnoted && !file->broken ? write_note(file, wall_ms) : 0;
}
