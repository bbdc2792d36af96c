/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The logs: a thread that stores the output of jobs. It gets work in order, answers in order, and never blocks the
 * loop. If a file can't be written, its bytes are counted as lost, and the master goes on.
 */
#ifndef TITAN_MASTER_LOGS_H
#define TITAN_MASTER_LOGS_H

#include "base/buf.h"
#include "master/squeeze.h"
#include "proto/message.h"

struct logs;

enum log_answer_kind { LOG_FRAMES, LOG_REMOVED, LOG_MEASURED };

struct log_size {                        /* size of a run's directory */
	uint64_t run, bytes;
	bool failed;                     /* the run's directory couldn't be removed */
};

struct log_answer {
	enum log_answer_kind kind;
	/* Sizes of run directories; REMOVED: of the runs removed; MEASURED: of all runs, unsorted. */
	struct log_size *sizes;
	size_t size_count;
	uint64_t conn;
	bool is_read;                    /* the answer belongs to a logs_read */
	struct buf frames;               /* encoded frames: CREDIT, LOG_DATA or ERROR */
	struct log_answer *next;
};

/* Open the logs. wake_cb is called on their thread when logs_take has an answer. dir is made if it doesn't exist. */
enum err logs_open(const char *dir, void (*wake_cb)(void *arg), void *arg, struct logs **ret_logs,
		   struct error *error);
void logs_close(struct logs *logs); /* write and sync everything that is queued, then close; logs may be NULL */

/* Queue the wanted pieces of an OUTPUT frame; body is copied. An error means that the frame is malformed. */
enum err logs_append(struct logs *logs, uint64_t conn, struct slice body,
		     bool (*wanted_cb)(const struct rec_output *item, void *arg), void *arg, struct error *error);
void logs_read(struct logs *logs, uint64_t conn, const struct msg_log_read *msg);
/* Tell the logs that these attempts send no more output. */
void logs_ended(struct logs *logs, const struct rec_done *items, size_t count);
/* tell the logs that the run's end is durable, so that its logs may be compressed */
void logs_run_ended(struct logs *logs, uint64_t run);
/* Called once, before any output, with the live runs; the logs of all others may be compressed. */
void logs_resume(struct logs *logs, const uint64_t *live, size_t count);
void logs_stats(struct logs *logs, struct squeeze_stats *ret_stats);     /* get a recent copy of the statistics */
/*
 * Remove a run's directory with everything in it, a few files at a time when the thread has nothing else to do.
 * Answered by LOG_REMOVED.
 */
void logs_remove(struct logs *logs, uint64_t run);
void logs_measure(struct logs *logs);            /* measure the directories of all runs; answered by LOG_MEASURED */
size_t logs_queued(struct logs *logs);           /* returns the bytes of output waiting to be written */
size_t logs_queued_by(struct logs *logs, uint64_t conn); /* like logs_queued, for the output of one connection */
/* takes the next answer, to be freed with log_answer_free; NULL: there is none */
struct log_answer *logs_take(struct logs *logs);
void log_answer_free(struct log_answer *answer);

#endif
