/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the two sides of the logs: logs_thread.c is the thread's side, logs.c the loop's. */
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
	struct arena arena;              /* memory of the fields below */
	struct msg_output output;
	struct msg_log_read read;
	struct rec_done *ended;
	size_t ended_count;
	uint64_t *runs;                  /* WORK_RUN_ENDED: the run that ended; WORK_RESUME: the live runs */
	size_t run_count;
	uint64_t run;                    /* number of the run whose logs are to be removed */
	struct log_work *next;
};

struct logs {
	pthread_t thread;
	pthread_mutex_t lock;            /* guards the fields below, up to wake_arg */
	pthread_cond_t more;
	struct log_work *first, *last;
	size_t queued;
	/* from a connection to its number of queued bytes, stored as a pointer */
	struct map queued_by;
	struct log_answer *answers, *last_answer;
	struct squeeze_stats stats;      /* recent copy of the thread's statistics */
	bool ending;

	void (*wake_cb)(void *arg);
	void *wake_arg;
	struct logstore logstore;            /* the log files; used by the thread alone */
	struct logprune prune;           /* state of removing and measuring; used by the thread alone */
};

void *logs_thread_run(void *arg);                        /* the thread's main function; arg: struct logs */
void logs_answer_cb(void *arg, struct log_answer *answer);       /* arg: struct logs; queues an answer for logs_take */
void logs_work_free(struct log_work *work);
/* Add to the queued bytes; the caller holds the lock. */
void logs_count(struct logs *logs, uint64_t conn, size_t more);

#endif
