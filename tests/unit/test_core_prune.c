/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pruned runs: which runs may be pruned, when, and what is known of them afterwards. */
#include "tests/unit/core_prune.h"

/* Open a new round of an ended run, from its rows. */
static void rig_reopen(struct rig *rig, uint64_t run)
{
	struct row rows[64];
	size_t count = rows_of(rig, (int64_t)run, rows);
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = ++rig->request };

	for (size_t i = 0; i < rig->tables[TABLE_job].count && count < 64; i++)
		if (rig->tables[TABLE_job].at[i].row.job.run == (int64_t)run)
			rows[count++] = rig->tables[TABLE_job].at[i].row;
	input.reopen.act = (struct input_act){ .verb = ACT_RETRY, .run = run, .value = RETRY_ALL };
	input.reopen.rows = rows;
	input.reopen.row_count = count;
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	CHECK(rig->error.code == ERR_NONE);
}

TEST whole_run_is_pruned_in_a_turn(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 5), gone;
	bool rows = true;

	ASSERT(rows_left(rig, (int64_t)run) > 6);
	prune(rig, (int64_t)run);
	ASSERT_EQ(rows_left(rig, (int64_t)run), 0);
	ASSERT(view_pruned(rig->core, run, NULL));
	ASSERT_EQ(view_pruning_after(rig->core, 0, &rows), run);
	ASSERT_FALSE(rows);              /* the rule prunes only the logs of the run, not its rows */
	rig_restart(rig);
	ASSERT_EQ(view_pruning_after(rig->core, 0, &rows), run);
	gone = run;
	more(rig, &gone, 1);
	ASSERT_EQ(view_pruning_after(rig->core, 0, &rows), 0);
	ASSERT_EQ(rig->tables[TABLE_pruning].count, 0);
	ASSERT(view_pruned(rig->core, run, NULL));
	rig_free(rig);
	PASS();
}

TEST pruned_run_is_announced_to_watchers(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	size_t told = 0;

	prune(rig, (int64_t)run);
	ASSERT(view_pruned(rig->core, run, NULL));
	for (size_t i = 0; i < rig->out.change_count; i++)
		told += rig->out.changes[i].kind == CHANGED_RUN && rig->out.changes[i].id == run;
	ASSERT_EQ(1, told);
	rig_free(rig);
	PASS();
}

TEST live_and_recent_runs_stay(void)
{
	struct rig *rig = rig_new();
	uint64_t live = rig_submit_plain(rig, 2), ended = rig_submit_plain(rig, 2);
	struct row rows[64];
	struct core_input input;
	size_t count;

	count = rows_of(rig, (int64_t)live, rows);
	input = prune_of(rig, rows, count);
	rig_step(rig, &input);
	ASSERT(rig_run_row(rig, (int64_t)live));
	rig_cancel(rig, ended, NULL);
	/* The run has ended but is still in memory. */
	count = rows_of(rig, (int64_t)ended, rows);
	input = prune_of(rig, rows, count);
	rig_step(rig, &input);
	ASSERT(rig_run_row(rig, (int64_t)ended));
	ASSERT_FALSE(view_pruned(rig->core, ended, NULL));
	prune(rig, (int64_t)ended);
	ASSERT_FALSE(rig_run_row(rig, (int64_t)ended));
	rig_free(rig);
	PASS();
}

TEST rows_read_before_a_retry_prune_no_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2), other = ended_run(rig, 1);
	struct row rows[64];
	size_t count = rows_of(rig, (int64_t)run, rows);
	struct core_input input = prune_of(rig, rows, count);
	struct prune_rule rule = input.prune.rule;

	rig_reopen(rig, other);
	rig_cancel(rig, other, NULL);
	sweep(rig);
	ASSERT_EQ(view_prunable(rig->core, &rows[0].run, &rule), PRUNE_OLD_NEWS);
	rig_step(rig, &input);
	ASSERT(rig_run_row(rig, (int64_t)run));
	prune(rig, (int64_t)run);
	ASSERT_FALSE(rig_run_row(rig, (int64_t)run));
	rig_free(rig);
	PASS();
}

/*
 * The run's dead letter was discarded after its rows were read: pruning its logs from those rows would write the letter
 * again.
 */
TEST rows_read_before_a_discard_prune_no_logs(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 1);
	struct row rows[64];
	struct core_input input;

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	input = prune_of(rig, rows, rows_of(rig, (int64_t)run, rows));
	input.prune.rule.logs_only = input.prune.rule.dead = true;
	ASSERT_EQ(1, rows[0].run.dead);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	sweep(rig);
	rig_step(rig, &input);
	ASSERT_EQ(0, rig_run_row(rig, (int64_t)run)->run.dead);
	ASSERT_EQ(0, rig_run_row(rig, (int64_t)run)->run.logs_gone_ms);
	rig_free(rig);
	PASS();
}

/*
 * Rows that were read in the turn of the latest retry of any run are recent enough to prune their run. If they weren't,
 * an idle cluster would never prune.
 */
TEST rows_read_after_a_retry_prune_the_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2), other = ended_run(rig, 1);
	struct row rows[64];
	struct core_input input;

	rig_reopen(rig, other);
	input = prune_of(rig, rows, rows_of(rig, (int64_t)run, rows));
	ASSERT_EQ(view_prunable(rig->core, &rows[0].run, &input.prune.rule), PRUNE_GOES);
	rig_step(rig, &input);
	ASSERT(view_pruned(rig->core, run, NULL));
	rig_free(rig);
	PASS();
}

TEST runs_offered_together_go_together_and_no_other(void)
{
	struct rig *rig = rig_new();
	uint64_t one = ended_run(rig, 2), two = ended_run(rig, 3), third = ended_run(rig, 2);
	size_t count, left = rows_left(rig, (int64_t)third);
	struct row rows[64], behind[64];
	struct core_input input;

	count = rows_of(rig, (int64_t)one, rows);
	count += rows_of(rig, (int64_t)two, rows + count);
	ASSERT_EQ(2, rows_of(rig, (int64_t)third, behind));
	rows[count] = behind[1];         /* the store doesn't offer this row for pruning any more */
	input = prune_of(rig, rows, count);
	rig_step(rig, &input);
	ASSERT_EQ(0, rows_left(rig, (int64_t)one));
	ASSERT_EQ(0, rows_left(rig, (int64_t)two));
	ASSERT_EQ(left, rows_left(rig, (int64_t)third));
	ASSERT_FALSE(view_pruned(rig->core, third, NULL));
	rig_free(rig);
	PASS();
}

TEST runs_pruned_at_once_are_limited(void)
{
	struct rig *rig = rig_new();
	uint64_t last = 0, first = 1;

	rig->reload_every = 50;
	for (int i = 0; i < LIMIT_PRUNE_RUNS + 2; i++)
		last = ended_run(rig, 1);
	for (uint64_t run = first; run < last; run++)
		prune(rig, (int64_t)run);
	ASSERT(view_pruned(rig->core, last - 2, NULL));
	ASSERT_FALSE(view_pruned(rig->core, last - 1, NULL));
	ASSERT(rig_run_row(rig, (int64_t)last - 1));
	more(rig, &first, 1);
	prune(rig, (int64_t)last - 1);
	prune(rig, (int64_t)last);
	ASSERT(view_pruned(rig->core, last - 1, NULL));
	ASSERT_FALSE(view_pruned(rig->core, last, NULL));
	rig_free(rig);
	PASS();
}

TEST pruned_run_is_not_reopened(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	struct row rows[64];
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 9, .request = 1 };
	size_t count = rows_of(rig, (int64_t)run, rows);

	/* The bodies of the offered rows may be stale, because pruning looks at their numbers alone. */
	prune(rig, (int64_t)run);
	input.reopen.act = (struct input_act){ .verb = ACT_RETRY, .run = run, .value = RETRY_ALL };
	input.reopen.rows = rows;
	input.reopen.row_count = count;
	rig_step(rig, &input);
	ASSERT_EQ(rig->error.code, ERR_PRUNED);
	rig_free(rig);
	PASS();
}

TEST forgotten_key_makes_a_new_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run, again;

	rig->keys = 77;
	run = ended_run(rig, 1);
	rig->keys = 77;
	again = rig_submit_plain(rig, 1);
	ASSERT_EQ(again, run);           /* the same key */
	prune(rig, (int64_t)run);
	rig->keys = 77;
	again = rig_submit_plain(rig, 1);
	ASSERT(again > run);
	rig_restart(rig);
	rig->keys = 77;
	ASSERT_EQ(rig_submit_plain(rig, 1), again);
	rig_free(rig);
	PASS();
}

TEST logs_are_pruned_alone(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	struct row rows[64];
	struct core_input input, reopen = { .kind = INPUT_REOPEN, .conn = 9, .request = 1 };
	size_t count = rows_of(rig, (int64_t)run, rows);
	struct rec_run_row shown = { 0 };

	input = prune_of(rig, rows, count);
	input.prune.rule.logs_only = true;
	rig_step(rig, &input);
	ASSERT_FALSE(view_pruned(rig->core, run, NULL));
	ASSERT(rig_run_row(rig, (int64_t)run)->run.logs_gone_ms >= rig_run_row(rig, (int64_t)run)->run.ended_ms);
	count = rows_of(rig, (int64_t)run, rows);
	reopen.reopen.act = (struct input_act){ .verb = ACT_RETRY, .run = run, .value = RETRY_ALL };
	reopen.reopen.rows = rows;
	reopen.reopen.row_count = count;
	rig_step(rig, &reopen);
	ASSERT_EQ(rig->error.code, ERR_BUSY);
	more(rig, &run, 1);
	ASSERT_EQ(rig->tables[TABLE_pruning].count, 0);
	rig_reopen(rig, run);
	ASSERT_EQ(rig_run_row(rig, (int64_t)run)->run.ended_ms, 0);
	ASSERT(rig_run_row(rig, (int64_t)run)->run.logs_gone_ms > 0);
	ASSERT(view_run(rig->core, run, &rig->arena, &shown) && shown.logs_gone_ms > 0);
	rig_free(rig);
	PASS();
}

static enum prune_word word_of(const struct rig *rig, const struct row *run, bool logs_only)
{
	const struct prune_rule rule = { .as_of = rig->out.turn, .logs_only = logs_only };

	return view_prunable(rig->core, &run->run, &rule);
}

/* A sub-run is pruned only after the run around it has ended; its logs may be pruned earlier. */
TEST sub_run_stays_while_its_parent_run_is_live(void)
{
	struct rig *rig = rig_new();
	uint64_t outer = rig_submit_plain(rig, 1);
	struct row row = *rig_run_row(rig, (int64_t)ended_run(rig, 1));

	row.run.parent_run = (int64_t)outer;
	ASSERT_EQ(PRUNE_NEEDED, word_of(rig, &row, false));
	ASSERT_EQ(PRUNE_GOES, word_of(rig, &row, true));
	rig_cancel(rig, outer, NULL);
	ASSERT_EQ(PRUNE_GOES, word_of(rig, &row, false));
	sweep(rig);
	ASSERT_EQ(PRUNE_GOES, word_of(rig, &row, false));
	rig_free(rig);
	PASS();
}

/* The clock was set back after the run ended: its logs are gone all the same and aren't searched again. */
TEST logs_pruned_by_an_earlier_clock_are_gone(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	struct row rows[64];
	struct core_input input = prune_of(rig, rows, rows_of(rig, (int64_t)run, rows));

	rig->now.wall_ms -= 3600;
	input.prune.rule.logs_only = true;
	rig_step(rig, &input);
	more(rig, &run, 1);
	rows_of(rig, (int64_t)run, rows);
	ASSERT_EQ(PRUNE_GONE, word_of(rig, rows, true));
	rig_free(rig);
	PASS();
}

TEST pruned_logs_are_not_pruned_again(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	struct row rows[64], before[64];
	struct core_input input = prune_of(rig, rows, rows_of(rig, (int64_t)run, rows));

	ASSERT_EQ(PRUNE_GOES, word_of(rig, rows, true));
	input.prune.rule.logs_only = true;
	rig_step(rig, &input);
	rows_of(rig, (int64_t)run, rows);
	ASSERT_EQ(PRUNE_GONE, word_of(rig, rows, true));
	ASSERT_EQ(PRUNE_GONE, word_of(rig, rows, false));
	more(rig, &run, 1);
	/* The run ended and its logs were pruned within one millisecond. */
	ASSERT_EQ(rows[0].run.ended_ms, rows[0].run.logs_gone_ms);
	ASSERT_EQ(PRUNE_GONE, word_of(rig, rows, true));
	ASSERT_EQ(PRUNE_GOES, word_of(rig, rows, false));
	rows_of(rig, (int64_t)run, before);
	prune(rig, (int64_t)run);
	ASSERT_EQ(PRUNE_GONE, word_of(rig, before, false));
	more(rig, &run, 1);
	ASSERT_EQ(0, rig->tables[TABLE_pruning].count);
	ASSERT_EQ(PRUNE_GONE, word_of(rig, before, false));
	rig_free(rig);
	PASS();
}

TEST pruned_numbers_are_kept_by_day(void)
{
	struct rig *rig = rig_new();
	uint64_t runs[6];
	int64_t when;

	for (int i = 0; i < 6; i++)
		runs[i] = ended_run(rig, 1);
	prune(rig, (int64_t)runs[1]);
	prune(rig, (int64_t)runs[3]);
	ASSERT_EQ(rig->tables[TABLE_pruned].count, 2);
	prune(rig, (int64_t)runs[2]);
	ASSERT_EQ(rig->tables[TABLE_pruned].count, 1);
	rig_wait(rig, 86400000);
	prune(rig, (int64_t)runs[4]);
	ASSERT_EQ(rig->tables[TABLE_pruned].count, 2);
	prune(rig, (int64_t)runs[0]);
	ASSERT_EQ(rig->tables[TABLE_pruned].count, 3);
	rig_restart(rig);
	for (int i = 0; i < 5; i++)
		ASSERT(view_pruned(rig->core, runs[i], &when));
	ASSERT_FALSE(view_pruned(rig->core, runs[5], &when));
	ASSERT_EQ(view_ended_runs(rig->core), 1);
	rig_free(rig);
	PASS();
}

/* No two of the pruned numbers are neighbours; all are known after a restart. */
TEST scattered_pruned_numbers_are_kept_separately(void)
{
	struct rig *rig = rig_new();
	uint64_t runs[32];

	for (int i = 0; i < 32; i++)
		runs[i] = ended_run(rig, 1);
	for (int i = 1; i < 32; i += 2)
		prune(rig, (int64_t)runs[i]);
	ASSERT_EQ(16, rig->tables[TABLE_pruned].count);
	rig_restart(rig);
	for (int i = 0; i < 32; i++)
		ASSERT_EQ(i % 2 == 1, view_pruned(rig->core, runs[i], NULL));
	ASSERT_EQ(16, view_ended_runs(rig->core));
	rig_free(rig);
	PASS();
}

TEST history_is_pruned_up_to_now(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_PRUNE };
	struct rig_rows *events = &rig->tables[TABLE_event];
	uint64_t first, now;
	size_t count;

	for (int i = 0; i < 5; i++)
		ended_run(rig, 2);
	count = events->count;
	first = (uint64_t)events->at[0].row.event.turn;
	ASSERT(count > 4);
	input.prune.turns_from = first + 1;
	input.prune.turns_until = (uint64_t)events->at[2].row.event.turn;
	rig_step(rig, &input);
	ASSERT_EQ(count - 1, events->count);
	ASSERT_EQ((int64_t)first, events->at[0].row.event.turn);
	input.prune.turns_from = first;
	input.prune.turns_until = INT64_MAX;
	rig_step(rig, &input);
	ASSERT_EQ(0, events->count);
	now = rig->out.turn;
	ended_run(rig, 1);
	ASSERT(events->count > 0);
	ASSERT((uint64_t)events->at[0].row.event.turn > now);
	rig_free(rig);
	PASS();
}

SUITE(core_prune)
{
	RUN_TEST(whole_run_is_pruned_in_a_turn);
	RUN_TEST(pruned_run_is_announced_to_watchers);
	RUN_TEST(live_and_recent_runs_stay);
	RUN_TEST(rows_read_before_a_retry_prune_no_run);
	RUN_TEST(rows_read_before_a_discard_prune_no_logs);
	RUN_TEST(rows_read_after_a_retry_prune_the_run);
	RUN_TEST(runs_offered_together_go_together_and_no_other);
	RUN_TEST(runs_pruned_at_once_are_limited);
	RUN_TEST(pruned_run_is_not_reopened);
	RUN_TEST(forgotten_key_makes_a_new_run);
	RUN_TEST(logs_are_pruned_alone);
	RUN_TEST(sub_run_stays_while_its_parent_run_is_live);
	RUN_TEST(logs_pruned_by_an_earlier_clock_are_gone);
	RUN_TEST(pruned_logs_are_not_pruned_again);
	RUN_TEST(pruned_numbers_are_kept_by_day);
	RUN_TEST(scattered_pruned_numbers_are_kept_separately);
	RUN_TEST(history_is_pruned_up_to_now);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_prune);
	GREATEST_MAIN_END();
}
