/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One attempt's output on disk: LOGS/RUN/JOB.EPOCH, made at its first byte. Records, one after the other, of
 * 24 bytes, little-endian, then the bytes:
 *   u8 stream (1 stdout, 2 stderr; 0 a note), u8 flags (1: a note), u16 mark, u32 length, i64 wall_ms, u64 offset
 * offset is that of the bytes in their stream, so that a piece that comes twice is known. A note says
 * what was dropped: three u64, the bytes received of each stream and those dropped in all; while it is the
 * last record it is rewritten in place.
 * When its run has ended it may become JOB.EPOCH.zst (logpack.h). Where both are there, this one counts.
 * For one thread. Functions return 0 or a negative errno; -EBADMSG: what is compressed is damaged.
 */
#ifndef TITAN_MASTER_LOGFILE_H
#define TITAN_MASTER_LOGFILE_H

#include "base/arena.h"
#include "master/logpack.h"
#include "proto/message.h"

#define LOGFILE_HEADER 24
#define LOGFILE_NOTE   24
#define LOGFILE_NAME   96

struct logfile {
	uint64_t run, job, epoch;
	int fd;                          /* -1: not open now */
	bool known;                      /* the rest is what the file says */
	bool dirty;                      /* written since the last sync */
	bool fresh;                      /* its name isn't synced */
	uint64_t size;                   /* end of the last whole record */
	uint64_t kept;                   /* bytes of output in it */
	uint64_t cap;                    /* of kept; UINT64_MAX: nothing is dropped for want of room, it is asked for again */
	uint64_t received[2];            /* of stdout, stderr: everything before it came */
	uint64_t dropped;
	bool unnoted;                    /* dropped has grown since the last note */
	uint64_t note_at;                /* of the note when it is the last record; otherwise 0 and has_note false */
	bool has_note;
	struct logpack_facts synced;     /* what it was when it was last known to be on disk */
	bool broken;                     /* a sync failed: nothing is written or synced before logfile_mend */
	bool stuck;                      /* lossless, and couldn't be written: what follows received[] must come again */
	uint64_t *marks;                 /* where records begin, every now and then; not of the compressed form */
	size_t mark_count, mark_cap;
	struct logpack *pack;            /* it is the compressed form; NULL: the plain one */
};

void logfile_init(struct logfile *file, uint64_t run, uint64_t job, uint64_t epoch);
/* Opens it and reads what it holds. A torn end is cut off. -ENOENT when it isn't there and create is false. */
int logfile_open(struct logfile *file, int logs_fd, bool create);
/* Closes the descriptor; what is known stays known. */
void logfile_close(struct logfile *file);
void logfile_free(struct logfile *file);                 /* closes, and forgets all */
void logfile_name(const struct logfile *file, const char *suffix, char ret_name[LOGFILE_NAME]);  /* below logs_fd */
/* Is there anything in these pieces that it hasn't got? */
bool logfile_wants(const struct logfile *file, const struct rec_output *items, size_t count);
/* The compressed form becomes the plain one again, synced: somebody has more to write. */
int logfile_thaw(struct logfile *file, int logs_fd);
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
/*
 * A sync failed: what came since the one before may be gone, whatever the next one says. The file goes back to
 * that: a lossless one wants the rest again, of any other it is counted as dropped. The result is that of logfile_mend.
 */
int logfile_unsync(struct logfile *file, int logs_fd);
/*
 * Make a broken one fit to be written: cut it off behind its last record that counts. Where its name or what another
 * master wrote may not be on disk either, it is copied into a new file. 0 when there is nothing to mend.
 */
int logfile_mend(struct logfile *file, int logs_fd);
int logfile_sync_name(struct logfile *file, int logs_fd);        /* and those of all files of its run */

/* logfile_write.c wrote a record that begins at this place. */
void logfile_mark(struct logfile *file, uint64_t at);

/*
 * Whole records from offset on and before end, up to max bytes or count pieces, at least one if there is any.
 * *ret_next is where to read on. -EINVAL when no record begins at offset. -EBADMSG: nothing can be read from here to
 * logfile_beyond(offset).
 */
int logfile_read(const struct logfile *file, uint64_t offset, uint64_t end, size_t max, struct arena *arena,
		 struct rec_output **ret_pieces, size_t *ret_count, uint64_t *ret_next);
uint64_t logfile_beyond(const struct logfile *file, uint64_t offset);
/* The same as bytes: about LOGPACK_FRAME of them, whole records. None: the end. */
int logfile_records(const struct logfile *file, uint64_t offset, struct arena *arena, struct slice *ret_records);
/* What whole records say of their log, added to what those before them said; the size isn't. */
void logfile_learn(struct slice records, struct logpack_facts *facts);
/* Where the first record begins that is at most back bytes in front of before; or the last one, if that is longer. */
int logfile_back(const struct logfile *file, uint64_t before, uint64_t back, uint64_t *ret_start);

#endif
