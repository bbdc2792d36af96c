/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Services: jobs whose process is meant to stay up. When it ends by itself, another attempt follows after a wait; such an
 * end is no failure of the job. The waits double with each end, until an attempt was up for the stable time. After too many
 * ends in a short time the service is in a crash loop: it is started every few minutes, and people are told. A service ends
 * well when the other jobs of its run have ended, except final jobs: then it is stopped, and never started again. A run
 * that has nothing but services goes on until a person cancels it.
 *
 * job->crashes counts the ends since the service was last stable; it and JOB_CRASH_LOOP are in the job's row. The times of
 * the latest ends are only in memory: after a restart of the master they are counted anew.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

static uint64_t wait_first(const struct rec_job_spec *spec)
{
	return spec->restart_wait_ms ? spec->restart_wait_ms : LIMIT_SERVICE_WAIT_MS;
}

static uint64_t wait_last(const struct rec_job_spec *spec)
{
	uint64_t last = spec->restart_wait_max_ms ? spec->restart_wait_max_ms : LIMIT_SERVICE_WAIT_MAX_MS;

	return last > wait_first(spec) ? last : wait_first(spec);
}

int64_t service_longest_ms(const struct rec_job_spec *spec)
{
	uint64_t last = wait_last(spec) + wait_last(spec) / 4;

	return (int64_t)(last > LIMIT_SERVICE_LOOP_WAIT_MS ? last : LIMIT_SERVICE_LOOP_WAIT_MS);
}

int64_t service_stable_ms(const struct rec_job_spec *spec)
{
	return spec->stable_ms ? (int64_t)spec->stable_ms : LIMIT_SERVICE_STABLE_MS;
}

/* Keep the time of this end. Return whether the service has ended too often by now. */
static bool ends_too_often(struct core *core, const struct job *job, const struct rec_job_spec *spec)
{
	uint64_t limit = spec->loop_ends ? spec->loop_ends : LIMIT_SERVICE_LOOP_ENDS;
	int64_t span_ms = spec->loop_ms ? (int64_t)spec->loop_ms : LIMIT_SERVICE_LOOP_MS;
	struct extra *extra = job_extra(job);
	int64_t now_ms = steady_ms(core);

	if (!extra->ends)
		extra->ends = mem_array(limit, sizeof(*extra->ends));
	/* A ring: the oldest of the latest ends is replaced. */
	extra->ends[extra->end_count++ % limit] = now_ms;
	return extra->end_count >= limit && now_ms - extra->ends[extra->end_count % limit] <= span_ms;
}

static void start_later(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec, uint64_t ends)
{
	int64_t wait_ms = job->flags & JOB_CRASH_LOOP ? LIMIT_SERVICE_LOOP_WAIT_MS :
			  backoff_wait(core, wait_first(spec), wait_last(spec), false, ends);

	job->stop_cause = 0;
	attempt_keep(core, job, core->now.wall_ms);
	job_move(core, job, event, STATE_DELAYED);
	due_arm(core, job, TIMER_DUE, due_after(core, PLANTED(service_restarts_at_once) ? 1 : wait_ms), spec->not_before_ms);
}

/* Is this end of the process to be followed by another start? */
static bool restarts(const struct job *job, const struct rec_job_spec *spec)
{
	if (PLANTED(service_ends_with_code_0) && job->outcome == OUTCOME_EXIT && job->code == 0)
		return false;
	if (spec->restart == RESTART_NEVER || (spec->restart == RESTART_ON_FAILURE && job->outcome == OUTCOME_EXIT && job->code == 0))
		return false;
	for (size_t i = 0; job->outcome == OUTCOME_EXIT && i < spec->restart_never.n; i++)
		if (spec->restart_never.at[i] == job->code)
			return false;
	return true;
}

void service_ended(struct core *core, struct job *job)
{
	bool well = job->outcome == OUTCOME_EXIT && job->code == 0;
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	if (!restarts(job, &spec)) {
		job_move(core, job, well ? EVENT_EXITED_OK : EVENT_EXITED_FAIL, well ? STATE_SUCCEEDED : STATE_FAILED);
		return;
	}
	if (job->crashes < UINT8_MAX)
		job->crashes++;
	if (ends_too_often(core, job, &spec) && !(job->flags & JOB_CRASH_LOOP)) {
		job->flags |= JOB_CRASH_LOOP;
		happened(core, HAPPENED_CRASH_LOOP, job_serial(job), spec.name, job->run->number);
	}
	start_later(core, job, EVENT_RESTART, &spec, job->crashes);
}

void service_lost(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (PLANTED(service_lost_for_good) && job->state == STATE_RUNNING) {
		job_move(core, job, EVENT_LOST, STATE_FAILED);
		return;
	}
	job_spec_decode(core, job, &spec);
	start_later(core, job, EVENT_LOST, &spec, 1);
}

void service_began(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (job->crashes == 0)
		return;
	job_spec_decode(core, job, &spec);
	due_arm(core, job, TIMER_STABLE, due_after(core, service_stable_ms(&spec)), 0);
}

void service_stable(struct core *core, struct job *job)
{
	job->when_ms = 0;
	job->crashes = 0;
	job->flags &= (uint32_t)~JOB_CRASH_LOOP;
	job_touch(core, job, true);
	run_touch(core, job->run, false);
}

void service_stopped(struct core *core, struct job *job, enum job_event event)
{
	struct rec_job_spec spec;

	if (job->run->work_open == 0) {
		job_move(core, job, event, STATE_SUCCEEDED);
		return;
	}
	/* While it was being stopped, a job of its run began a new round. */
	job_spec_decode(core, job, &spec);
	start_later(core, job, EVENT_RESTART, &spec, 1);
}

bool service_reopens(const struct job *job)
{
	return job_is_service(job) && state_terminal(job->state) &&
	       (job->stop_cause == EVENT_OVER || job->state == STATE_CANCELLED);
}

bool service_row_sane(const struct job *job, const struct row_job *row)
{
	bool loops = (row->flags & ROW_JOB_CRASH_LOOP) != 0, over = row->stop_cause == EVENT_OVER;

	if (!job_is_service(job))
		return !loops && !over;
	return row->state != STATE_UNKNOWN && row->state != STATE_APPROVAL &&
	       (!loops || (row->crashes > 0 && !state_terminal((enum job_state)row->state)));
}

void service_check(const struct job *job)
{
	CHECK(!(job->flags & JOB_CRASH_LOOP) || (job_is_service(job) && job->crashes > 0 && !state_terminal(job->state)));
	CHECK(!job_is_service(job) || (job->interrupted == 0 && job->state != STATE_UNKNOWN && job->state != STATE_APPROVAL));
}
