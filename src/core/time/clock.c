/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clock of intervals. It is the time since the machine's boot plus a base, which is chosen so that the clock goes on
 * over a reboot as far as the wall clock says. Rows hold times of this clock; a wall clock that is set moves none of them.
 * What began on the wall clock and hasn't ended is told by the wall clock as it is now, so that the time since then is the
 * time that passed.
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
