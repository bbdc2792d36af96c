/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the thread of the logs keeps: open files, what their workers are owed, what isn't synced yet. For one
 * thread; answers leave through the callback.
 */
#ifndef TITAN_MASTER_LOGKEEP_H
#define TITAN_MASTER_LOGKEEP_H

#include "base/map.h"
#include "master/logs.h"
#include "master/passing.h"
#include "master/squeeze.h"

struct file;
struct credit;

struct keeper {
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
	struct passing_pool passing;
};

void keeper_init(struct keeper *keeper, int dir_fd, size_t fds_max,
		 void (*answer_cb)(void *arg, struct log_answer *answer), void *arg);
void keeper_free(struct keeper *keeper);         /* closes dir_fd, too; syncs nothing */
void keeper_append(struct keeper *keeper, uint64_t conn, const struct msg_output *output);
void keeper_read(struct keeper *keeper, uint64_t conn, const struct msg_log_read *read);
void keeper_ended(struct keeper *keeper, const struct rec_done *items, size_t count);
void keeper_drop(struct keeper *keeper, uint64_t run);   /* its directory is about to go: nothing of it is open any more */
void keeper_credit(struct keeper *keeper);       /* for what was appended, without being asked for more */
void keeper_sync(struct keeper *keeper);         /* all that is dirty */
int64_t keeper_due(const struct keeper *keeper); /* when keeper_wake has something to do; TIME_NEVER */
void keeper_wake(struct keeper *keeper, bool busy);      /* busy: what can wait waits */

#endif
