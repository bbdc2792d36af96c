/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steady clock, for intervals: time since the machine booted, plus a base. The base is chosen so that the clock
 * continues across a reboot, as far as the wall clock can tell. Rows hold times of this clock, so setting the wall
 * clock moves none of them. Start times of live runs and jobs are shown by the present wall clock, so that "now minus
 * start" is the time that really passed.
 */
#include "core/time/time.h"

#include "core/graph/graph.h"
#include "core/time/internal.h"

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

bool clock_stepped(int64_t step_ms)
{
	return step_ms >= CLOCK_STEP_MS || step_ms <= -CLOCK_STEP_MS;
}

int64_t run_submitted_ms(const struct core *core, const struct run *run)
{
	int64_t now_ms = due_wall_ms(core, run->steady_ms);

	if (run->ended_ms != 0 || !clock_stepped(now_ms - run->submitted_ms))
		return run->submitted_ms;
	return now_ms > 0 ? now_ms : 1;
}

/* Correct a loaded run's submit time: it may be missing, or in the future by the clock of an earlier boot. */
void run_resume_clock(struct core *core, struct run *run)
{
	int64_t latest_ms = due_after(core, 0);
	int64_t then_ms = run->steady_ms;

	/* Stores of earlier versions lack steady_ms. */
	if (then_ms == 0)
		then_ms = run->submitted_ms - core->steady.skew_ms;
	if (then_ms > latest_ms)
		then_ms = latest_ms;
	if (then_ms == run->steady_ms)
		return;
	run->steady_ms = then_ms;
	run_touch(core, run, true);
}
