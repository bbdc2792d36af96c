/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of ended runs and of their jobs: what changes them, and where they come from at a start. */
#include "tests/unit/core_prune.h"

static struct core_totals totals_of(const struct rig *rig)
{
	struct core_totals totals;

	view_totals(rig->core, &totals);
	return totals;
}

TEST ended_runs_are_counted_and_pruned_ones_are_not(void)
{
	struct rig *rig = rig_new();
	uint64_t first = ended_run(rig, 3);

	ended_run(rig, 2);
	ASSERT_EQ(2, totals_of(rig).ended_runs[RUN_CANCELLED]);
	ASSERT_EQ(5, totals_of(rig).ended_jobs[STATE_CANCELLED]);
	ASSERT_EQ(0, totals_of(rig).counts[STATE_CANCELLED]);
	prune(rig, (int64_t)first);
	ASSERT_EQ(1, totals_of(rig).ended_runs[RUN_CANCELLED]);
	ASSERT_EQ(2, totals_of(rig).ended_jobs[STATE_CANCELLED]);
	rig_restart(rig);
	ASSERT_EQ(1, totals_of(rig).ended_runs[RUN_CANCELLED]);
	ASSERT_EQ(2, totals_of(rig).ended_jobs[STATE_CANCELLED]);
	rig_free(rig);
	PASS();
}

TEST run_that_ended_a_moment_ago_is_counted_once(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 3);

	ASSERT_EQ(3, totals_of(rig).counts[STATE_READY]);
	rig_cancel(rig, run, NULL);      /* the run is still in memory until its end is durable */
	ASSERT_EQ(0, totals_of(rig).counts[STATE_CANCELLED]);
	ASSERT_EQ(3, totals_of(rig).ended_jobs[STATE_CANCELLED]);
	rig_free(rig);
	PASS();
}

TEST run_that_lives_again_is_not_counted_as_ended(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 3);

	rig_cancel(rig, run, NULL);
	ASSERT_EQ(1, totals_of(rig).ended_runs[RUN_CANCELLED]);
	rig_act(rig, ACT_RETRY, run, "", RETRY_ALL);
	ASSERT_EQ(0, totals_of(rig).ended_runs[RUN_CANCELLED]);
	ASSERT_EQ(0, totals_of(rig).ended_jobs[STATE_CANCELLED]);
	ASSERT_EQ(3, totals_of(rig).counts[STATE_READY]);
	rig_free(rig);
	PASS();
}

static bool is_sum(const struct row *row)
{
	return row->table == TABLE_meta && row->meta.name.len > 6 && memcmp(row->meta.name.data, "ended_", 6) == 0;
}

/* A store of an older master has no sums, and its ended runs are read once. */
TEST ended_runs_of_a_store_without_sums_are_added_up(void)
{
	struct rig *rig = rig_new();
	struct core *core;
	struct core_totals totals;
	struct outbox outbox = { 0 };
	struct error error = { 0 };
	bool put = false;

	ended_run(rig, 3);
	core = core_new(&rig->config);
	for (int table = 0; table < TABLE_COUNT; table++)
		for (size_t i = 0; i < rig->tables[table].count; i++) {
			const struct row *row = &rig->tables[table].at[i].row;

			if (!is_sum(row) && (table == TABLE_run || rig_row_live(rig, row)))
				ASSERT_EQ(ERR_NONE, core_load_row(core, row, &error));
		}
	ASSERT_EQ(ERR_NONE, core_load_end(core, rig->now, &outbox, &error));
	view_totals(core, &totals);
	ASSERT_EQ(1, totals.ended_runs[RUN_CANCELLED]);
	ASSERT_EQ(3, totals.ended_jobs[STATE_CANCELLED]);
	for (size_t i = 0; i < outbox.row_count; i++)
		put |= outbox.rows[i].table == TABLE_meta && slice_eq(outbox.rows[i].meta.name, slice_str("ended_runs"));
	ASSERT(put);
	outbox_free(&outbox);
	core_free(core);
	rig_free(rig);
	PASS();
}

SUITE(ended_sums)
{
	RUN_TEST(ended_runs_are_counted_and_pruned_ones_are_not);
	RUN_TEST(run_that_ended_a_moment_ago_is_counted_once);
	RUN_TEST(run_that_lives_again_is_not_counted_as_ended);
	RUN_TEST(ended_runs_of_a_store_without_sums_are_added_up);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ended_sums);
	GREATEST_MAIN_END();
}
