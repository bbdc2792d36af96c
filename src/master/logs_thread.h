/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the thread of the logs and its owner share: logs_thread.c is the thread's side, logs.c the owner's. */
#ifndef TITAN_MASTER_LOGS_THREAD_H
#define TITAN_MASTER_LOGS_THREAD_H

#include <pthread.h>

#include "base/map.h"
#include "master/logstore.h"
#include "master/logprune.h"

enum work_kind { WORK_APPEND, WORK_READ, WORK_ENDED, WORK_RUN_ENDED, WORK_RESUME, WORK_REMOVE, WORK_MEASURE };

struct log_work {
	enum work_kind kind;
	uint64_t conn;
	size_t bytes;
	struct arena arena;              /* of what follows */
	struct msg_output output;
	struct msg_log_read read;
	struct rec_done *ended;
	size_t ended_count;
	uint64_t *runs;                  /* WORK_RUN_ENDED: that one; WORK_RESUME: those that live */
	size_t run_count;
	uint64_t run;                    /* to remove */
	struct log_work *next;
};

struct logs {
	pthread_t thread;
	pthread_mutex_t lock;            /* of the next ones */
	pthread_cond_t more;
	struct log_work *first, *last;
	size_t queued;
	struct map queued_by;            /* conn to bytes, as a pointer */
	struct log_answer *answers, *last_answer;
	struct squeeze_stats stats;      /* as of a moment ago */
	bool ending;

	void (*wake_cb)(void *arg);
	void *wake_arg;
	struct logstore logstore;            /* the thread's */
	struct logprune prune;           /* likewise */
};

void *logs_thread_run(void *arg);                        /* arg: the logs */
void logs_answer_cb(void *arg, struct log_answer *answer);       /* likewise; to be taken */
void logs_work_free(struct log_work *work);
void logs_count(struct logs *logs, uint64_t conn, size_t more);  /* bytes that wait; with the lock */

#endif
