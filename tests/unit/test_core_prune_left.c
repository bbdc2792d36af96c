/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that are pruned in several steps: what is left after each, and which rows a start refuses. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_prune.h"
#include "tests/unit/core_rows.h"

TEST large_run_is_pruned_in_pieces(void)
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

/* Offer these rows to the core in a turn that has room for so many changes. */
static void prune_room(struct rig *rig, const struct row *rows, size_t count, uint64_t room)
{
	struct core_input input = prune_of(rig, rows, count);

	input.prune.room = room;
	rig_step(rig, &input);
}

/* Prune one row per turn. Return the number of turns until none is left, or 0 if a turn pruned another number. */
static unsigned row_by_row(struct rig *rig, uint64_t run)
{
	unsigned turns = 0;
	bool rows = true;

	while (view_pruning_after(rig->core, run - 1, &rows) == run && rows) {
		size_t before = rows_left(rig, (int64_t)run);

		prune_room(rig, NULL, 0, 1);
		if (before - rows_left(rig, (int64_t)run) != 1)
			return 0;
		turns++;
	}
	return turns;
}

TEST turn_prunes_no_more_rows_than_it_has_room_for(void)
{
	struct rig *rig = rig_new();
	uint64_t one = ended_run(rig, 3), two = ended_run(rig, 2);
	struct row rows[64];
	size_t count = rows_of(rig, (int64_t)one, rows);

	count += rows_of(rig, (int64_t)two, rows + count);
	prune_room(rig, rows, count, 1);
	ASSERT(view_pruned(rig->core, one, NULL));
	ASSERT_EQ(4, rows_left(rig, (int64_t)one));      /* rows left of the pruned run: its graph and three jobs */
	ASSERT_FALSE(view_pruned(rig->core, two, NULL));
	ASSERT_EQ(4, row_by_row(rig, one));
	ASSERT_EQ(0, rows_left(rig, (int64_t)one));
	ASSERT(rig_run_row(rig, (int64_t)two));
	prune(rig, (int64_t)two);
	ASSERT_EQ(0, rows_left(rig, (int64_t)two));
	rig_free(rig);
	PASS();
}

static void grow_plain(struct rig *rig, uint64_t run, const char *one, const char *other)
{
	struct graph graph = { 0 };

	graph_job(&graph, one, "");
	graph_job(&graph, other, "");
	CHECK(grow(rig, run, &graph, "") != 0);
}

/* Between the run's first jobs and its added jobs are numbers of other runs' jobs, which must stay. */
TEST added_jobs_are_pruned_and_none_in_between(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 2), other;
	struct row rows[64];
	size_t left;

	grow_plain(rig, run, "a", "b");
	other = rig_submit_plain(rig, 3);
	grow_plain(rig, run, "c", "d");
	grow_plain(rig, run, "e", "f");
	rig_cancel(rig, run, NULL);
	rig_cancel(rig, other, NULL);
	sweep(rig);
	left = rows_left(rig, (int64_t)other);
	ASSERT(left > 4);
	prune_room(rig, rows, rows_of(rig, (int64_t)run, rows), 1);
	ASSERT_EQ(4 + 8, row_by_row(rig, run));
	ASSERT_EQ(0, rows_left(rig, (int64_t)run));
	ASSERT_EQ(left, rows_left(rig, (int64_t)other));
	rig_free(rig);
	PASS();
}

/* What is left is recorded in as few ranges as possible. */
TEST consecutive_jobs_are_one_range(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 2), other;
	struct row rows[64];

	grow_plain(rig, run, "a", "b");
	other = rig_submit_plain(rig, 1);
	grow_plain(rig, run, "c", "d");
	rig_cancel(rig, run, NULL);
	sweep(rig);
	prune_room(rig, rows, rows_of(rig, (int64_t)run, rows), 1);
	ASSERT_EQ(2 * 16, rig->tables[TABLE_pruning].at[0].row.pruning.jobs.len);
	ASSERT(rig_run_row(rig, (int64_t)other));
	rig_free(rig);
	PASS();
}

/* A part of a run written by an older version may have no jobs. */
TEST part_without_jobs_prunes_none(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 1);
	struct row rows[64];
	size_t count = rows_of(rig, (int64_t)run, rows);

	rows[1].spec.count = 0;
	prune_room(rig, rows, count, 1);
	ASSERT_EQ(0, rig->tables[TABLE_pruning].at[0].row.pruning.jobs.len);
	rig_restart(rig);
	rig_free(rig);
	PASS();
}

/* After a start the core doesn't know that logs were removed, so the runs stay listed until that is reported again. */
TEST start_keeps_runs_whose_logs_may_remain(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 2);
	bool rows = true;

	prune(rig, (int64_t)run);
	rig_restart(rig);
	more(rig, NULL, 0);
	ASSERT_EQ(run, view_pruning_after(rig->core, 0, &rows));
	ASSERT_FALSE(rows);
	more(rig, (uint64_t[]){ run + 1, run }, 2);      /* logs were removed of an unknown run, and of this one */
	ASSERT_EQ(0, view_pruning_after(rig->core, 0, &rows));
	rig_free(rig);
	PASS();
}

TEST logs_pruned_first_keep_the_run_going(void)
{
	struct rig *rig = rig_new();
	uint64_t run = ended_run(rig, 3);
	struct row rows[64];
	bool left = false;

	prune_room(rig, rows, rows_of(rig, (int64_t)run, rows), 1);
	more(rig, NULL, 0);
	ASSERT_EQ(run, view_pruning_after(rig->core, 0, &left)); /* the logs of the run are still to be removed */
	ASSERT_FALSE(left);
	more(rig, &run, 1);
	ASSERT_EQ(0, rig->tables[TABLE_pruning].count);
	run = ended_run(rig, 3);
	prune_room(rig, rows, rows_of(rig, (int64_t)run, rows), 1);
	{
		struct core_input input = { .kind = INPUT_PRUNE, .prune = { .gone = &run, .gone_count = 1, .room = 1 } };

		rig_step(rig, &input);
	}
	ASSERT_EQ(run, view_pruning_after(rig->core, 0, &left));
	ASSERT(left);
	more(rig, NULL, 0);
	ASSERT_EQ(0, rows_left(rig, (int64_t)run));
	ASSERT_EQ(0, rig->tables[TABLE_pruning].count);
	rig_free(rig);
	PASS();
}

/*
 * Make rows of four runs: 1 and 3 were pruned, with jobs 5 and 6 of run 3 left over; the logs of run 2 are being
 * removed; run 4 is whole.
 */
static struct rig *rig_half_way(void)
{
	struct rig *rig = rig_new();
	struct row rows[64];
	struct core_input input;
	uint64_t one;

	for (int i = 0; i < 4; i++)
		ended_run(rig, i < 2 ? 2 : 1 + (i == 2));
	one = 1;
	prune(rig, 1);
	more(rig, &one, 1);
	input = prune_of(rig, rows, rows_of(rig, 2, rows));
	input.prune.rule.logs_only = true;
	rig_step(rig, &input);
	prune_room(rig, rows, rows_of(rig, 3, rows), 1);
	return rig;
}

TEST contradictory_numbers_of_pruned_runs_are_refused(void)
{
	struct rig *rig = rig_half_way();
	struct row_pruned *one, *three;

	ASSERT_EQ(2, rig->tables[TABLE_pruned].count);
	one = &rig->tables[TABLE_pruned].at[0].row.pruned;
	three = &rig->tables[TABLE_pruned].at[1].row.pruned;
	ASSERT(says(rig, "loads"));
	WITH(one->first, 0, "pruned runs 0 to 1 are stored twice, or their numbers are above next_run");
	WITH(one->first, -1, "pruned runs -1 to 1 are stored twice, or their numbers are above next_run");
	WITH(one->first, 2, "pruned runs 2 to 1 are stored twice, or their numbers are above next_run");
	WITH(one->last, 0, "pruned runs 1 to 0 are stored twice, or their numbers are above next_run");
	WITH(one->last, 3, "pruned runs 3 to 3 are stored twice, or their numbers are above next_run");
	WITH(one->last, 4, "pruned runs 3 to 3 are stored twice, or their numbers are above next_run");
	WITH(three->first, 1, "pruned runs 1 to 3 are stored twice, or their numbers are above next_run");
	WITH(three->last, 5, "pruned runs 3 to 5 are stored twice, or their numbers are above next_run");
	WITH(three->last, INT64_MIN, "are stored twice, or their numbers are above next_run");
	/* Two ranges in the wrong order; also refused if one ends where the other begins. */
	one->first = one->last = 3;
	three->first = 2;
	ASSERT(says(rig, "pruned runs 2 to 3 are stored twice, or their numbers are above next_run"));
	rig_free(rig);
	PASS();
}

TEST contradictory_rests_of_pruned_runs_are_refused(void)
{
	static const char bad[] = "is being pruned, but its row contradicts itself";
	struct rig *rig = rig_half_way();
	struct row_pruning *three, *logs;

	ASSERT_EQ(2, rig->tables[TABLE_pruning].count);
	logs = &rig->tables[TABLE_pruning].at[0].row.pruning;
	three = &rig->tables[TABLE_pruning].at[1].row.pruning;
	ASSERT_EQ(3, three->run);
	ASSERT_EQ(1, three->parts);
	ASSERT_EQ(2, logs->run);
	ASSERT(says(rig, "loads"));
	WITH(logs->run, 0, bad);
	WITH(logs->run, -1, bad);
	WITH(logs->run, 5, bad);         /* refused: a row about a run number that was never given */
	WITH(logs->run, 1, bad);         /* refused: a row about the logs of a run that doesn't exist any more */
	WITH(logs->run, 3, bad);
	WITH(logs->parts, 1, bad);
	logs->part_cost = 1;
	WITH(logs->parts, 1, bad);
	WITH(logs->logs_only, 0, bad);
	WITH(three->run, 1, "loads");
	WITH(three->run, 2, bad);
	WITH(three->run, 4, bad);        /* refused: a row about the removal of a run that was never pruned */
	WITH(three->logs_only, 1, bad);
	WITH(three->parts, -1, bad);
	WITH(three->part_cost, -1, bad);
	WITH(three->part_cost, 0, bad);
	logs->jobs = three->jobs;
	ASSERT(says(rig, bad));
	logs->run = 3;
	logs->logs_only = 0;
	ASSERT(says(rig, bad));          /* refused: two rows about the same run */
	rig_free(rig);
	PASS();
}

static const char *with_range(struct rig *rig, uint64_t first, uint64_t end, size_t len)
{
	struct row_pruning *pruning = &rig->tables[TABLE_pruning].at[1].row.pruning;
	const struct slice jobs = pruning->jobs;
	uint8_t bytes[16];
	const char *text;

	for (int i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(first >> (8 * i));
		bytes[8 + i] = (uint8_t)(end >> (8 * i));
	}
	pruning->jobs = slice_make(bytes, len);
	text = load(rig, NULL);
	pruning->jobs = jobs;
	return text;
}

TEST jobs_that_never_existed_are_refused(void)
{
	static const char bad[] = "run 3 is being pruned, but its row names jobs that never existed";
	struct rig *rig = rig_half_way();

	ASSERT_STR_EQ("loads", with_range(rig, 5, 7, 16));
	ASSERT_STR_EQ("loads", with_range(rig, 1, 8, 16));
	ASSERT_STR_EQ(bad, with_range(rig, 0, 7, 16));
	ASSERT_STR_EQ(bad, with_range(rig, 6, 5, 16));
	ASSERT_STR_EQ(bad, with_range(rig, 5, 5, 16));
	ASSERT_STR_EQ(bad, with_range(rig, 5, 9, 16));
	ASSERT(strstr(with_range(rig, 5, 7, 15), "contradicts itself"));
	rig_free(rig);
	PASS();
}

SUITE(core_pruning)
{
	RUN_TEST(large_run_is_pruned_in_pieces);
	RUN_TEST(turn_prunes_no_more_rows_than_it_has_room_for);
	RUN_TEST(added_jobs_are_pruned_and_none_in_between);
	RUN_TEST(consecutive_jobs_are_one_range);
	RUN_TEST(part_without_jobs_prunes_none);
	RUN_TEST(start_keeps_runs_whose_logs_may_remain);
	RUN_TEST(logs_pruned_first_keep_the_run_going);
	RUN_TEST(contradictory_numbers_of_pruned_runs_are_refused);
	RUN_TEST(contradictory_rests_of_pruned_runs_are_refused);
	RUN_TEST(jobs_that_never_existed_are_refused);
}

/* Decisions on a run's gates are pruned with the run. */
TEST votes_are_pruned_with_their_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "ok", "");
	uint64_t run;

	job->argv = (struct slice_list){ 0 };
	job->gate_count = 1;
	job->gate_message = slice_str("Ship it?");
	run = rig_submit(rig, &graph);
	rig_act_as(rig, "bob", 2, ACT_APPROVE, run, "ok", 0);
	ASSERT_EQ(1, (int)rig->tables[TABLE_decision].count);
	prune(rig, (int64_t)run);
	ASSERT(view_pruned(rig->core, run, NULL));
	ASSERT_EQ(0, (int)rig->tables[TABLE_decision].count);
	rig_free(rig);
	PASS();
}

/* Logs of a run with dead letters stay, because the reader of a letter wants to see the job's output. */
TEST logs_of_a_run_with_dead_letters_stay(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 1);
	struct prune_rule rule = { .logs_only = true };
	struct row rows[64];

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	sweep(rig);
	rows_of(rig, (int64_t)run, rows);
	ASSERT_EQ(1, rows[0].run.dead);
	rule.as_of = rig->out.turn;
	ASSERT_EQ(PRUNE_LETTERS, view_prunable(rig->core, &rows[0].run, &rule));
	rule.dead = true;
	ASSERT_EQ(PRUNE_GOES, view_prunable(rig->core, &rows[0].run, &rule));
	rig_free(rig);
	PASS();
}

/* Rows read before a new round don't prune the run, even if it never left memory: it may have ended again since. */
TEST rows_read_before_a_new_round_prune_no_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run = rig_submit_plain(rig, 2);
	struct core_input input;
	struct row rows[64];

	rig_cancel(rig, run, NULL);
	input = prune_of(rig, rows, rows_of(rig, (int64_t)run, rows));
	rig_act(rig, ACT_RETRY, run, "j0", 0);
	rig_cancel(rig, run, NULL);
	sweep(rig);
	ASSERT_EQ(PRUNE_OLD_NEWS, view_prunable(rig->core, &rows[0].run, &input.prune.rule));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_pruning);
	RUN_TEST(votes_are_pruned_with_their_run);
	RUN_TEST(logs_of_a_run_with_dead_letters_stay);
	RUN_TEST(rows_read_before_a_new_round_prune_no_run);
	GREATEST_MAIN_END();
}
