/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep: one pass through the ended runs by a pruning rule. Decides which runs are pruned and collects the numbers to
 * report. It makes no queries and removes nothing.
 */
#ifndef TITAN_MASTER_SWEEP_H
#define TITAN_MASTER_SWEEP_H

#include "master/internal.h"
#include "master/logs.h"

#define SWEEP_SHOWN 5

/* The kinds of history, which aren't part of a run. Each has a rule of its own. */
enum history_kind { HISTORY_EVENTS, HISTORY_PAST, HISTORY_ACTS, HISTORY_RUNS, HISTORIES };

struct sweep {
	uint64_t conn;                   /* connection of the client that started the sweep; 0: the automatic rules */
	char person[LIMIT_NAME_MAX_LEN + 1];     /* name of the person who started it; empty: the automatic rules */
	struct msg_prune rule;
	/* when the sweep began; newer history stays, because each step of the sweep adds a turn itself */
	int64_t begun_ms;
	int64_t before_ms, history_before_ms[HISTORIES];
	bool begun, measured, scanned;
	/* the kind of history (enum history_kind) that is examined now; HISTORIES: all are done */
	unsigned history;
	struct log_size *sizes;          /* sizes of logs, sorted by run */
	size_t size_count;
	uint64_t log_bytes;              /* bytes of the logs of all runs */
	uint64_t cursor;                 /* number of the next run to be read */
	/* seen: ended runs examined so far; excess: ended runs beyond the number that a rule keeps */
	uint64_t seen, excess;
	struct rec_prune_sum sum;
	struct rec_run_row shown[SWEEP_SHOWN];
	size_t shown_count;
	struct arena arena;
	struct sweep *next;
};

/* session: the client that asked; NULL: the automatic rules */
struct sweep *sweep_new(const struct peer_session *session, const struct msg_prune *rule);
void sweep_free(struct sweep *sweep);
void sweep_begin(struct sweep *sweep, const struct core *core);
/* gives the sweep the sizes of logs, which it takes over */
void sweep_measure(struct sweep *sweep, struct log_answer *answer);
struct prune_rule sweep_rule(const struct sweep *sweep, uint64_t as_of);
/* List which of these runs, read at turn as_of, are pruned; false: they must be read again. */
bool sweep_look(struct sweep *sweep, const struct core *core, uint64_t as_of, const struct store_query *runs,
		uint64_t *candidates, size_t *ret_count);
/* Choose the next kind of history with a rule; the caller reads its rows. False: there is none. */
bool sweep_history(struct sweep *sweep, enum store_what *ret_what);
/* The number of these rows, from the first on, that are to be removed. */
size_t sweep_history_goes(const struct sweep *sweep, const struct store_query *rows);
void sweep_count(struct sweep *sweep, const struct row_run *row);        /* add a run that is removed to the figures */

#endif
