/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened, newest first: acts, runs and decisions from the master's three lists, as one list of entries. */
#ifndef TITAN_CLI_HISTORY_MERGE_H
#define TITAN_CLI_HISTORY_MERGE_H

#include "cli/session/cli.h"
#include "proto/message.h"

struct history_wanted {                  /* which entries are wanted; 0 or empty: all */
	int64_t since_ms, until_ms;
	uint64_t run;
	struct slice by, verb;
};

struct history_facts {                   /* facts about a run; run 0: nothing is known */
	uint64_t run, jobs;
	struct slice name, owner, schedule;
	enum run_state state;
	int64_t submitted_ms, ended_ms;
	int64_t pruned_ms;               /* time at which the run was pruned; 0: it wasn't */
	struct slice pruned_by;          /* person who pruned the run; empty: a rule of the master did */
};

struct history_entry {
	int64_t wall_ms;
	bool is_act, is_decision;        /* both false: the entry is a run whose submitting act isn't kept */
	struct rec_act_row act;
	struct rec_decision decision;
	struct history_facts facts;      /* if the entry is the start of a run: facts about that run */
};

struct history_merge;

struct history_merge *history_begin(struct cli *cli, const struct history_wanted *wanted);
/* Get the next entry; its texts are valid until the next call. ERR_NOT_FOUND: there are no more. */
enum err history_next(struct history_merge *merge, struct history_entry *ret);
void history_end(struct history_merge *merge);           /* NULL is fine */

/*
 * The verb of the act that corresponds to a decision: approve, reject, pushback, settle, or expire if the gate expired.
 */
const char *decision_verb(const struct rec_decision *decision);

#endif
