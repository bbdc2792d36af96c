/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts on sub-runs and their jobs: priority, hold, cancel, additions; and what stays when they end. */
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

TEST job_of_sub_run_keeps_its_own_priority(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run, child;

	graph_job(&inner, "x", "");
	graph_job(&inner, "y", "")->priority = 21;
	sub_job(&graph, "s", "", &inner)->priority = 91;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "s");
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child, "x")).priority);
	ASSERT_EQ(21, rig_job(rig, rig_named(rig, child, "y")).priority);
	rig_free(rig);
	PASS();
}

TEST stopping_sub_run_refuses_additions(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w", 1);
	sub_plain(&graph, "s", "");
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "s");
	rig_started(rig, rig_must_take(rig));
	rig_cancel(rig, run, "s");
	ASSERT_EQ(STATE_STOPPING, named(rig, run, "s"));
	graph_job(&graph, "more", "");
	ASSERT_EQ(0, grow(rig, child, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "was cancelled"));
	rig_free(rig);
	PASS();
}

/* A hold between two tries reaches the next try, which has another sub-run. */
TEST hold_between_tries_holds_next_sub_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&inner, "x", "");
	job = sub_job(&graph, "sub", "", &inner);
	job->retry_max = 1;
	job->backoff_ms = 1000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "sub"));
	rig_gone(rig, rig->conn);
	rig_pass(rig, 2000);
	rig_act(rig, ACT_HOLD, run, "sub", 0);
	ASSERT_EQ(2, rig->ok.count);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(0, rig_run_all(rig));
	rig_act(rig, ACT_RELEASE, run, "sub", 0);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "sub"));
	rig_free(rig);
	PASS();
}

static bool run_held(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = { 0 };

	CHECK(view_run(rig->core, run, &rig->arena, &row));
	return row.held;
}

TEST hold_and_priority_reach_nested_sub_runs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, middle = { 0 }, inner = { 0 };
	uint64_t run, within;

	graph_job(&inner, "x", "");
	sub_job(&middle, "deep", "", &inner);
	sub_job(&graph, "build", "", &middle);
	run = rig_submit(rig, &graph);
	within = child_of(rig, child_of(rig, run, "build"), "deep");
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT(run_held(rig, within));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_FALSE(run_held(rig, within));
	rig_act(rig, ACT_PRIORITY, run, "build", 77);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_EQ(77 + 1, rig_job(rig, rig_named(rig, within, "x")).priority);
	rig_free(rig);
	PASS();
}

TEST job_added_to_sub_run_has_its_priority(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	sub_plain(&graph, "build", "")->priority = 91;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	graph_job(&graph, "more", "");
	ASSERT(grow(rig, child, &graph, "") != 0);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child, "more")).priority);
	rig_free(rig);
	PASS();
}

/* An ended sub-run can't be held, and its dead letter can't be requeued: no job waits for it any more. */
TEST ended_sub_run_is_neither_held_nor_requeued(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w", 1);
	sub_plain(&graph, "build", "")->retry_max = 1;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "build"));
	rig_act(rig, ACT_HOLD, run, "build", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_FALSE(run_held(rig, child));
	rig_act(rig, ACT_REQUEUE, child, "x", 0);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "and that job no longer waits for the run; retry that job instead"));
	ASSERT_EQ(STATE_FAILED, named(rig, child, "x"));
	rig_free(rig);
	PASS();
}

static void two(struct graph *graph)
{
	graph_job(graph, "x", "");
	graph_job(graph, "y", "");
}

/* A sub-run's end follows from its jobs: it is cancelled if all of them were, even one by one. */
TEST sub_run_is_cancelled_if_its_jobs_were(void)
{
	for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 }, inner = { 0 };
		uint64_t run, child;

		rig_hello(rig, "w", 1);
		two(&inner);
		sub_job(&graph, "build", "", &inner)->retry_max = 1;
		run = rig_submit(rig, &graph);
		child = child_of(rig, run, "build");
		rig_run_one(rig, one_by_one ? 0 : 7);
		if (one_by_one) {
			rig_cancel(rig, child, "y");
			rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
		} else {
			rig_cancel(rig, child, "");
			rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
		}
		ASSERT_EQ(one_by_one ? STATE_FAILED : STATE_DELAYED, named(rig, run, "build"));
		ASSERT_EQ(one_by_one ? 2 : 1, rig_job(rig, rig_named(rig, run, "build")).code);
		rig_free(rig);
	}
	PASS();
}

TEST ended_sub_run_job_keeps_its_start_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	int64_t began_ms;
	uint64_t run;

	sub_plain(&graph, "build", "");
	run = rig_submit(rig, &graph);
	began_ms = rig_job(rig, rig_named(rig, run, "build")).started_ms;
	ASSERT(began_ms > 0);
	rig_pass(rig, 5000);
	rig_hello(rig, "w", 1);
	rig_run_all(rig);
	row = rig_job(rig, rig_named(rig, run, "build"));
	ASSERT_EQ(STATE_SUCCEEDED, (enum job_state)row.state);
	ASSERT(row.started_ms == began_ms && row.ended_ms >= began_ms + 5000);
	rig_free(rig);
	PASS();
}

/* The jobs of a sub-run, old and new ones, take over the parent job's priority, at any depth. */
TEST jobs_of_sub_run_have_priority_of_parent_job(void)
{
	static const uint64_t priorities[] = { 0, 1, 50, 100 };

	for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run, child;

		sub_plain(&graph, "build", "")->priority = priorities[i] + 1;
		run = rig_submit(rig, &graph);
		child = child_of(rig, run, "build");
		ASSERT_EQ(priorities[i] + 1, rig_job(rig, rig_named(rig, child, "y")).priority);
		rig_act(rig, ACT_PRIORITY, run, "build", 100 - priorities[i]);
		ASSERT_EQ(101 - priorities[i], rig_job(rig, rig_named(rig, child, "y")).priority);
		rig_free(rig);
	}
	PASS();
}

/* A forgiven failure in a sub-run is a success for the parent job, and in the sub-run's row. */
TEST forgiven_failure_in_sub_run_is_success_of_parent_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w", 1);
	graph_job(&inner, "x", "")->continue_on = CONTINUE_FAILED;
	sub_job(&graph, "build", "", &inner);
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_FAILED, named(rig, child, "x"));
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "build"));
	ASSERT_EQ(RUN_SUCCEEDED, (enum run_state)rig_run_row(rig, (int64_t)child)->run.state);
	ASSERT_EQ(1, rig_run_row(rig, (int64_t)child)->run.forgiven);
	rig_free(rig);
	PASS();
}

SUITE(subrun_acts)
{
	RUN_TEST(job_of_sub_run_keeps_its_own_priority);
	RUN_TEST(stopping_sub_run_refuses_additions);
	RUN_TEST(hold_between_tries_holds_next_sub_run);
	RUN_TEST(hold_and_priority_reach_nested_sub_runs);
	RUN_TEST(job_added_to_sub_run_has_its_priority);
	RUN_TEST(ended_sub_run_is_neither_held_nor_requeued);
	RUN_TEST(sub_run_is_cancelled_if_its_jobs_were);
	RUN_TEST(ended_sub_run_job_keeps_its_start_time);
	RUN_TEST(jobs_of_sub_run_have_priority_of_parent_job);
	RUN_TEST(forgiven_failure_in_sub_run_is_success_of_parent_job);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(subrun_acts);
	GREATEST_MAIN_END();
}
