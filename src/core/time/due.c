/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Due times of jobs, which outlive the process: timers of states, on the steady clock (steady_clock.c) or at a
 * wall-clock date; deadlines, on either clock; and the dispatch time-out. late.c acts when they are due.
 */
#include "core/time/time.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/time/internal.h"

void due_arm(struct core *core, struct job *job, enum timer_kind kind, int64_t due_ms, int64_t date_ms)
{
	job->when_ms = due_ms;
	job->flags |= JOB_TIMED;
	timer_add_due(core, kind, job, due_ms, date_ms);
}

void due_disarm(struct core *core, struct job *job, enum job_state to)
{
	job->flags &= (uint32_t)~JOB_TIMED;
	timer_stale(core);
	if (to == STATE_UNKNOWN)
		core->timers.lost = true;
}

int64_t job_due_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec)
{
	int64_t wall_ms;

	if (state_terminal(job->state))
		return 0;
	wall_ms = due_wall_ms(core, job->when_ms);
	return job->state == STATE_DELAYED && spec->not_before_ms > wall_ms ? spec->not_before_ms : wall_ms;
}

/* --- deadlines --- */

static struct deadline deadline_of(const struct job *job, const struct rec_job_spec *spec)
{
	struct deadline deadline = { .date_ms = spec->deadline_at_ms };

	if (spec->deadline_ms > 0)
		deadline.due_ms = job->run->steady_ms + (int64_t)spec->deadline_ms;
	return deadline;
}

void deadline_arm(struct core *core, struct job *job)
{
	struct rec_job_spec spec;
	struct deadline deadline;

	job_spec_decode(core, job, &spec);
	deadline = deadline_of(job, &spec);
	job->flags |= JOB_DEADLINE;
	timer_add_due(core, TIMER_DEADLINE, job, deadline.due_ms, deadline.date_ms);
}

void deadline_disarm(struct core *core, struct job *job)
{
	if (!(job->flags & JOB_DEADLINE))
		return;
	job->flags &= (uint32_t)~JOB_DEADLINE;
	timer_stale(core);
}

/* Arm the deadline for a new round. If it has already passed, it is ignored in this round (JOB_LATE). */
void deadline_reopen(struct core *core, struct job *job)
{
	struct rec_job_spec spec;
	struct deadline deadline;

	if (!(job->flags & JOB_DUE_BY))
		return;
	job_spec_decode(core, job, &spec);
	deadline = deadline_of(job, &spec);
	job->flags &= (uint32_t)~JOB_LATE;
	if (((deadline.due_ms && deadline.due_ms <= steady_ms(core)) ||
	     (deadline.date_ms && deadline.date_ms <= core->now.wall_ms)) && !PLANTED(deadline_of_an_old_round))
		job->flags |= JOB_LATE;
	else
		deadline_arm(core, job);
}

/* Return by when the job must have ended, on the present wall clock; 0 if there is no such time. */
int64_t deadline_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec)
{
	struct deadline deadline = deadline_of(job, spec);
	int64_t ending_ms = job_ending_ms(job);
	int64_t wall_ms;

	if (job->flags & JOB_LATE || spec->always == ALWAYS_PAST_DEADLINE)
		deadline = (struct deadline){ 0 };       /* the deadline doesn't end this job */
	if (ending_ms > ENDING_WAITS && (deadline.due_ms == 0 || ending_ms < deadline.due_ms))
		deadline.due_ms = ending_ms;
	wall_ms = due_wall_ms(core, deadline.due_ms);
	return wall_ms && (deadline.date_ms == 0 || wall_ms < deadline.date_ms) ? wall_ms : deadline.date_ms;
}

/* --- the longest time in the queue --- */

void dispatch_arm(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	if (spec.dispatch_timeout_ms > 0)
		due_arm(core, job, TIMER_DISPATCH, due_after(core, (int64_t)spec.dispatch_timeout_ms), 0);
}

/* Restart the dispatch time-out after a release. The armed timer stays: if it fires early, it is armed again. */
void dispatch_released(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (!(job->flags & JOB_TIMED))
		return;
	job_spec_decode(core, job, &spec);
	job->when_ms = due_after(core, (int64_t)spec.dispatch_timeout_ms);
	job_touch(core, job, true);
}
