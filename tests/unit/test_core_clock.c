/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall clocks that are set, reboots and restores: which times are shown, what is due, and which epochs are given. */
#include "proto/dead.h"
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

#define HOUR_MS INT64_C(3600000)

/* Without a boot id, nobody can say whether the machine was off: the time that passed is taken from the wall clock. */
TEST restart_without_boot_id_goes_by_wall_clock(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig->config.boot_id = 0;
	rig_restart(rig);
	graph_job(&graph, "a", "")->delay_ms = HOUR_MS;
	rig_submit(rig, &graph);
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms += HOUR_MS / 2;
	rig_restart(rig);
	rig_pass(rig, HOUR_MS / 2 - 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/*
 * After a restore, attempts that were assigned after the backup may still run, so their epochs must not be given again.
 */
TEST restore_raises_upper_half_of_epochs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;

	graph_job(&graph, "a", "")->retry_max = 1;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	ASSERT_EQ(UINT64_C(1) << 32 | 1, attempt.epoch);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		if (slice_eq(rig->tables[TABLE_meta].at[i].row.meta.name, slice_str("generation")))
			rig->tables[TABLE_meta].at[i].row.meta.value = 2;
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_pass(rig, LIMIT_RETRY_BACKOFF_MS * 2);
	ASSERT_EQ(UINT64_C(2) << 32 | 2, rig_must_take(rig).epoch);
	rig_free(rig);
	PASS();
}

/* When the wall clock is set, intervals keep their length, and times are shown on the new clock. */
TEST times_are_shown_on_clock_that_was_set(int64_t by_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_lock_row lock = { 0 };
	struct rec_job_row row;

	graph_job(&graph, "a", "")->deadline_ms = 60000;
	graph_job(&graph, "b", "")->delay_ms = 60000;
	rig_submit(rig, &graph);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("db"), .span_ms = 60000 });
	rig->now.wall_ms += by_ms;
	rig_pass(rig, 1000);
	row = rig_job(rig, 1);
	ASSERT_EQ_FMT((long long)rig->now.wall_ms + 59000, (long long)row.deadline_ms, "%lld");
	row = rig_job(rig, 2);
	ASSERT_EQ_FMT((long long)rig->now.wall_ms + 59000, (long long)row.due_ms, "%lld");
	ASSERT(view_lock(rig->core, 0, &rig->arena, &lock) != 0);
	ASSERT_EQ_FMT((long long)rig->now.wall_ms + 59000, (long long)lock.until_ms, "%lld");
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("db"), .text = slice_str("bob") });
	ASSERT(rig_error_says(rig, ERR_BUSY, "for another 59"));
	rig_free(rig);
	PASS();
}

/* A wall clock that runs slightly slow isn't taken for one that was set, and a date is due when this clock shows it. */
TEST date_is_due_on_slow_wall_clock(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->not_before_ms = rig->now.wall_ms + 1000;
	rig_submit(rig, &graph);
	rig->now.wall_ms -= 50;
	rig_pass(rig, 1000);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 50);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* After a reboot with a clock that is behind, a delayed job and a gate wait no longer than was asked for. */
TEST reboot_with_earlier_clock_makes_no_wait_longer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "gate", "");

	gate->gate_count = 1;
	gate->gate_timeout_ms = 60000;
	gate->argv.n = 0;
	graph_job(&graph, "queued", "")->dispatch_timeout_ms = 60000;
	rig_submit(rig, &graph);
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms -= 500000;
	rig->config.boot_id++;
	rig_restart(rig);
	rig_pass(rig, 59999);
	ASSERT(rig_state(rig, 1) == STATE_APPROVAL && rig_state(rig, 2) == STATE_READY);
	rig_pass(rig, 1);
	ASSERT(rig_state(rig, 1) == STATE_DENIED && rig_state(rig, 2) == STATE_TIMED_OUT);
	rig_free(rig);
	PASS();
}

SUITE(clocks)
{
	RUN_TEST(restart_without_boot_id_goes_by_wall_clock);
	RUN_TEST(restore_raises_upper_half_of_epochs);
	RUN_TESTp(times_are_shown_on_clock_that_was_set, 3600000);
	RUN_TESTp(times_are_shown_on_clock_that_was_set, -500000);
	RUN_TEST(date_is_due_on_slow_wall_clock);
	RUN_TEST(reboot_with_earlier_clock_makes_no_wait_longer);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(clocks);
	GREATEST_MAIN_END();
}
