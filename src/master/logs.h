/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thread that keeps the jobs' output. Work goes in in order, answers come back in order; neither
 * blocks the loop. A file that can't be written costs its bytes, counted, and never the master.
 */
#ifndef TITAN_MASTER_LOGS_H
#define TITAN_MASTER_LOGS_H

#include "base/buf.h"
#include "master/squeeze.h"
#include "proto/message.h"

struct logs;

enum log_answer_kind { LOG_FRAMES, LOG_REMOVED, LOG_MEASURED };

struct log_size {                        /* of a run's directory */
	uint64_t run, bytes;
	bool failed;                     /* it couldn't be removed */
};

struct log_answer {
	enum log_answer_kind kind;
	struct log_size *sizes;          /* REMOVED: those that are gone; MEASURED: all there are, in no order */
	size_t size_count;
	uint64_t conn;
	bool is_read;                    /* answers a logs_read */
	struct buf frames;               /* CREDIT, LOG_DATA or ERROR, encoded */
	struct log_answer *next;
};

/* wake_cb is called on the thread when something waits in logs_take. dir is made if it is missing. */
enum err logs_open(const char *dir, void (*wake_cb)(void *arg), void *arg, struct logs **ret_logs,
		   struct error *error);
void logs_close(struct logs *logs);              /* writes and syncs what is queued; NULL is fine */

/* The body of an OUTPUT frame, copied; of its items those that are wanted. An error means that the frame is wrong. */
enum err logs_append(struct logs *logs, uint64_t conn, struct slice body,
		     bool (*wanted_cb)(const struct rec_output *item, void *arg), void *arg, struct error *error);
void logs_read(struct logs *logs, uint64_t conn, const struct msg_log_read *msg);
void logs_ended(struct logs *logs, const struct rec_done *items, size_t count);   /* no more output of these */
void logs_run_ended(struct logs *logs, uint64_t run);    /* durably: its logs may be compressed */
/* Once, before any output: the runs that live; what others left may be compressed. */
void logs_resume(struct logs *logs, const uint64_t *live, size_t count);
void logs_stats(struct logs *logs, struct squeeze_stats *ret_stats);     /* of a moment ago */
/* A run's directory, whatever is in it, a few files at a time while there is nothing else to do; then LOG_REMOVED. */
void logs_remove(struct logs *logs, uint64_t run);
void logs_measure(struct logs *logs);            /* LOG_MEASURED */
size_t logs_queued(struct logs *logs);           /* bytes */
size_t logs_queued_by(struct logs *logs, uint64_t conn);         /* of them */
struct log_answer *logs_take(struct logs *logs); /* NULL: none; log_answer_free */
void log_answer_free(struct log_answer *answer);

#endif
