/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the thread of the logs keeps: open files, what their workers are owed, what isn't synced yet. For one
 * thread; answers leave through the callback.
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
	size_t fds_max;                  /* files open at once */
	void (*answer_cb)(void *arg, struct log_answer *answer);         /* takes it over */
	void *arg;
	int64_t sync_due_ns;             /* TIME_NEVER: nothing is dirty */
	struct map files;                /* by job */
	struct file *newest, *oldest;
	size_t file_count, fd_count;
	struct file *touched, *dirty;
	size_t written;                  /* bytes since credit was given */
	struct credit *credits;
	size_t credit_count, credit_cap;
	int64_t again_due_ns;            /* TIME_NEVER: none is stuck; else when those are asked for what they had sent */
	struct squeeze squeeze;
	struct live_tail_pool live_tail;
};

void logstore_init(struct logstore *logstore, int dir_fd, size_t fds_max,
		 void (*answer_cb)(void *arg, struct log_answer *answer), void *arg);
void logstore_free(struct logstore *logstore);         /* closes dir_fd, too; syncs nothing */
void logstore_append(struct logstore *logstore, uint64_t conn, const struct msg_output *output);
void logstore_read(struct logstore *logstore, uint64_t conn, const struct msg_log_read *read);
void logstore_ended(struct logstore *logstore, const struct rec_done *items, size_t count);
void logstore_drop(struct logstore *logstore, uint64_t run);   /* its directory is about to go: nothing of it is open any more */
void logstore_credit(struct logstore *logstore);       /* for what was appended, without being asked for more */
void logstore_sync(struct logstore *logstore);         /* all that is dirty */
int64_t logstore_due(const struct logstore *logstore); /* when logstore_wake has something to do; TIME_NEVER */
void logstore_wake(struct logstore *logstore, bool busy);      /* busy: what can wait waits */

#endif
