/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The edges of acts: what a name names and what it doesn't, what is counted as changed, what an act on one thing
 * must leave as it was; and acts that nobody waits for an answer to.
 */
#include "tests/unit/core_rig.h"

static uint64_t submit_names(struct rig *rig, const char *const *names, size_t count)
{
	struct graph graph = { 0 };

	for (size_t i = 0; i < count; i++)
		graph_job(&graph, names[i], "");
	return rig_submit(rig, &graph);
}

static const struct row_run *run_row(const struct rig *rig, uint64_t run)
{
	return &rig_run_row(rig, (int64_t)run)->run;
}

static int64_t due_of_first(const struct rig *rig)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == 1)
			return rig->tables[TABLE_job].at[i].row.job.due_ms;
	CHECK(!"a row of the first job");
	return 0;
}

/* --- names --- */

TEST a_fan_out_ends_where_its_names_do(void)
{
	static const struct {
		const char *names[4];
		uint64_t held;
	} cases[] = {
		{ { "e[0]", "e[1]", "x[2]", "e[3]" }, 2 }, { { "x", "e[0]", "e[1]", "e[2]" }, 3 },
		{ { "e[0]", "f", "e[1]", "e[2]" }, 1 }, { { "e[0]", "ee[1]", "e[1]", "e[2]" }, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		uint64_t run = submit_names(rig, cases[i].names, 4);

		ASSERT(run != 0);
		rig_act(rig, ACT_HOLD, run, "e", 0);
		ASSERT_EQ_FMT((unsigned long)cases[i].held, (unsigned long)rig->ok.count, "%lu");
		rig_free(rig);
	}
	PASS();
}

TEST names_that_name_nothing(void)
{
	static const char *const names[] = { "e[0]", "e[1]" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	char name[LIMIT_NAME_MAX_LEN + 8];

	rig_act(rig, ACT_HOLD, run, "[*]", 0);
	ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
	rig_act(rig, ACT_HOLD, run, "east", 0);
	ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
	for (size_t len = LIMIT_NAME_MAX_LEN - 1; len < sizeof(name) - 1; len++) {
		memset(name, 'e', len);
		name[len] = '\0';
		rig_act(rig, ACT_HOLD, run, name, 0);
		ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
		ASSERT(rig->error.text.len < LIMIT_NAME_MAX_LEN + 40);
	}
	rig_free(rig);
	PASS();
}

TEST a_job_of_an_ended_run_has_ended_by_itself(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_PRIORITY, run, "a", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/a has already ended: succeeded"));
	rig_act(rig, ACT_PRIORITY, run, "", 7);  /* the run hasn't, though its first job has */
	ASSERT_EQ(1, rig->ok.count);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_PRIORITY, run, "b", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/b has already ended: succeeded"));
	rig_act(rig, ACT_PRIORITY, run, "", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "run 1 has already ended"));
	rig_cancel(rig, run, "b");
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/b has already ended: succeeded"));
	rig_free(rig);
	PASS();
}

TEST priorities_have_edges(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);

	rig_act(rig, ACT_PRIORITY, run, "a", 100);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "b", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "a", 101);
	ASSERT(rig_error_says(rig, ERR_INVALID, "0 to 100, not 101"));
	rig_act(rig, (enum act_verb)99, run, "a", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "an unknown act: 99"));
	rig_free(rig);
	PASS();
}

/* --- holding back --- */

/* Holding back is of what hasn't begun: a time-out of what runs goes on. */
TEST a_hold_moves_no_timeout_of_what_runs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;
	int64_t due_ms;

	graph_job(&graph, "a", "")->timeout_ms = 9000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	due_ms = due_of_first(rig);
	ASSERT_EQ(rig->now.wall_ms + 9000, due_ms);
	for (int whole = 0; whole < 2; whole++) {
		rig_pass(rig, 1000);
		rig_act(rig, ACT_HOLD, run, whole ? "" : "a", 0);
		ASSERT_EQ(due_ms, due_of_first(rig));
		rig_pass(rig, 1000);
		rig_act(rig, ACT_RELEASE, run, whole ? "" : "a", 0);
		ASSERT_EQ(due_ms, due_of_first(rig));
	}
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* What waits to be placed has its whole time again when it is let go, and not when it is held back. */
TEST letting_go_gives_the_whole_time_in_the_queue(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t first_ms, now_ms = rig->now.wall_ms;
	uint64_t run;

	graph_job(&graph, "a", "")->dispatch_timeout_ms = 9000;
	run = rig_submit(rig, &graph);
	first_ms = due_of_first(rig);
	for (int whole = 0; whole < 2; whole++) {
		rig_pass(rig, 1000);
		rig_act(rig, ACT_HOLD, run, whole ? "" : "a", 0);
		ASSERT_EQ(first_ms, due_of_first(rig));
		rig_pass(rig, 1000);
		rig_act(rig, ACT_RELEASE, run, whole ? "" : "a", 0);
		first_ms += 2000;
		ASSERT_EQ(first_ms, due_of_first(rig));
	}
	ASSERT_EQ(now_ms + 4000, rig->now.wall_ms);
	rig_pass(rig, 8999);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* A gate that is held back twice over asks again when the last hold is gone. */
TEST of_two_holds_on_a_gate_the_last_counts(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "qa", "")->gate_count = 1;
	graph.jobs[0].gate_timeout_ms = 5000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "qa", 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(0, rig_job(rig, 1).due_ms);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_act(rig, ACT_RELEASE, run, "qa", 0);
	ASSERT_EQ(0, rig_job(rig, 1).due_ms);
	rig_pass(rig, 9000);
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(rig->now.wall_ms + 5000, rig_job(rig, 1).due_ms);
	rig_free(rig);
	PASS();
}

/* --- cancelling --- */

TEST a_cancel_counts_what_it_changes(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "b");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, run_row(rig, run)->cancelled);      /* one of its jobs was */
	rig_cancel(rig, run, "a");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, NULL));
	rig_cancel(rig, run, "a");
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(0, rig_frames(rig, OP_STOP, NULL));
	rig_cancel(rig, run, "");                /* no job was left to cancel, and nothing may be added any more */
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(1, run_row(rig, run)->cancelled);
	rig_done(rig, attempt, OUTCOME_STOPPED, 0);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST a_cancelled_run_says_so(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "");
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(1, run_row(rig, run)->cancelled);
	rig_done(rig, attempt, OUTCOME_STOPPED, 0);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* A connection of 0: there is nobody to answer. */
TEST what_nobody_asked_for_is_not_answered(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	struct core_input act = { .kind = INPUT_ACT, .act = { .verb = ACT_PRIORITY, .run = run, .value = 3 } };
	struct core_input cancel = { .kind = INPUT_CANCEL, .cancel = { .run = run } };

	rig_step(rig, &act);
	ASSERT_EQ(0, rig_frames(rig, OP_OK, NULL));
	ASSERT_EQ(4, rig_job(rig, 1).priority);
	rig_step(rig, &cancel);
	ASSERT_EQ(0, rig_frames(rig, OP_OK, NULL));
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

SUITE(naming)
{
	RUN_TEST(a_fan_out_ends_where_its_names_do);
	RUN_TEST(names_that_name_nothing);
	RUN_TEST(a_job_of_an_ended_run_has_ended_by_itself);
	RUN_TEST(priorities_have_edges);
}

SUITE(acting)
{
	RUN_TEST(a_hold_moves_no_timeout_of_what_runs);
	RUN_TEST(letting_go_gives_the_whole_time_in_the_queue);
	RUN_TEST(of_two_holds_on_a_gate_the_last_counts);
	RUN_TEST(a_cancel_counts_what_it_changes);
	RUN_TEST(a_cancelled_run_says_so);
	RUN_TEST(what_nobody_asked_for_is_not_answered);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(naming);
	RUN_SUITE(acting);
	GREATEST_MAIN_END();
}
