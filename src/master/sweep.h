/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep: one pass through the ended runs by a rule. Decides which of them go and gathers the figures to
 * report. It asks no one and removes nothing.
 */
#ifndef TITAN_MASTER_SWEEP_H
#define TITAN_MASTER_SWEEP_H

#include "master/internal.h"
#include "master/logs.h"

#define SWEEP_SHOWN 5

/* What belongs to no run, each with a rule of its own. */
enum history_kind { HISTORY_EVENTS, HISTORY_PAST, HISTORY_ACTS, HISTORIES };

struct sweep {
	uint64_t conn;                   /* connection of the asker; 0: the automatic rules */
	struct msg_prune rule;
	int64_t begun_ms;                /* what is newer stays: each step leaves a turn, too */
	int64_t before_ms, history_before_ms[HISTORIES];
	bool begun, measured, scanned;
	unsigned history;                /* enum history_kind that is looked at; HISTORIES: all were */
	struct log_size *sizes;          /* sorted by run */
	size_t size_count;
	uint64_t log_bytes;              /* sum of all sizes */
	uint64_t cursor;                 /* number of the next run to be read */
	uint64_t seen, excess;           /* ended runs seen so far; number of ended runs beyond those to be kept */
	struct rec_prune_sum sum;
	struct rec_run_row shown[SWEEP_SHOWN];
	size_t shown_count;
	struct arena arena;
	struct sweep *next;
};

struct sweep *sweep_new(uint64_t conn, const struct msg_prune *rule);
void sweep_free(struct sweep *sweep);
void sweep_begin(struct sweep *sweep, const struct core *core);
void sweep_measure(struct sweep *sweep, struct log_answer *answer);      /* takes the sizes over */
struct prune_rule sweep_rule(const struct sweep *sweep, uint64_t as_of);
/* List which of these runs, read at turn as_of, go; false: they have to be read again. */
bool sweep_look(struct sweep *sweep, const struct core *core, uint64_t as_of, const struct store_query *runs,
		uint64_t *candidates, size_t *ret_count);
/* The next history that a rule is about: its rows are to be read; false: there is none. */
bool sweep_history(struct sweep *sweep, enum store_what *ret_what);
/* How many of the first of these rows of it go. */
size_t sweep_history_goes(const struct sweep *sweep, const struct store_query *rows);
void sweep_count(struct sweep *sweep, const struct row_run *row);        /* add a run that is removed to the figures */

#endif
