/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs that were told to end: by a person's cancel, by a stop of the job whose sub-run they are, or by their
 * deadline. Final jobs and `always` jobs aren't stopped with the others. Each gets time to end by itself:
 * LIMIT_ENDING_MS, or its own time-out if that is longer. The time runs from the moment when the job may begin, or
 * from the order to end if it has begun. It covers queueing, delays, tries and passes. After that time the job is
 * stopped as after a deadline, and a sub-run that it waits for is ended whole.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

static void ending_arm(struct core *core, struct job *job)
{
	job->flags |= JOB_ENDING;
	timer_add_due(core, TIMER_ENDING, job, job_ending_ms(job), 0);
}

static int64_t longest_ms(struct core *core, const struct job *job)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	return (int64_t)spec.timeout_ms > (PLANTED(ending_time_is_the_timeout) ? 0 : core->ending_ms) ?
	       (int64_t)spec.timeout_ms : core->ending_ms;
}

void ending_order(struct core *core, struct job *job)
{
	if (state_terminal(job->state) || (job->state == STATE_WAITING && !PLANTED(ending_time_runs_at_once)) ||
	    job_ending_ms(job) > ENDING_WAITS)
		return;
	job_ending_set(job, due_after(core, longest_ms(core, job) * (1 + PLANTED(ending_time_doubled))));
	ending_arm(core, job);
	job_touch(core, job, true);
}

void ending_waited(struct core *core, struct job *job)
{
	if (job->run->cancelled || job_ending_ms(job) == ENDING_WAITS)
		ending_order(core, job);
}

void ending_deadline(struct core *core, struct job *job)
{
	if (job->state != STATE_WAITING) {
		ending_order(core, job);
	} else if (job_ending_ms(job) == 0) {
		job_ending_set(job, ENDING_WAITS);
		job_touch(core, job, true);
	}
}

void ending_clear(struct core *core, struct job *job)
{
	job_ending_set(job, 0);
	if (!(job->flags & JOB_ENDING))
		return;
	job->flags &= (uint32_t)~JOB_ENDING;
	timer_stale(core);
}

void ending_returned(struct core *core, struct job *job)
{
	if (job_ending_ms(job) > ENDING_WAITS && !(job->flags & JOB_ENDING))
		ending_arm(core, job);
}

bool ending_row_sane(const struct job *job, const struct row_job *row)
{
	if (row->ending_ms == 0)
		return true;
	return job->flags & JOB_ALWAYS && number_sane(row->ending_ms, ENDING_WAITS) && !state_terminal((enum job_state)row->state) &&
	       (row->ending_ms == ENDING_WAITS) == (row->state == STATE_WAITING);
}

void ending_resume(struct core *core, struct job *job)
{
	int64_t latest_ms;

	if (job_ending_ms(job) <= ENDING_WAITS)
		return;
	latest_ms = due_after(core, longest_ms(core, job));
	if (job_ending_ms(job) > latest_ms) {
		job_ending_set(job, latest_ms);
		job_touch(core, job, true);
	}
	if (job->state != STATE_UNKNOWN)
		ending_arm(core, job);
}

void ending_check(const struct job *job)
{
	int64_t ending_ms = job_ending_ms(job);
	bool armed = job->flags & JOB_ENDING, lives = !state_terminal(job->state);

	CHECK(ending_ms == 0 || lives);
	CHECK(!armed || ending_ms > ENDING_WAITS);
	CHECK((ending_ms == ENDING_WAITS) <= (job->state == STATE_WAITING));
	CHECK(armed || ending_ms <= ENDING_WAITS || job->state == STATE_UNKNOWN || job->state == STATE_STOPPING);
	CHECK(!job->run->cancelled || !(job->flags & JOB_ALWAYS) || !lives || ending_ms > ENDING_WAITS ||
	      job->state == STATE_WAITING || job->state == STATE_STOPPING || job->state == STATE_UNKNOWN);
}
