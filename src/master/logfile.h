/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One attempt's output on disk: the file LOGS/RUN/JOB.EPOCH, made when the first byte comes. It is a sequence of
 * records. Each has a header of 24 bytes, little-endian, then its bytes:
 *   u8 stream (1 stdout, 2 stderr; 0 a note), u8 flags (1: a note), u16 mark, u32 length, i64 wall_ms, u64 offset
 * offset is the place of the bytes in their stream, so a piece that comes twice is recognised. A note says what was
 * dropped, in three u64: the bytes received of each stream and the bytes dropped in all. While a note is the last
 * record, it is rewritten in place.
 *
 * When its run has ended, the file may be replaced by the compressed JOB.EPOCH.zst (logpack.h). If both exist, this
 * one counts.
 *
 * For one thread. Functions return 0 or -errno; -EBADMSG: the compressed form is damaged.
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
	int fd;                          /* descriptor of the log file; -1: closed */
	bool known;                      /* the fields below have been read from the file */
	bool dirty;                      /* the log was written to since its last sync */
	bool fresh;                      /* the file's name isn't synced yet */
	uint64_t size;                   /* end of the last complete record in the file */
	uint64_t kept;                   /* number of bytes of output in the file */
	/*
	 * Most bytes of output that the file keeps. UINT64_MAX: lossless; when the disk is full nothing is dropped, but
	 * asked for again.
	 */
	uint64_t cap;
	uint64_t received[2];            /* offsets in stdout and stderr before which all bytes came */
	uint64_t dropped;
	bool unnoted;                    /* the number dropped has grown since the last note was written */
	uint64_t note_at; /* place of the note if it is the file's last record; otherwise 0, and has_note is false */
	bool has_note;
	struct logpack_facts synced;     /* facts about the log as of its last sync */
	bool broken;                     /* a sync failed: no writing or syncing until logfile_mend succeeds */
	/* The log is lossless and couldn't be written: bytes after received[] must be sent again. */
	bool stuck;
	uint64_t *marks;                 /* places of some records, for reading backwards; only for the plain form */
	size_t mark_count, mark_cap;
	struct logpack *pack;            /* index of the compressed form; NULL: the file is in the plain form */
};

void logfile_init(struct logfile *file, uint64_t run, uint64_t job, uint64_t epoch);
/* Open the file and learn its content; an incomplete end is cut off. -ENOENT: there is no file, and create is false. */
int logfile_open(struct logfile *file, int logs_fd, bool create);
/* Close the descriptor and keep the facts about the file. */
void logfile_close(struct logfile *file);
void logfile_free(struct logfile *file);                 /* close the descriptor and forget everything about the file */
/* Write the path of the log, relative to logs_fd, with a suffix. */
void logfile_name(const struct logfile *file, const char *suffix, char ret_name[LOGFILE_NAME]);
/* Do these pieces contain bytes that the file doesn't have? */
bool logfile_wants(const struct logfile *file, const struct rec_output *items, size_t count);
/* Turn the compressed form back into the plain one, synced, because more output has to be written. */
int logfile_thaw(struct logfile *file, int logs_fd);
/*
 * Append the pieces that the file doesn't have yet, in order. Never refuses: bytes above the cap, bytes that can't be
 * written, and gaps are counted as dropped. Returns the result of writing, to be logged.
 */
int logfile_append(struct logfile *file, const struct rec_output *items, size_t count);
/* Count these pieces as dropped, because the file can't be opened. */
void logfile_lose(struct logfile *file, const struct rec_output *items, size_t count);
/* The job wrote total bytes: bytes that neither came nor were counted are counted as dropped by the worker. */
int logfile_complete(struct logfile *file, uint64_t total, int64_t wall_ms);
/* Start writing the file to disk early, while others are synced first. */
void logfile_start_sync(const struct logfile *file);
int logfile_sync(struct logfile *file);
/*
 * After a failed sync, go back to the state of the last good one: later bytes may be lost, even if the next sync
 * succeeds. A lossless file asks for them again, any other counts them as dropped. Returns the result of logfile_mend.
 */
int logfile_unsync(struct logfile *file, int logs_fd);
/*
 * Make a broken file writable again: cut it off after its last valid record. If its name, or what an earlier master
 * wrote, may not be on disk, copy it into a new file. 0 if there is nothing to mend.
 */
int logfile_mend(struct logfile *file, int logs_fd);
/* Sync the directory, and with it the names of all files of the run. */
int logfile_sync_name(struct logfile *file, int logs_fd);

/* Called by logfile_write.c for a record that begins at this place. */
void logfile_mark(struct logfile *file, uint64_t at);

/*
 * Read complete records from offset up to end, at most max bytes or count pieces, but at least one record if there is
 * any. *ret_next: where to continue. -EINVAL: no record begins at offset. -EBADMSG: the file is damaged from here to
 * logfile_beyond(offset).
 */
int logfile_read(const struct logfile *file, uint64_t offset, uint64_t end, size_t max, struct arena *arena,
		 struct rec_output **ret_pieces, size_t *ret_count, uint64_t *ret_next);
uint64_t logfile_beyond(const struct logfile *file, uint64_t offset);
/* Read complete records as bytes, about LOGPACK_FRAME of them. Empty: end of the log. */
int logfile_records(const struct logfile *file, uint64_t offset, struct arena *arena, struct slice *ret_records);
/* Add to facts what these complete records say about their log, except facts->size. */
void logfile_learn(struct slice records, struct logpack_facts *facts);
/*
 * Find the first record that begins at most back bytes before the place before; or the last record, if it is longer
 * than that.
 */
int logfile_back(const struct logfile *file, uint64_t before, uint64_t back, uint64_t *ret_start);

#endif
