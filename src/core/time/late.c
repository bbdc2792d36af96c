/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acting on times that have come: deadlines, dispatch time-outs, the time given to `always` jobs. */
#include "core/time/time.h"

#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/time/internal.h"

#include "base/planted.h"

void job_out_of_time(struct core *core, struct job *job)
{
	if (job->state == STATE_UNKNOWN)
		return;                  /* the timer is armed again if the unknown job returns */
	if (job->state == STATE_STOPPING) {
		/* Already stopping after a time-out: change the cause, so that no retry follows. */
		if (job->stop_cause != EVENT_CANCEL && job->stop_cause != EVENT_DEADLINE && job->stop_cause != EVENT_OVER) {
			job->stop_cause = EVENT_DEADLINE;
			job_touch(core, job, true);
		}
	} else if (state_holds(job->state)) {
		attempt_stop(core, job, EVENT_DEADLINE);
	} else {
		job->stop_cause = EVENT_DEADLINE;
		job_move(core, job, EVENT_DEADLINE, STATE_TIMED_OUT);
		jobs_tell_children(core);
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
	/* A job on hold mustn't time out in the queue: its dispatch time-out restarts when it is released. */
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
	jobs_tell_children(core);
}

void ending_fired(struct core *core, struct job *job)
{
	job_out_of_time(core, job);
	subrun_kill(core, job);
}
