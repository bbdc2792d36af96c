/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One attempt's output on disk: LOGS/RUN/JOB.EPOCH, made at its first byte. Records, one after the other, of
 * 24 bytes, little-endian, then the bytes:
 *   u8 stream (1 stdout, 2 stderr; 0 a note), u8 flags (1: a note), u16 mark, u32 length, i64 wall_ms, u64 offset
 * offset is that of the bytes in their stream, so that a piece that comes twice is known. A note says
 * what was dropped: three u64, the bytes received of each stream and those dropped in all; while it is the
 * last record it is rewritten in place.
 * For one thread. Functions return 0 or a negative errno.
 */
#ifndef TITAN_MASTER_LOGFILE_H
#define TITAN_MASTER_LOGFILE_H

#include "base/arena.h"
#include "proto/message.h"

#define LOGFILE_HEADER 24
#define LOGFILE_NOTE   24

struct logfile {
	uint64_t run, job, epoch;
	int fd;                          /* -1: not open now */
	bool known;                      /* the rest is what the file says */
	bool dirty;                      /* written since the last sync */
	bool fresh;                      /* its name isn't synced */
	uint64_t size;                   /* end of the last whole record */
	uint64_t kept;                   /* bytes of output in it */
	uint64_t cap;                    /* of kept */
	uint64_t received[2];            /* of stdout, stderr: everything before it came */
	uint64_t dropped;
	bool unnoted;                    /* dropped has grown since the last note */
	uint64_t note_at;                /* of the note when it is the last record; otherwise 0 and has_note false */
	bool has_note;
};

void logfile_init(struct logfile *file, uint64_t run, uint64_t job, uint64_t epoch);
/* Opens it and reads what it holds. A torn end is cut off. -ENOENT when it isn't there and create is false. */
int logfile_open(struct logfile *file, int logs_fd, bool create);
/* Closes the descriptor; what is known stays known. */
void logfile_close(struct logfile *file);
/*
 * What it hasn't got yet of these pieces of its own, in order. Never refuses: bytes over the cap, bytes that
 * can't be written and gaps are counted as dropped. The result is that of writing, for a log line.
 */
int logfile_append(struct logfile *file, const struct rec_output *items, size_t count);
/* When it can't be opened: count them as dropped. */
void logfile_lose(struct logfile *file, const struct rec_output *items, size_t count);
/* Its job wrote this much in all: what neither came nor was counted was dropped by the worker. */
int logfile_complete(struct logfile *file, uint64_t total, int64_t wall_ms);
void logfile_start_sync(const struct logfile *file);     /* on the way already, when others are synced first */
int logfile_sync(struct logfile *file);
int logfile_sync_name(struct logfile *file, int logs_fd);        /* and those of all files of its run */

/*
 * Whole records from offset on, up to max bytes or count pieces, at least one if there is any. *ret_next
 * is where to read on. -EINVAL when no record begins at offset.
 */
int logfile_read(const struct logfile *file, uint64_t offset, size_t max, struct arena *arena,
		 struct rec_output **ret_pieces, size_t *ret_count, uint64_t *ret_next);

#endif
