/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that are removed for good: which may go, in which pieces, and what a restart in between makes of it. */
#include "core_rig.h"

/* The row of a run that has ended and its specification's, as the store has them. */
static size_t rows_of(const struct rig *rig, int64_t run, struct row rows[64])
{
	size_t count = 0;

	rows[count++] = *rig_run_row(rig, run);
	for (size_t i = 0; i < rig->tables[TABLE_spec].count && count < 64; i++)
		if (rig->tables[TABLE_spec].at[i].row.spec.run == run)
			rows[count++] = rig->tables[TABLE_spec].at[i].row;
	return count;
}

static uint64_t rig_submit_plain(struct rig *rig, size_t jobs)
{
	struct graph graph = { 0 };
	char name[32];

	for (size_t i = 0; i < jobs; i++) {
		snprintf(name, sizeof(name), "j%zu", i);
		graph_job(&graph, arena_strdup(&graph.arena, slice_str(name)), "");
	}
	return rig_submit(rig, &graph);
}

/* A new round of it, from its rows. */
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

static struct core_input prune_of(struct rig *rig, const struct row *rows, size_t count)
{
	struct core_input input = { .kind = INPUT_PRUNE };

	input.prune.rows = rows;
	input.prune.row_count = count;
	input.prune.rule.as_of = rig->out.turn;
	return input;
}

static void sweep(struct rig *rig)
{
	core_sweep(rig->core, rig->out.turn);
}

static void prune(struct rig *rig, int64_t run)
{
	struct row rows[64];
	struct core_input input;

	sweep(rig);
	input = prune_of(rig, rows, rows_of(rig, run, rows));
	rig_step(rig, &input);
}

static void more(struct rig *rig, const uint64_t *gone, size_t gone_count)
{
	struct core_input input = { .kind = INPUT_PRUNE };

	input.prune.gone = gone;
	input.prune.gone_count = gone_count;
	rig_step(rig, &input);
}

static size_t rows_left(const struct rig *rig, int64_t run)
{
	size_t count = rig_run_row(rig, run) != NULL;

	for (size_t i = 0; i < rig->tables[TABLE_spec].count; i++)
		count += rig->tables[TABLE_spec].at[i].row.spec.run == run;
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		count += rig->tables[TABLE_job].at[i].row.job.run == run;
	for (size_t i = 0; i < rig->tables[TABLE_submit_key].count; i++)
		count += rig->tables[TABLE_submit_key].at[i].row.submit_key.run == run;
	for (size_t i = 0; i < rig->tables[TABLE_dead].count; i++)
		count += rig->tables[TABLE_dead].at[i].row.dead.run == run;
	return count;
}

static uint64_t ended_run(struct rig *rig, size_t jobs)
{
	uint64_t run = rig_submit_plain(rig, jobs);

	rig_cancel(rig, run, NULL);
	sweep(rig);
	return run;
}

TEST whole_run_goes_in_a_turn(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 5), gone;
	bool rows = true;

	ASSERT(rows_left(rig, (int64_t)run) > 6);
	prune(rig, (int64_t)run);
	ASSERT_EQ(rows_left(rig, (int64_t)run), 0);
	ASSERT(view_pruned(rig->core, run, NULL));
	ASSERT_EQ(view_pruning_after(rig->core, 0, &rows), run);
	ASSERT_FALSE(rows);              /* only its logs */
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

TEST large_run_goes_in_pieces(void)
{
	struct rig *rig = rig_new();
	uint64_t run;
	unsigned turns = 0;
	bool rows = true;

	rig->reload_every = 0;
	run = ended_run(rig, 3000);
	rig->reload_every = 1;
	prune(rig, (int64_t)run);
	ASSERT(view_pruned(rig->core, run, NULL));
	ASSERT_EQ(NULL, rig_run_row(rig, (int64_t)run));
	while (view_pruning_after(rig->core, 0, &rows) && rows) {
		size_t before = rows_left(rig, (int64_t)run);

		if (turns++ == 2)
			rig_restart(rig);
		more(rig, NULL, 0);
		ASSERT(before - rows_left(rig, (int64_t)run) <= LIMIT_PRUNE_ROWS);
		ASSERT(turns < 100);
	}
	ASSERT(turns >= 5);
	ASSERT_EQ(rows_left(rig, (int64_t)run), 0);
	rig_free(rig);
	PASS();
}

TEST live_and_recent_stay(void)
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
	/* It has ended, and not left memory. */
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

TEST rows_read_before_a_retry_are_old_news(void)
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

TEST pruned_run_is_not_reopened(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	struct row rows[64];
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 9, .request = 1 };
	size_t count = rows_of(rig, (int64_t)run, rows);

	/* The bytes behind the rows go with them here; only their numbers are looked at. */
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

TEST logs_alone(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	struct row rows[64];
	struct core_input input, reopen = { .kind = INPUT_REOPEN, .conn = 9, .request = 1 };
	size_t count = rows_of(rig, (int64_t)run, rows);

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
	rig_free(rig);
	PASS();
}

TEST numbers_are_kept_by_day(void)
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

SUITE(core_prune)
{
	RUN_TEST(whole_run_goes_in_a_turn);
	RUN_TEST(large_run_goes_in_pieces);
	RUN_TEST(live_and_recent_stay);
	RUN_TEST(rows_read_before_a_retry_are_old_news);
	RUN_TEST(pruned_run_is_not_reopened);
	RUN_TEST(forgotten_key_makes_a_new_run);
	RUN_TEST(logs_alone);
	RUN_TEST(numbers_are_kept_by_day);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_prune);
	GREATEST_MAIN_END();
}
