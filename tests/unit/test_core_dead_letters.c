/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dead letters: what they contain, and what a discard changes. */
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

TEST letter_says_place_and_epoch_of_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	const struct row_dead *letter;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_run_one(rig, 3);
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	letter = &rig->tables[TABLE_dead].at[0].row.dead;
	row = rig_job(rig, 2);
	ASSERT_EQ(1, letter->place);
	ASSERT_EQ(2, letter->job);
	ASSERT(row.epoch > 0 && letter->epoch == (int64_t)row.epoch);
	ASSERT_EQ(OUTCOME_EXIT, letter->outcome);
	rig_free(rig);
	PASS();
}

/* A dead letter names the worker that was lost with the job. */
TEST letter_names_lost_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	const struct row_dead *letter;

	graph_job(&graph, "a", "")->crash_limit = 1;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	letter = &rig->tables[TABLE_dead].at[0].row.dead;
	ASSERT_EQ(DEAD_CRASH_LIMIT, letter->reason);
	ASSERT(slice_eq(slice_str("w"), letter->worker));
	rig_free(rig);
	PASS();
}

#define HOUR_MS INT64_C(3600000)

static size_t rows_of_run(const struct rig *rig, struct row rows[8])
{
	size_t count = 0;

	rows[count++] = rig->tables[TABLE_run].at[0].row;
	rows[count++] = rig->tables[TABLE_spec].at[0].row;
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		rows[count++] = rig->tables[TABLE_job].at[i].row;
	return count;
}

TEST late_discard_changes_nothing_else_of_run(void)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row rows[8];
	struct row_run before;
	const struct row_run *after;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_cancel(rig, 1, "");
	rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
	before = rig_run_row(rig, 1)->run;
	ASSERT(before.ended_ms > 0 && before.cancelled && before.dead == 1);
	core_sweep(rig->core, UINT64_MAX);
	rig_wait(rig, HOUR_MS);
	input.reopen = (struct input_reopen){ .act = { .verb = ACT_DISCARD, .run = 1 }, .rows = rows,
					      .row_count = rows_of_run(rig, rows) };
	rig_step(rig, &input);
	after = &rig_run_row(rig, 1)->run;
	ASSERT_EQ(0, after->dead);
	ASSERT_EQ(before.ended_ms, after->ended_ms);
	ASSERT_EQ(before.cancelled, after->cancelled);
	ASSERT_EQ(before.state, after->state);
	ASSERT(before.submitted_ms == after->submitted_ms && before.steady_ms == after->steady_ms);
	rig_free(rig);
	PASS();
}

TEST discard_of_run_takes_all_its_letters(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_run_one(rig, 0);
	rig_run_one(rig, 1);
	ASSERT_EQ(2, rig->tables[TABLE_dead].count);
	rig_act(rig, ACT_DISCARD, 1, "", 0);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	ASSERT_EQ(0, rig_run_row(rig, 1)->run.dead);
	rig_free(rig);
	PASS();
}

static uint64_t submit_like(struct rig *rig, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	wanted.name = job->name;
	wanted.argv = job->argv;
	*job = wanted;
	return rig_submit(rig, &graph);
}

/*
 * A run whose dead letter was discarded stays in memory until that is durable, because until then its rows in the store
 * are out of date.
 */
TEST discard_keeps_run_in_memory_until_durable(void)
{
	struct rig *rig = rig_new();
	struct rec_run_row row;
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_like(rig, (struct rec_job_spec){ 0 });
	rig_run_one(rig, 1);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	core_sweep(rig->core, rig->out.turn - 1);
	ASSERT(view_run(rig->core, run, &rig->arena, &row) && row.dead == 0);
	core_sweep(rig->core, rig->out.turn);
	ASSERT_FALSE(view_run(rig->core, run, &rig->arena, &row));
	rig_free(rig);
	PASS();
}

SUITE(dead_letters)
{
	RUN_TEST(letter_says_place_and_epoch_of_job);
	RUN_TEST(letter_names_lost_worker);
	RUN_TEST(late_discard_changes_nothing_else_of_run);
	RUN_TEST(discard_of_run_takes_all_its_letters);
	RUN_TEST(discard_keeps_run_in_memory_until_durable);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(dead_letters);
	GREATEST_MAIN_END();
}
