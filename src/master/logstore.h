/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log store: open log files, credit that must be sent to workers, and files to sync. For one thread; answers go to
 * a callback.
 */
#ifndef TITAN_MASTER_LOGSTORE_H
#define TITAN_MASTER_LOGSTORE_H

#include "base/map.h"
#include "master/logs.h"
#include "master/live_tail.h"
#include "master/squeeze.h"

struct file;
struct credit;

struct logstore {
	int dir_fd;
	size_t fds_max;                  /* most log files open at once */
	/* called with each answer of the log store, which it then owns */
	void (*answer_cb)(void *arg, struct log_answer *answer);
	void *arg;
	int64_t sync_due_ns;             /* when files are to be synced; TIME_NEVER: none needs a sync */
	struct map files;                /* maps a job's number to the log files of its attempts */
	struct file *newest, *oldest;
	size_t file_count, fd_count;
	struct file *touched, *dirty;
	size_t written;                  /* bytes written since credit was last sent to workers */
	struct credit *credits;
	size_t credit_count, credit_cap;
	/* when to ask again for output that couldn't be written; TIME_NEVER: there is none */
	int64_t again_due_ns;
	struct squeeze squeeze;
	struct live_tail_pool live_tail;
};

void logstore_init(struct logstore *logstore, int dir_fd, size_t fds_max,
		 void (*answer_cb)(void *arg, struct log_answer *answer), void *arg);
void logstore_free(struct logstore *logstore);         /* free the log store and close dir_fd as well; syncs nothing */
void logstore_append(struct logstore *logstore, uint64_t conn, const struct msg_output *output);
void logstore_read(struct logstore *logstore, uint64_t conn, const struct msg_log_read *read);
void logstore_ended(struct logstore *logstore, const struct rec_done *items, size_t count);
/* Close all files of a run whose directory will be removed. */
void logstore_drop(struct logstore *logstore, uint64_t run);
/* tell workers how much of their output was appended since the last call */
void logstore_credit(struct logstore *logstore);
void logstore_sync(struct logstore *logstore);         /* syncs all log files that need it */
int64_t logstore_due(const struct logstore *logstore); /* the time at which logstore_wake has work; TIME_NEVER: none */
void logstore_wake(struct logstore *logstore, bool busy); /* do the work that is due; busy: only work that can't wait */

#endif
