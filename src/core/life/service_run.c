/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services that run: stopped when the other jobs of their run have ended. service.c says what follows when they end. */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"

static void give_up(struct core *core, struct job *job)
{
	if (state_terminal(job->state) || job->state == STATE_STOPPING || job->state == STATE_WAITING)
		return;
	if (state_holds(job->state)) {
		attempt_stop(core, job, EVENT_OVER);
		return;
	}
	job->stop_cause = EVENT_OVER;
	job_move(core, job, EVENT_OVER, STATE_SUCCEEDED);
}

bool services_over(struct core *core)
{
	bool any = false;

	for (size_t i = 0; i < core->touched_run_count; i++) {
		const struct run *run = core->touched_runs[i];

		if (PLANTED(service_outlives_its_run) || run->service_count == 0 || run->work == 0 || run->work_open > 0 || run->ended == run->job_count)
			continue;
		for (size_t at = 0; at < run->service_count; at++) {
			struct job *job = run_job(run, run->services[at]);
			enum job_state before = job->state;

			give_up(core, job);
			any = any || job->state != before;
		}
	}
	jobs_tell_children(core);
	return any;
}
