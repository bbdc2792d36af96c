/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that have come: a deadline, the longest time in the queue, the time of what runs in any case. */
#include "core/time/time.h"

#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/time/internal.h"

#include "base/planted.h"

void job_out_of_time(struct core *core, struct job *job)
{
	if (job->state == STATE_UNKNOWN)
		return;                  /* armed again if it comes back */
	if (job->state == STATE_STOPPING) {
		/* Out of time in another way: from now on no retry is left. */
		if (job->stop_cause != EVENT_CANCEL && job->stop_cause != EVENT_DEADLINE) {
			job->stop_cause = EVENT_DEADLINE;
			job_touch(core, job, true);
		}
	} else if (state_holds(job->state)) {
		attempt_stop(core, job, EVENT_DEADLINE);
	} else {
		job->stop_cause = EVENT_DEADLINE;
		job_move(core, job, EVENT_DEADLINE, STATE_TIMED_OUT);
		jobs_settle(core);
	}
}

void deadline_fired(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (job->flags & JOB_ALWAYS) {
		job_spec_decode(core, job, &spec);
		if (spec.always == ALWAYS_PAST_DEADLINE && !PLANTED(ending_cut_at_the_deadline)) {
			ending_deadline(core, job);
			return;
		}
	}
	job_out_of_time(core, job);
}

void dispatch_late(struct core *core, struct job *job)
{
	/* Who holds it back doesn't want it given up: it has its whole time again when it is let go. */
	if (job_on_hold(job)) {
		job->flags |= JOB_TIMED;
		dispatch_released(core, job);
	}
	if (job->when_ms > steady_ms(core)) {
		due_arm(core, job, TIMER_DISPATCH, job->when_ms, 0);
		return;
	}
	job->stop_cause = EVENT_DISPATCH_TIMEOUT;
	job_move(core, job, EVENT_DISPATCH_TIMEOUT, STATE_TIMED_OUT);
	jobs_settle(core);
}

void ending_fired(struct core *core, struct job *job)
{
	job_out_of_time(core, job);
	subrun_kill(core, job);
}
