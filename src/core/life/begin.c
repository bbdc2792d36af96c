/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that need no worker (no-ops and sub-runs). They become ready like other jobs, in classes of their own, and
 * begin at the end of the turn in which no bound holds them up.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/life/internal.h"
#include "core/queue/queue.h"

/*
 * A no-op succeeds at once. It has no attempt, so it takes no room in the bounds of its neighbours. It can't fail: outputs that are
 * too long are missing.
 */
void noop_begin(struct core *core, struct job *job)
{
	enum output_fault fault;
	struct slice outputs = outputs_compute(core, job, job->run, &fault);

	job_move(core, job, EVENT_REACHED, STATE_SUCCEEDED);
	if (fault == OUTPUT_NONE)
		outputs_keep(job, outputs);
	jobs_tell_children(core);
}

bool kinds_begin(struct core *core)
{
	bool any = false;

	for (size_t i = 1; i < core->class_count; i++) {
		struct job *job;

		/* Beginning a sub-run adds a run, so classes may come and go in this loop. */
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
