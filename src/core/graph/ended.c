/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ended runs stay in a list until the turn that ended them is durable; until then they can be reopened in memory. */
#include "core/graph/graph.h"

#include "core/rows/durable.h"
#include "core/time/time.h"

void run_wait_sweep(struct core *core, struct run *run)
{
	run->ended_turn = core->turn;
	run->next_ended = NULL;
	core->live_runs--;
	if (core->ended_last)
		core->ended_last->next_ended = run;
	else
		core->ended_first = run;
	core->ended_last = run;
}

/* Remove a run from the list of ended runs. */
static void run_unlist(struct core *core, struct run *run)
{
	struct run *before = NULL;

	for (struct run *at = core->ended_first; at != run; at = at->next_ended)
		before = at;
	if (before)
		before->next_ended = run->next_ended;
	else
		core->ended_first = run->next_ended;
	if (core->ended_last == run)
		core->ended_last = before;
	run->next_ended = NULL;
}

void run_live_again(struct core *core, struct run *run)
{
	run->cancelled = false;
	run_touch(core, run, true);
	run_resume_clock(core, run);
	if (run->ended_ms == 0)
		return;                  /* nothing to undo: the run is live, or its last job ended only in this turn */
	core->revived_turn = core->turn;
	run_unlist(core, run);
	ended_sums_run_lives_again(core, run);
	run->ended_ms = 0;
	run->ended_turn = 0;
	core->live_runs++;
	schedule_run_counts(core, run, true);
}

void run_stay(struct core *core, struct run *run)
{
	core->revived_turn = core->turn;
	run_unlist(core, run);
	core->live_runs++;
	run_wait_sweep(core, run);
}
