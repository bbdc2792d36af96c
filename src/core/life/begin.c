/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that no worker runs are ready like any other, in a class of their own, and begin at the end of the turn in which
 * nothing holds them up any more.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/life/internal.h"
#include "core/queue/queue.h"

/* A join, a milestone: there is no attempt, so it takes no room in what bounds its neighbours. */
void noop_begin(struct core *core, struct job *job)
{
	job_move(core, job, EVENT_REACHED, STATE_SUCCEEDED);
	jobs_settle(core);
}

bool kinds_begin(struct core *core)
{
	bool any = false;

	for (size_t i = 1; i < core->class_count; i++) {
		struct job *job;

		/* Classes come and go with runs, and a run may have begun. */
		while (core->classes[i] && !kind_table[core->classes[i]->kind].worker &&
		       (job = ready_offered(core, core->classes[i]))) {
			CHECK(hooks_begin(core, job));
			any = true;
			if (PLANTED(noop_only_first) && job->kind == KIND_NOOP) {
				any = false;
				break;
			}
		}
	}
	return any;
}
