/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the steady clock after loading, and corrects times in a turn in which a clock was set. */
#include "core/time/time.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/rows/durable.h"
#include "core/time/internal.h"

#define STEADY_LEAST_MS 1                /* lowest time: 0 means "none", and rows allow no negative times */

static void steady_put(struct core *core)
{
	meta_put(core, "steady_boot", core->steady.boot_id);
	meta_put(core, "steady_base_ms", (uint64_t)core->steady.base_ms);
	meta_put(core, "steady_skew_ms", (uint64_t)core->steady.skew_ms);
}

/* Continue the steady clock after loading. If the machine rebooted, only the wall clock knows how long it was off. */
void steady_begin(struct core *core)
{
	struct steady *steady = &core->steady;

	if (core->boot_id == 0 || steady->boot_id != core->boot_id) {
		steady->boot_id = core->boot_id;
		steady->base_ms = core->now.wall_ms - (PLANTED(skew_not_durable) ? 0 : steady->skew_ms) -
				  core->now.boot_ns / NS_PER_MS;
		/*
		 * If the wall clock was set back by decades at several boots, the steady clock would begin before
		 * 1970.
		 */
		if (steady_ms(core) < STEADY_LEAST_MS)
			steady->base_ms += STEADY_LEAST_MS - steady_ms(core);
		steady->put_due = true;
	}
	steady->slept_ns = core->now.boot_ns - core->now.mono_ns;
}

/*
 * The wall clock was stepped: move the start times of jobs that haven't ended by the same amount, in the turn that
 * notices the step.
 */
static void starts_step(struct core *core, int64_t step_ms)
{
	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		struct run *run = core->runs.at[i].run;

		if (!run || run->ended_ms != 0)
			continue;
		run_touch(core, run, false);     /* touched, so that clients learn the new submit time */
		for (struct job *job = run_job(run, 0); job && run->ended < run->job_count; job = job_next(job)) {
			int64_t started_ms = job->started_ms + step_ms;

			if (job->started_ms == 0 || (!state_holds(job->state) && job->state != STATE_UNKNOWN))
				continue;
			job->started_ms = number_sane(started_ms, 1) ? started_ms : 1;
			job_touch(core, job, true);
		}
	}
}

/*
 * Notice steps of the wall clock. Its distance from the steady clock is durable; otherwise a step would count as
 * elapsed time after the next boot.
 */
void steady_turn(struct core *core)
{
	struct steady *steady = &core->steady;
	int64_t skew_ms = core->now.wall_ms - steady_ms(core);
	int64_t step_ms = skew_ms - steady->skew_ms;
	int64_t slept_ns = core->now.boot_ns - core->now.mono_ns;
	bool stepped = clock_stepped(step_ms);

	if (stepped) {
		steady->skew_ms = skew_ms;
		starts_step(core, step_ms);
	}
	if (stepped || steady->put_due)
		steady_put(core);
	steady->put_due = false;
	if (!stepped && slept_ns - steady->slept_ns < CLOCK_STEP_MS * NS_PER_MS)
		return;
	steady->slept_ns = slept_ns;
	if (!stepped || !PLANTED(date_keeps_its_place))
		timers_rekey(core);
	schedules_stepped(core);
}
