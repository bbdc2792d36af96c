/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the store's thread and its owner share: thread.c is the thread's side, store.c the owner's. What is to be
 * committed and asked, what is durable and answered, is all under one mutex.
 */
#ifndef TITAN_STORE_THREAD_H
#define TITAN_STORE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/backup.h"
#include "store/ballast.h"
#include "store/database.h"
#include "store/mark.h"
#include "store/ring.h"

#define RESERVE_NS (5 * NS_PER_S)        /* from when it is asked for to the commit that it is for */
#define COMPANY_ROWS 64                  /* from here on a commit's cost is shared well enough */

struct store {
	/* the thread's */
	struct database database;
	struct write_batch batch;
	struct mark mark;
	struct ballast ballast, last;
	int64_t ballast_ns;              /* when it is tried to take them again */
	int64_t reset_ns;                /* when it is tried to begin the log anew for room */
	int64_t complained_ns;
	int64_t linger_ns;
	struct backup backup;            /* of the first of copies, when that has begun */
	bool copying;
	pthread_t thread;
	bool started;
	void (*wake_cb)(void *arg);
	void *wake_arg;

	/* everybody's, under the mutex */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct ring inbox;               /* of struct outbox: to be committed */
	struct ring durable;
	size_t inbox_rows;
	struct store_query *asked, **asked_end;
	struct store_query *answered, **answered_end;
	struct store_copy *copies, **copies_end;
	struct store_copy *copied, **copied_end;
	struct store_stats stats;
	bool may_linger;
	bool lingers;                    /* the thread waits for company */
	bool stop;
	bool hurry;                      /* a batch that waits for room is tried again now */
	int64_t reserve_until_ns;        /* what is committed until then may have the last reserve */
	bool watched;                    /* the owner is awake and looks: it needn't be woken */
	atomic_bool settled;             /* since it began to look */
	bool looks;                      /* likewise the thread, for what comes next */
	atomic_bool handed;
};

/* arg: the store. Ends when that is to stop and nothing is left to do. */
void *store_thread_run(void *arg);

#endif
