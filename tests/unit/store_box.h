/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rig for tests of the store: a store in a directory of its own, and turns to commit to it. Include once per program.
 */
#ifndef TITAN_STORE_BOX_H
#define TITAN_STORE_BOX_H

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "proto/states.h"
#include "store/store.h"
#include "scratch.h"

#define BOX_WAIT_MS 20000                /* longer than any step takes; only a failing test waits this long */

static bool box_synced = true;
static char box_dir[SCRATCH_SIZE];
static char box_path[SCRATCH_SIZE + 16];
static int box_wake_fd = -1;

/*
 * Put the store in memory, where a sync costs no time: for tests that open a store many times and don't test power
 * cuts.
 */
static inline void box_in_memory(void)
{
	box_synced = false;
}

static inline void box_setup_cb(void *data)
{
	(void)data;
	scratch_new_in(box_synced ? scratch_base() : scratch_base_in_memory(), "store", box_dir);
	snprintf(box_path, sizeof(box_path), "%s/titan.db", box_dir);
	box_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline void box_teardown_cb(void *data)
{
	(void)data;
	close(box_wake_fd);
	if (io_remove_tree(AT_FDCWD, box_dir) != 0)
		abort();
}

static inline void box_wake_cb(void *arg)
{
	uint64_t one = 1;

	(void)arg;
	if (write(box_wake_fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static inline enum err box_open_error(int64_t linger_ns, struct store **ret_store, struct error *error)
{
	struct store_options options = { .path = box_path, .linger_ns = linger_ns };

	return store_open(&options, ret_store, error);
}

static inline struct store *box_open(int64_t linger_ns)
{
	struct store *store = NULL;
	struct error error;

	if (box_open_error(linger_ns, &store, &error) != ERR_NONE) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	return store;
}

static inline struct store *box_start(int64_t linger_ns)
{
	struct store *store = box_open(linger_ns);

	store_start(store, box_wake_cb, NULL);
	return store;
}

static inline void box_sleep(void)
{
	struct pollfd wake = { .fd = box_wake_fd, .events = POLLIN };
	uint64_t count;

	if (poll(&wake, 1, BOX_WAIT_MS) != 1 || read(box_wake_fd, &count, sizeof(count)) != sizeof(count))
		abort();
}

/* Wait for the next durable turn and return its outbox. */
static inline struct outbox *box_take(struct store *store)
{
	struct outbox *outbox;

	while (!(outbox = store_take(store)))
		box_sleep();
	return outbox;
}

static inline struct outbox *box_turn(uint64_t turn)
{
	struct outbox *outbox = mem_zalloc(sizeof(*outbox));

	outbox->turn = turn;
	return outbox;
}

static inline void box_free(struct outbox *outbox)
{
	outbox_free(outbox);
	mem_free(outbox);
}

/* Hand a turn to the store, wait until it is durable, and free it. */
static inline void box_commit(struct store *store, struct outbox *outbox)
{
	store_commit(store, outbox);
	if (box_take(store) != outbox)
		abort();
	box_free(outbox);
}

static inline void box_ask(struct store *store, struct store_query *query)
{
	store_ask(store, query);
	while (store_answer(store) != query)
		box_sleep();
}

static inline void box_job(struct outbox *outbox, int64_t run, int64_t job, enum job_state state)
{
	struct row *row = outbox_row(outbox, TABLE_job);

	row->job.job = job;
	row->job.run = run;
	row->job.state = state;
}

/* Put a specification row: the first part of a graph with this many jobs, or with 0 one more part. */
static inline void box_spec(struct outbox *outbox, int64_t run, int64_t part, int64_t first, int64_t jobs)
{
	outbox_row(outbox, TABLE_spec)->spec =
		(struct row_spec){ .run = run, .part = part, .first = first, .count = jobs, .jobs = jobs };
}

static inline void box_run(struct outbox *outbox, int64_t run, int64_t first, int64_t jobs, int64_t ended_ms)
{
	struct row *row = outbox_row(outbox, TABLE_run);

	row->run.run = run;
	row->run.name = slice_str("deploy");
	row->run.owner = slice_str("me");
	row->run.first = first;
	row->run.jobs = jobs;
	row->run.submitted_ms = 1;
	row->run.ended_ms = ended_ms;
}

#endif
