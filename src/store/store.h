/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The durable rows. One thread owns the one SQLite connection (exclusive WAL, synchronous=FULL). The
 * owner hands over outboxes in order and gets them back, in order, when they are durable; several share
 * one transaction when they gathered while the last one committed. A commit whose outcome is unknown
 * stops the process. Reads of history run on the same thread, behind the commits before them.
 */
#ifndef TITAN_STORE_STORE_H
#define TITAN_STORE_STORE_H

#include "base/histogram.h"
#include "core/rows/outbox.h"
#include "proto/error.h"

struct store;

struct store_options {
	const char *path;                /* of the database file; created 0600 if missing */
	int64_t linger_ns;               /* longest wait for company before a commit; 0 never waits */
	bool inspect;                    /* look, and change nothing: it must be there, it is never started */
};

/* A row of a live run, or of a table that is loaded whole, in the order of rows.def. */
typedef enum err store_load_cb(const struct row *row, void *arg, struct error *error);

enum err store_open(const struct store_options *options, struct store **ret_store, struct error *error);
int store_version(const struct store *store);            /* of its tables: an older one only when inspected */
/* Before store_start. Every page and index; what is wrong, in words. Takes its time. */
enum err store_check(struct store *store, struct error *error);
/* Has it all that was acknowledged? Asked of one that is opened to be written, too. */
enum err store_agrees(struct store *store, struct error *error);
enum err store_load(struct store *store, store_load_cb *load_cb, void *arg, struct error *error);

/*
 * Before store_start: the rows as they were when this turn was durable, each table in the order of its keys, the tables in that of
 * rows.def, without history. ERR_NOT_FOUND: what came since isn't kept. Parts of runs that were pruned since have no body.
 */
enum err store_past(struct store *store, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
/* Of the same: what a core loads. Runs that were pruned since are left out. */
enum err store_past_live(struct store *store, uint64_t turn, store_load_cb *load_cb, void *arg, struct error *error);
/* The latest turn up to this time; 0: none is kept. */
enum err store_past_turn(struct store *store, int64_t wall_ms, uint64_t *ret_turn, struct error *error);

/* wake_cb is called on the store thread whenever something waits in store_take or store_answer, and when it gets stuck. */
void store_start(struct store *store, void (*wake_cb)(void *arg), void *arg);
void store_commit(struct store *store, struct outbox *outbox);   /* never blocks; not to be changed then */
struct outbox *store_take(struct store *store);                  /* next durable one, or NULL */

/*
 * Instead of sleeping until wake_cb: looks, until one is durable or this time has come. To be woken takes as long as half
 * a commit; of use only to an owner that has nothing else to do.
 */
void store_watch(struct store *store, int64_t until_ns);

/*
 * Latency or company: while the owner says that nobody waits for an answer (busy), the thread may
 * linger for company; otherwise it commits at once.
 */
void store_may_linger(struct store *store, bool may);

/* PARTS and TURNS are SPECS and EVENTS without bodies. */
enum store_what { READ_RUNS, READ_RUN, READ_SPECS, READ_JOBS, READ_JOB, READ_EVENTS, READ_DEAD, READ_DECISIONS,
		  READ_ENDED, READ_PARTS, READ_ACTS, READ_TURNS };

struct store_query {
	enum store_what what;
	/*
	 * RUN, SPECS, JOBS: this one. DEAD, DECISIONS: its own; 0: all. RUNS: numbers below it, falling. ENDED, PARTS:
	 * numbers up to it.
	 */
	uint64_t run;
	/*
	 * JOB: its number. JOBS, EVENTS, ACTS, SPECS, ENDED, PARTS: jobs, turns, acts, parts, runs from it on. DEAD,
	 * DECISIONS: below it.
	 */
	uint64_t from;
	uint64_t limit;                  /* 0: as many as there may be: LIMIT_QUERY_ROWS_MAX, of SPECS and PARTS all */
	/* the answer */
	struct arena arena;
	struct row *rows;
	size_t row_count;
	void *owner;                     /* the asker's, untouched */
	struct store_query *next;
};

void store_ask(struct store *store, struct store_query *query);  /* never blocks; lent until answered */
struct store_query *store_answer(struct store *store);                   /* next answered one, or NULL */

/* A copy into a part file (store/backup.h), a few pages between commits. */
struct store_copy {
	const char *part;
	struct error error;              /* the answer: code ERR_NONE when it is complete, not yet sealed */
	struct store_copy *next;
};

void store_copy(struct store *store, struct store_copy *copy);   /* never blocks; lent until it is copied */
struct store_copy *store_copied(struct store *store);            /* next one that ended, or NULL; also when closing failed it */

struct store_stats {
	uint64_t commits, turns, rows, checkpoints;
	uint64_t replaced;               /* of the rows: not written, a later one in the commit has the key */
	int64_t last_commit_ns, longest_commit_ns;
	struct histogram commit;
	bool full;                       /* little room is left: nothing new ought to be taken */
	bool reserve;                    /* the last reserve is still held */
	bool stuck;                      /* none is: the latest batch is tried again and again */
};

void store_stats(struct store *store, struct store_stats *ret_stats);
bool store_is_stuck(struct store *store);
/*
 * What is committed next makes room: it may use the last reserve. False: that is of no use, the store is stuck. A store
 * that is stuck gives it up at once, and the caller waits for that, some milliseconds and only once.
 */
bool store_use_reserve(struct store *store);
/*
 * Commits what was handed over (not when there is no room for it) and ends the thread. Outboxes and queries
 * that weren't taken back are the owner's again; copies can still be taken. NULL is fine.
 */
void store_stop(struct store *store);
/* The same, where it wasn't stopped yet, and checkpoints. NULL is fine. */
void store_close(struct store *store);

/* What to do about a store that can't be trusted: the error's next command. */
enum err store_hint(const char *path, struct error *error);

struct restored {
	uint64_t generation;             /* the new one */
	char kept[4096];                 /* where the store is that was there; empty: there was none */
};

/*
 * Puts a copy of the database in from where a store is or was, with a generation that nothing has seen. No master may
 * run; one that starts meanwhile is refused. From's own content must have been checked.
 */
enum err store_restore(const char *from, const char *path, struct restored *ret_restored, struct error *error);

/* The schema as SQL text, generated from rows.def: for the store itself and for share/sql. */
void store_schema(struct buf *out);

#endif
