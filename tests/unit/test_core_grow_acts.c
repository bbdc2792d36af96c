/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts on a run or a sub-run reach the jobs that were added to it: priority, hold, cancel, retry, discard. */
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* Make a sub-run whose only job runs, and add a job "late" that needs it. Return the sub-run's number. */
static uint64_t grown_sub_run(struct rig *rig, enum exec_mode mode, uint64_t *ret_run)
{
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t child;

	graph_job(&inner, "x", "");
	sub_job(&graph, "sub", "", &inner);
	*ret_run = rig_submit(rig, &graph);
	child = child_of(rig, *ret_run, "sub");
	graph_job(&graph, "late", "")->mode = mode;
	CHECK(grow(rig, child, &graph, "") != 0);
	return child;
}

TEST cancel_of_sub_run_ends_unknown_added_job(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 2), run, child = grown_sub_run(rig, EXEC_ONCE, &run);

	for (int i = 0; i < 2; i++)
		rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, child, "late"));
	rig_cancel(rig, run, "sub");
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, child, "late"));
	rig_free(rig);
	PASS();
}

TEST priority_of_sub_run_reaches_added_job(void)
{
	struct rig *rig = rig_new();
	uint64_t run, child = grown_sub_run(rig, EXEC_RETRY, &run);

	rig_act(rig, ACT_PRIORITY, run, "sub", 70);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_EQ(71, rig_job(rig, rig_named(rig, child, "x")).priority);
	ASSERT_EQ(71, rig_job(rig, rig_named(rig, child, "late")).priority);
	rig_free(rig);
	PASS();
}

/* The priority also holds after a restart. */
TEST priority_of_sub_run_is_that_of_jobs_added_later(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child = grown_sub_run(rig, EXEC_RETRY, &run);

	rig_act(rig, ACT_PRIORITY, run, "sub", 90);
	ASSERT_EQ(3, rig->ok.count);
	rig_restart(rig);
	graph_job(&graph, "later", "");
	ASSERT(grow(rig, child, &graph, "") != 0);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child, "late")).priority);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child, "later")).priority);
	rig_free(rig);
	PASS();
}

/* Make a run in which only an added job failed. */
static uint64_t failed_run(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "open", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	graph_job(&graph, "late", "");
	CHECK(grow(rig, run, &graph, "") != 0);
	CHECK(rig_run_one(rig, 0) && rig_run_one(rig, 0) && rig_run_one(rig, 3));
	return run;
}

TEST discard_of_run_takes_letter_of_added_job(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig);

	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	rig_free(rig);
	PASS();
}

TEST retry_of_run_opens_added_job(void)
{
	for (uint64_t scope = RETRY_FAILED; scope <= RETRY_ALL; scope += RETRY_ALL - RETRY_FAILED) {
		struct rig *rig = rig_new();
		uint64_t run = failed_run(rig);

		rig_act(rig, ACT_RETRY, run, "", scope);
		ASSERT_EQ(scope == RETRY_ALL ? 3 : 1, rig->ok.count);
		ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "late")).round);
		rig_free(rig);
	}
	PASS();
}

TEST added_job_stays_forgiven_over_restart(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	graph_job(&graph, "late", "")->continue_on = CONTINUE_FAILED;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_must_take(rig);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "late"));
	ASSERT(rig_job(rig, 2).forgiven);
	rig_restart(rig);
	ASSERT(rig_job(rig, 2).forgiven);
	rig_hello(rig, "w", 1);
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	rig_run_one(rig, 0);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST hold_of_run_stops_expiry_of_added_gate(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	job = graph_job(&graph, "late", "");
	job->gate_count = 1;
	job->gate_timeout_ms = 60000;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_pass(rig, 60001);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "late"));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	rig_pass(rig, 60001);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "late"));
	rig_free(rig);
	PASS();
}

/* When the run was held, its limit of active jobs left no room for the added job; at the release there is room. */
TEST release_of_run_starts_added_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig->max_jobs = 1;
	rig_hello(rig, "w", 2);
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	graph_job(&graph, "late", "");
	ASSERT(grow(rig, run, &graph, "") != 0);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(rig_named(rig, run, "late"), rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST hold_of_run_holds_sub_run_of_added_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	graph_job(&inner, "x", "");
	sub_job(&graph, "late", "", &inner);
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT(child_of(rig, run, "late") != 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_hello(rig, "w", 2);
	ASSERT_EQ(0, rig_run_all(rig));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(2, rig_run_all(rig));
	rig_free(rig);
	PASS();
}

/* A cancel also reaches a sub-run of a sub-run. */
TEST cancel_ends_unknown_job_of_nested_sub_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 }, innermost = { 0 };
	uint64_t conn = rig_hello(rig, "w", 1), run, job;

	graph_job(&innermost, "x", "")->mode = EXEC_ONCE;
	sub_job(&inner, "mid", "", &innermost);
	sub_job(&graph, "sub", "", &inner);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	job = rig_named(rig, child_of(rig, run, "sub"), "mid");
	job = rig_named(rig, rig_job(rig, job).child, "x");
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, job));
	rig_cancel(rig, run, "sub");
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, job));
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* A retry lets a cancelled run grow again, even while the last cancelled job is still being stopped. */
TEST retried_job_lets_cancelled_run_grow(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_cancel(rig, run, "");
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a"));
	graph_job(&graph, "c", "");
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "was cancelled"));
	rig_act(rig, ACT_RETRY, run, "b", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	graph_job(&graph, "c", "");
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_EQ(0, rig_run_row(rig, (int64_t)run)->run.cancelled);
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

/* The gate is asked again, because a job was added behind it that would go by the old answer. */
TEST retry_asks_used_gate_again_for_added_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "x", "");
	gate_job(&graph, "ok", "");
	graph_job(&graph, "b", "ok");
	rig_hello(rig, "w", 2);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	rig_started(rig, rig_must_take(rig));
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "b"));
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_PENDING, "asking gate ok again would change nothing, because a job that it let run hasn't ended: b is running"));
	need_old(added(&graph, "c", 0, TRIGGER_OK), 1, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "ok x") != 0);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c"));
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST retry_sends_added_child_back_to_waiting(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "x", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_started(rig, rig_must_take(rig));
	added(&graph, "c", 0, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "a") != 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "c"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c"));
	rig_free(rig);
	PASS();
}

SUITE(grow_acts)
{
	RUN_TEST(cancel_of_sub_run_ends_unknown_added_job);
	RUN_TEST(priority_of_sub_run_reaches_added_job);
	RUN_TEST(priority_of_sub_run_is_that_of_jobs_added_later);
	RUN_TEST(discard_of_run_takes_letter_of_added_job);
	RUN_TEST(retry_of_run_opens_added_job);
	RUN_TEST(added_job_stays_forgiven_over_restart);
	RUN_TEST(hold_of_run_stops_expiry_of_added_gate);
	RUN_TEST(release_of_run_starts_added_job);
	RUN_TEST(hold_of_run_holds_sub_run_of_added_job);
	RUN_TEST(cancel_ends_unknown_job_of_nested_sub_run);
	RUN_TEST(retried_job_lets_cancelled_run_grow);
	RUN_TEST(retry_asks_used_gate_again_for_added_job);
	RUN_TEST(retry_sends_added_child_back_to_waiting);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(grow_acts);
	GREATEST_MAIN_END();
}
