/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Due times that outlive the process. Intervals are counted on the steady clock: the time since the machine's
 * boot plus a base, which is chosen so that the clock goes on over a reboot as far as the wall clock says. Rows
 * hold times of this clock; a wall clock that is set moves none of them. Dates are of the wall clock, and follow
 * it when it is set. And deadlines, which may be either. What began on the wall clock and hasn't ended is told by the
 * wall clock as it is now, so that the time since then is the time that passed.
 */
#include "core/internal.h"

#define STEP_MS 100                      /* less than this isn't a wall clock that was set */
#define STEADY_LEAST_MS 1                /* due times of 0 are none, and rows have none below */

int64_t steady_ms(const struct core *core)
{
	return core->now.boot_ns / NS_PER_MS + core->steady.base_ms;
}

int64_t due_after(const struct core *core, int64_t wait_ms)
{
	return (core->now.boot_ns + NS_PER_MS - 1) / NS_PER_MS + core->steady.base_ms + wait_ms;
}

int64_t due_wall_ms(const struct core *core, int64_t due_ms)
{
	return due_ms ? due_ms + core->steady.skew_ms : 0;
}

static void steady_put(struct core *core)
{
	meta_put(core, "steady_boot", core->steady.boot_id);
	meta_put(core, "steady_base_ms", (uint64_t)core->steady.base_ms);
	meta_put(core, "steady_skew_ms", (uint64_t)core->steady.skew_ms);
}

/* Rows are loaded. On another boot of the machine the wall clock alone knows how long it was off. */
void steady_begin(struct core *core)
{
	struct steady *steady = &core->steady;

	if (core->boot_id == 0 || steady->boot_id != core->boot_id) {
		steady->boot_id = core->boot_id;
		steady->base_ms = core->now.wall_ms - steady->skew_ms - core->now.boot_ns / NS_PER_MS;
		/* Set back by decades at each of several boots, a wall clock would have it begin before 1970. */
		if (steady_ms(core) < STEADY_LEAST_MS)
			steady->base_ms += STEADY_LEAST_MS - steady_ms(core);
		steady->put_due = true;
	}
	steady->slept_ns = core->now.boot_ns - core->now.mono_ns;
}

static bool is_step(int64_t step_ms)
{
	return step_ms >= STEP_MS || step_ms <= -STEP_MS;
}

int64_t run_submitted_ms(const struct core *core, const struct run *run)
{
	int64_t now_ms = due_wall_ms(core, run->steady_ms);

	if (run->ended_ms != 0 || !is_step(now_ms - run->submitted_ms))
		return run->submitted_ms;
	return now_ms > 0 ? now_ms : 1;
}

/* Jobs' starts are kept by the wall clock: those that may still end are set with it, in the turn that notes its step. */
static void starts_step(struct core *core, int64_t step_ms)
{
	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		struct run *run = core->runs.at[i].run;

		if (!run || run->ended_ms != 0)
			continue;
		run_touch(core, run, false);     /* viewers learn when it was submitted */
		for (struct job *job = run_job(run, 0); job && run->settled < run->job_count; job = job_next(job)) {
			int64_t started_ms = job->started_ms + step_ms;

			if (job->started_ms == 0 || (!state_holds(job->state) && job->state != STATE_UNKNOWN))
				continue;
			job->started_ms = number_sane(started_ms, 1) ? started_ms : 1;
			job_touch(core, job, true);
		}
	}
}

/* How far the wall clock is from the steady one is durable, or a step would count as time on the next boot. */
void steady_turn(struct core *core)
{
	struct steady *steady = &core->steady;
	int64_t skew_ms = core->now.wall_ms - steady_ms(core);
	int64_t step_ms = skew_ms - steady->skew_ms;
	int64_t slept_ns = core->now.boot_ns - core->now.mono_ns;
	bool stepped = is_step(step_ms);

	if (stepped) {
		steady->skew_ms = skew_ms;
		starts_step(core, step_ms);
	}
	if (stepped || steady->put_due)
		steady_put(core);
	steady->put_due = false;
	if (!stepped && slept_ns - steady->slept_ns < STEP_MS * NS_PER_MS)
		return;
	steady->slept_ns = slept_ns;
	timers_rekey(core);
	schedules_stepped(core);
}

/* As a row has it, or the longest that the wait can be from now on: another boot may have another wall clock. */
static int64_t due_clamp(struct core *core, struct job *job, int64_t longest_ms)
{
	int64_t latest_ms = due_after(core, longest_ms);

	if (job->when_ms <= latest_ms)
		return job->when_ms;
	job_touch(core, job, true);
	return latest_ms;
}

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

/* What a person has run again although its deadline had passed isn't ended by it. */
void deadline_reopen(struct core *core, struct job *job)
{
	struct rec_job_spec spec;
	struct deadline deadline;

	if (!(job->flags & JOB_DUE_BY))
		return;
	job_spec_decode(core, job, &spec);
	deadline = deadline_of(job, &spec);
	job->flags &= (uint32_t)~JOB_LATE;
	if ((deadline.due_ms && deadline.due_ms <= steady_ms(core)) ||
	    (deadline.date_ms && deadline.date_ms <= core->now.wall_ms))
		job->flags |= JOB_LATE;
	else
		deadline_arm(core, job);
}

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
		if (spec.always == ALWAYS_PAST_DEADLINE) {
			ending_deadline(core, job);
			return;
		}
	}
	job_out_of_time(core, job);
}

/* When it must have ended, on the wall clock as it is now; 0: nothing says so. */
int64_t deadline_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec)
{
	struct deadline deadline = deadline_of(job, spec);
	int64_t ending_ms = job_ending_ms(job);
	int64_t wall_ms;

	if (job->flags & JOB_LATE || spec->always == ALWAYS_PAST_DEADLINE)
		deadline = (struct deadline){ 0 };       /* it doesn't end this job */
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

/* Its timer stays where it is: due too early, it is set again. */
void dispatch_released(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (!(job->flags & JOB_TIMED))
		return;
	job_spec_decode(core, job, &spec);
	job->when_ms = due_after(core, (int64_t)spec.dispatch_timeout_ms);
	job_touch(core, job, true);
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

/* --- loading --- */

/* A store of an earlier version hasn't when a run time-out is due. */
static int64_t timeout_due(struct core *core, struct job *job, const struct rec_job_spec *spec)
{
	if (job->when_ms == 0) {
		job->when_ms = job->started_ms - core->steady.skew_ms + (int64_t)spec->timeout_ms;
		job_touch(core, job, true);
	}
	return due_clamp(core, job, (int64_t)spec->timeout_ms);
}

static int64_t delay_longest_ms(const struct rec_job_spec *spec)
{
	int64_t longest = backoff_longest_ms(spec);

	if ((int64_t)spec->delay_ms > longest)
		longest = (int64_t)spec->delay_ms;
	return (int64_t)spec->loop_delay_ms > longest ? (int64_t)spec->loop_delay_ms : longest;
}

void job_resume_timers(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	if (job->flags & JOB_DUE_BY && !(job->flags & JOB_LATE) && !state_terminal(job->state) &&
	    job->state != STATE_UNKNOWN)
		deadline_arm(core, job);
	ending_resume(core, job);
	if (job->state != STATE_DELAYED && !(job->state == STATE_APPROVAL && job->when_ms > 0) &&
	    !(job->state == STATE_READY && job->when_ms > 0) &&
	    !(job->state == STATE_RUNNING && job->flags & JOB_TIMEOUT))
		return;
	job_spec_decode(core, job, &spec);
	if (job->state == STATE_DELAYED)
		due_arm(core, job, TIMER_DUE, due_clamp(core, job, delay_longest_ms(&spec)), spec.not_before_ms);
	else if (job->state == STATE_APPROVAL)
		gate_timer_arm(core, job, due_clamp(core, job, (int64_t)spec.gate_timeout_ms));
	else if (job->state == STATE_READY)
		due_arm(core, job, TIMER_DISPATCH, due_clamp(core, job, (int64_t)spec.dispatch_timeout_ms), 0);
	else
		due_arm(core, job, TIMER_TIMEOUT, timeout_due(core, job, &spec), 0);
}

/* A run that was submitted in what is the future now, by a wall clock of another boot. */
void run_resume_clock(struct core *core, struct run *run)
{
	int64_t latest_ms = due_after(core, 0);
	int64_t then_ms = run->steady_ms;

	/* A store of an earlier version hasn't it. */
	if (then_ms == 0)
		then_ms = run->submitted_ms - core->steady.skew_ms;
	if (then_ms > latest_ms)
		then_ms = latest_ms;
	if (then_ms == run->steady_ms)
		return;
	run->steady_ms = then_ms;
	run_touch(core, run, true);
}
