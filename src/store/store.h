/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The durable rows. One thread owns the one SQLite connection (exclusive WAL, synchronous=FULL). The
 * owner hands over outboxes in order and gets them back, in order, when they are durable; several share
 * one transaction when they gathered while the last one committed. A commit whose outcome is unknown
 * stops the process. Reads of history run on the same thread, behind the commits before them.
 */
#ifndef TITAN_STORE_STORE_H
#define TITAN_STORE_STORE_H

#include "core/outbox.h"
#include "proto/error.h"

struct store;

struct store_options {
	const char *path;                /* of the database file; created 0600 if missing */
	int64_t linger_ns;               /* longest wait for company before a commit; 0 never waits */
};

/* A row of a live run, or of a table that is loaded whole, in the order of rows.def. */
typedef enum err store_load_cb(const struct row *row, void *arg, struct error *error);

enum err store_open(const struct store_options *options, struct store **ret_store, struct error *error);
/* Before store_start. */
enum err store_load(struct store *store, store_load_cb *load_cb, void *arg, struct error *error);

/* wake_cb is called on the store thread whenever something waits in store_take or store_answer. */
void store_start(struct store *store, void (*wake_cb)(void *arg), void *arg);
void store_commit(struct store *store, struct outbox *outbox);   /* never blocks; not to be changed then */
struct outbox *store_take(struct store *store);                  /* next durable one, or NULL */

/*
 * Latency or company: while the owner says that nobody waits for an answer (busy), the thread may
 * linger for company; otherwise it commits at once.
 */
void store_may_linger(struct store *store, bool may);

enum store_what { READ_RUNS, READ_RUN, READ_SPECS, READ_JOBS, READ_JOB, READ_EVENTS };

struct store_query {
	enum store_what what;
	uint64_t run;                    /* RUN, SPECS, JOBS; RUNS: numbers below it, falling; 0: all */
	uint64_t from;                   /* JOB: number; JOBS, EVENTS, SPECS: jobs, turns, parts from it on */
	uint64_t limit;                  /* 0: as many as there may be: LIMIT_QUERY_ROWS_MAX, of SPECS all */
	/* the answer */
	struct arena arena;
	struct row *rows;
	size_t row_count;
	void *owner;                     /* the asker's, untouched */
	struct store_query *next;
};

void store_ask(struct store *store, struct store_query *query);  /* never blocks; lent until answered */
struct store_query *store_answer(struct store *store);                   /* next answered one, or NULL */

struct store_stats {
	uint64_t commits, turns, rows, checkpoints;
	uint64_t replaced;               /* of the rows: not written, a later one in the commit has the key */
	int64_t last_commit_ns, longest_commit_ns;
	bool full;                       /* little room is left: nothing new ought to be taken */
	bool stuck;                      /* none is: the latest batch is tried again and again */
};

void store_stats(struct store *store, struct store_stats *ret_stats);
/*
 * Commits what was handed over (not when there is no room for it), checkpoints, ends the thread. Outboxes and
 * queries that weren't taken back are the owner's again. NULL is fine.
 */
void store_close(struct store *store);

/* The schema as SQL text, generated from rows.def: for the store itself and for share/sql. */
void store_schema(struct buf *out);

#endif
