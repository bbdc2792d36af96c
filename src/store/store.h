/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps rows on disk. One thread owns the only SQLite connection (exclusive WAL, synchronous=FULL). The owner hands
 * over outboxes, and gets them back in the same order when they are durable. Outboxes that arrive during one commit
 * share the next transaction. If the outcome of a commit is unknown, the process stops. Reads of history run on the
 * same thread, after the commits handed over before them.
 */
#ifndef TITAN_STORE_STORE_H
#define TITAN_STORE_STORE_H

#include "base/histogram.h"
#include "core/rows/outbox.h"
#include "proto/error.h"

struct store;

struct store_options {
	const char *path;                /* path of the database file; created with mode 0600 if missing */
	int64_t linger_ns;               /* longest time a commit waits for more rows to share it; 0 never waits */
	bool inspect;                    /* open an existing store and change nothing; store_start must not be called */
};

/* Called with a row of a live run, or of a table that is loaded whole, in the order of rows.def. */
typedef enum err store_load_cb(const struct row *row, void *arg, struct error *error);

enum err store_open(const struct store_options *options, struct store **ret_store, struct error *error);
int store_version(const struct store *store);            /* version of the tables; an older one only with inspect */
/* Before store_start: check every page and index. Slow. */
enum err store_check(struct store *store, struct error *error);
/* Check that every acknowledged turn is present (also on read-write open). */
/*
 * Pass all acts to the callback, the oldest first; their chain isn't checked. *ret_counted: the number that the master gave
 * to its last act.
 */
enum err store_acts(struct store *store, store_load_cb *act_cb, void *arg, uint64_t *ret_counted, struct error *error);
/* Before store_start: pass the rows of all jobs with artifacts to the callback, also those of ended runs. */
enum err store_artifacts(struct store *store, store_load_cb *job_cb, void *arg, struct error *error);
enum err store_agrees(struct store *store, struct error *error);
enum err store_load(struct store *store, store_load_cb *load_cb, void *arg, struct error *error);

/*
 * Before store_start: call load_cb with the rows as they were when this turn was durable: tables in the order of
 * rows.def, each in key order, without history. ERR_NOT_FOUND: not all changes since then are kept. Specs of runs that
 * were pruned since have no body.
 */
enum err store_past(struct store *store, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
/* Like store_past, but only with the rows that a core loads. Runs that were pruned since are left out. */
enum err store_past_live(struct store *store, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
/* Find the latest turn up to this time; 0: none is kept. */
enum err store_past_turn(struct store *store, int64_t wall_ms, uint64_t *ret_turn, struct error *error);

struct store_moment {
	uint64_t turn;                   /* 0: the latest turn up to wall_ms */
	int64_t wall_ms;
};

/*
 * Put a copy of a store back to an earlier moment: afterwards it has the rows of that moment. Only for copies, because
 * all later rows are removed. ERR_NOT_FOUND: changes aren't kept back to that moment; the error names the earliest.
 */
enum err store_rewind(const char *path, const struct store_moment *wanted, struct store_moment *ret, struct error *error);

/* Start the store thread. It calls wake_cb when store_take or store_answer has something, and when the disk is full. */
void store_start(struct store *store, void (*wake_cb)(void *arg), void *arg);
/* Hand a turn over to be committed. Never blocks; the outbox must not change until the store gives it back. */
void store_commit(struct store *store, struct outbox *outbox);
struct outbox *store_take(struct store *store);                  /* returns the next durable outbox, or NULL */

/*
 * Busy-wait until an outbox is durable or until_ns has come, instead of sleeping until wake_cb. A wake-up takes half as
 * long as a commit, so this saves time if the owner has nothing else to do.
 */
void store_watch(struct store *store, int64_t until_ns);

/*
 * Choose latency or large commits. may: no client waits for an answer, so the thread may wait up to linger_ns for more
 * rows before a commit. Otherwise it commits at once.
 */
void store_may_linger(struct store *store, bool may);

/*
 * READ_PARTS returns the rows of READ_SPECS without bodies, READ_TURNS those of READ_EVENTS. READ_CHANGES returns rows
 * of `change` with a body of two numbers of 8 bytes, little-endian: the size of all bodies ever written up to this row,
 * and up to the newest. READ_ACTS_DOWN and READ_PRUNED_DOWN return acts and pruned runs with falling numbers.
 */
enum store_what { READ_RUNS, READ_RUN, READ_SPECS, READ_JOBS, READ_JOB, READ_EVENTS, READ_DEAD, READ_DECISIONS,
		  READ_ENDED, READ_PARTS, READ_ACTS, READ_CHANGES, READ_TURNS, READ_ACTS_DOWN, READ_PRUNED, READ_PRUNED_DOWN, READ_RUN_PARTS, READ_TURNS_DOWN,
		  READ_ATTEMPTS, READ_LIMIT };

#define EVENTS_MOST 2000                 /* most records of events for which one answer has jobs and acts */

struct store_job {                       /* the job of an event */
	struct row_job row;
	struct slice name;               /* empty: the job's run was pruned */
};

struct store_owner {
	uint64_t run;
	struct slice owner;
};

struct store_query {
	enum store_what what;
	/*
	 * Meaning by kind. RUN, SPECS, JOBS, ATTEMPTS: this run. DEAD, DECISIONS: this run, or 0 for all. RUNS: only runs below
	 * this number, in falling order. ENDED, PARTS: only runs up to this number.
	 */
	uint64_t run;
	/*
	 * Meaning by kind. JOB: the job's number. JOBS, ATTEMPTS, EVENTS, ACTS, SPECS, ENDED, PARTS, PRUNED: the
	 * first job, turn, act, part or run to return. DEAD, DECISIONS, ACTS_DOWN, PRUNED_DOWN: only jobs, acts or runs below this number.
	 */
	uint64_t from;
	uint64_t limit;                  /* most rows; 0: LIMIT_QUERY_ROWS_MAX, or no limit for SPECS and PARTS */
	/* the answer of the query: rows, allocated from arena */
	struct arena arena;
	struct row *rows;
	size_t row_count;
	/*
	 * EVENTS: the acts of the first EVENTS_MOST records follow them in rows; their jobs are here, sorted by number.
	 */
	struct store_job *jobs;
	size_t job_count;
	uint64_t skip;                   /* EVENTS: number of records of the first turn to leave out */
	bool more;                       /* EVENTS: the page ended because it was large, and more follow */
	/*
	 * EVENTS and ACTS_DOWN with wants_owners: owners of the runs in the rows, including pruned runs, sorted by run.
	 */
	bool wants_owners;
	struct store_owner *owners;
	size_t owner_count;
	int64_t since_ms;                /* EVENTS, if from is 0: begin with the first turn at or after this time */
	void *owner;                     /* pointer for the use of whoever asks; the store doesn't touch it */
	struct store_query *next;
};

/* Hand over a query. Never blocks; the query belongs to the store until store_answer returns it. */
void store_ask(struct store *store, struct store_query *query);
struct store_query *store_answer(struct store *store);                   /* returns the next answered query, or NULL */

/* A copy of the store into a part file (store/backup.h), made a few pages at a time between commits. */
struct store_copy {
	const char *part;
	struct error error;              /* result of the copy: ERR_NONE if it is complete; it has no trailer yet */
	struct store_copy *next;
};

/* Request a copy. Never blocks; the copy belongs to the store until store_copied returns it. */
void store_copy(struct store *store, struct store_copy *copy);
struct store_copy *store_copied(struct store *store); /* the next copy that ended, successfully or not; NULL: none */

struct store_stats {
	uint64_t commits, turns, rows, checkpoints;
	uint64_t replaced; /* how many of rows weren't written, since a later row in the same commit has their key */
	int64_t last_commit_ns, longest_commit_ns;
	struct histogram commit;
	bool full;                       /* little disk space is left: the owner should accept nothing new */
	bool reserve;                    /* the last reserve wasn't used yet */
	bool stuck;                      /* the disk is full: the present batch is tried again and again */
};

void store_stats(struct store *store, struct store_stats *ret_stats);
bool store_is_stuck(struct store *store);
/*
 * Allow the next commit to use the last reserve, because it frees room. False: that didn't help, the disk is still
 * full. If a batch is stuck now, the reserve is released at once; the caller waits some milliseconds for that, only
 * once.
 */
bool store_use_reserve(struct store *store);
/*
 * Commit everything handed over (unless the disk is full) and end the thread. Outboxes and queries that weren't taken
 * back belong to the owner again; copies can still be taken. store may be NULL.
 */
void store_stop(struct store *store);
/* Call store_stop if it wasn't called yet, make a checkpoint, and close. store may be NULL. */
void store_close(struct store *store);

/* Set the error's next command for a store that can't be trusted. */
enum err store_hint(const char *path, struct error *error);

struct restored {
	uint64_t generation;             /* the generation of the restored store */
	char kept[4096];                 /* path where the old store is kept; empty: there was none */
};

/*
 * Put the database copy from in the place of the store at path, with a generation that was never used. No master may
 * run; one that starts meanwhile is refused. The caller has checked the content of from.
 */
enum err store_restore(const char *from, const char *path, struct restored *ret_restored, struct error *error);

/* The schema as SQL text, made from rows.def, for the store itself and for share/sql. */
void store_schema(struct buf *out);

#endif
