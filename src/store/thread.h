/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the store's thread (thread.c) and its owner (store.c) share. The queues between them (to commit, durable, asked,
 * answered) are all guarded by one mutex.
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

#define RESERVE_NS (5 * NS_PER_S)        /* how long after store_use_reserve commits may use the last reserve */
/* a batch with this many rows isn't delayed any more, because the cost of its commit is shared by enough */
#define COMPANY_ROWS 64

struct store {
	/* fields used by the store thread only */
	struct database database;
	struct write_batch batch;
	struct mark mark;
	struct ballast ballast, last;
	int64_t ballast_ns;              /* when to try next to make the ballast files again */
	int64_t reset_ns;                /* when to try next to checkpoint the log to save space */
	int64_t complained_ns;
	int64_t linger_ns;
	struct backup backup;            /* the backup of the first of copies; in use while copying */
	bool copying;
	pthread_t thread;
	bool started;
	void (*wake_cb)(void *arg);
	void *wake_arg;

	/* the fields below are shared by both threads, under this mutex */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct ring inbox;               /* outboxes to be committed */
	struct ring durable;
	size_t inbox_rows;
	struct store_query *asked, **asked_end;
	struct store_query *answered, **answered_end;
	struct store_copy *copies, **copies_end;
	struct store_copy *copied, **copied_end;
	struct store_stats stats;
	bool may_linger;
	bool lingers;                    /* the thread waits for more rows before it commits */
	bool stop;
	bool hurry;                      /* try again at once to write a batch that waits for room */
	int64_t reserve_until_ns;        /* commits until then may use the last reserve */
	bool watched;                    /* the owner busy-waits in store_watch, so it needn't be woken */
	atomic_bool batch_durable;             /* a batch became durable since the owner began to busy-wait */
	bool looks;                      /* the thread busy-waits in look_out, so it needn't be woken */
	atomic_bool handed;
};

/* Main function of the store's thread; arg is the store. Returns when told to stop and nothing is left to do. */
void *store_thread_run(void *arg);

#endif
