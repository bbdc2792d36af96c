/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the core does with a job, by its kind: a row each. Jobs that no worker runs are ready like any other, in a
 * class of their own, and begin at the end of the turn in which nothing holds them up any more.
 */
#include "core/internal.h"

/* A join, a milestone: there is no attempt, so it takes no room in what bounds its neighbours. */
static void noop_begin(struct core *core, struct job *job)
{
	job_move(core, job, EVENT_REACHED, STATE_SUCCEEDED);
	jobs_settle(core);
}

const struct kind_ops kind_table[KIND_COUNT] = {
	[KIND_UNSAID] = { .worker = true, .in_bounds = true, .in_share = true },        /* of a class: any with a worker */
	[KIND_COMMAND] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_SCRIPT] = { .worker = true, .in_bounds = true, .in_share = true },
	[KIND_GATE] = { .worker = true, .in_bounds = true, .in_share = true },          /* never in a queue */
	/* Not in its tenant's share: its jobs could wait for room that it takes. */
	[KIND_SUBRUN] = { .in_bounds = true, .begin_cb = subrun_begin },
	[KIND_NOOP] = { .begin_cb = noop_begin },
};

bool kinds_begin(struct core *core)
{
	bool any = false;

	for (size_t i = 1; i < core->class_count; i++) {
		struct job *job;

		/* Classes come and go with runs, and a run may have begun. */
		while (core->classes[i] && kind_table[core->classes[i]->kind].begin_cb &&
		       (job = ready_offered(core, core->classes[i]))) {
			kind_table[job->kind].begin_cb(core, job);
			any = true;
		}
	}
	return any;
}
