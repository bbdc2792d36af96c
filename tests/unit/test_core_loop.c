/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops: what ends them, their limit, waits, retries within a pass, time-outs, rounds, restarts, sub-runs. */
#include "tests/unit/core_sub.h"

#include "proto/expr.h"

static struct slice code_of(struct graph *graph, struct expr_step step, bool negate)
{
	struct buf code = { 0 };
	struct slice copy;

	expr_put(&code, step);
	if (negate)
		expr_put(&code, (struct expr_step){ .op = EXPR_NOT });
	copy = arena_copy(&graph->arena, buf_slice(&code));
	buf_free(&code);
	return copy;
}

static struct rec_job_spec *loop_job(struct graph *graph, const char *name, const char *needs, uint64_t max)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->loop_max = max;
	job->loop_code = code_of(graph, (struct expr_step){ EXPR_CODE, 0, EXPR_EQ, 3 }, false);
	job->loop_until = slice_str("code == 3");
	return job;
}

static uint64_t pass_of(struct rig *rig, uint64_t run, const char *name)
{
	return rig_job(rig, rig_named(rig, run, name)).pass;
}

/* The pass number in the environment of the attempt; 0: it has none. */
static unsigned told(struct rig *rig, struct outgoing *frame)
{
	struct rec_job_spec spec;
	struct slice bytes = frame->assign.spec;

	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	for (size_t i = 0; i < spec.env.n; i++)
		if (spec.env.at[i].len == 17 && memcmp(spec.env.at[i].data, "TITAN_ITERATION=", 16) == 0)
			return (unsigned)spec.env.at[i].data[16] - '0';
	return 0;
}

TEST loop_passes_until_condition_holds(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing frame;
	uint64_t run;

	rig_hello(rig, "w1", 2);
	loop_job(&graph, "poll", "", 5);
	graph_job(&graph, "after", "poll");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	ASSERT_EQ(1, told(rig, &frame));
	rig_run_one(rig, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	ASSERT_EQ(2, told(rig, &frame));
	ASSERT_EQ(2, pass_of(rig, run, "poll"));
	ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "poll"));
	ASSERT_EQ(STATE_WAITING, named(rig, run, "after"));
	rig_run_one(rig, 1);
	rig_run_one(rig, 3);
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "poll"));
	ASSERT_EQ(3, pass_of(rig, run, "poll"));
	ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "after"));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	ASSERT_EQ(0, told(rig, &frame));
	rig_free(rig);
	PASS();
}

TEST loop_at_its_bound_fails_or_succeeds(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 1);
	loop_job(&graph, "a", "", 2);
	loop_job(&graph, "b", "a*", 2)->loop_on_max = LOOP_MAX_OK;
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 4; i++)
		ASSERT(rig_run_one(rig, 0));
	ASSERT_FALSE(rig_run_one(rig, 0));
	ASSERT_EQ(STATE_FAILED, named(rig, run, "a"));
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "b"));
	ASSERT(rig_job(rig, rig_named(rig, run, "a")).dead);
	rig_free(rig);
	PASS();
}

TEST loop_delay_outlives_restart(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	uint64_t run;

	rig_hello(rig, "w1", 1);
	loop_job(&graph, "poll", "", 9)->loop_delay_ms = 7200000;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "poll"));
	rig_pass(rig, 3600000);
	rig_restart(rig);
	rig_hello(rig, "w1", 1);
	rig_pass(rig, 3599000);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "poll"));
	row = rig_job(rig, rig_named(rig, run, "poll"));
	ASSERT(view_explain(rig->core, row.job, &rig->arena, &row));
	ASSERT(memmem(row.why.data, row.why.len, "then pass 2 of 9 begins", 23));
	rig_hello(rig, "w1", 1);
	rig_pass(rig, 1100);
	ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "poll"));
	ASSERT_EQ(2, pass_of(rig, run, "poll"));
	rig_run_one(rig, 3);
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST loop_delay_is_before_each_pass(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 1);
	loop_job(&graph, "poll", "", 9)->loop_delay_ms = 1000;
	run = rig_submit(rig, &graph);
	for (unsigned pass = 1; pass <= 4; pass++) {
		ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "poll"));
		rig_run_one(rig, 0);
		rig_pass(rig, 999);
		ASSERT_EQ(STATE_DELAYED, named(rig, run, "poll"));
		rig_pass(rig, 2);
	}
	rig_free(rig);
	PASS();
}

TEST each_pass_has_all_retries(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = loop_job(&graph, "poll", "", 2);
	uint64_t run;

	rig_hello(rig, "w1", 1);
	job->retry_max = 1;
	job->backoff_ms = 1000;
	job->backoff_exact = true;
	run = rig_submit(rig, &graph);
	for (int pass = 1; pass <= 2; pass++) {
		ASSERT_EQ((uint64_t)pass, pass_of(rig, run, "poll"));
		ASSERT(rig_run_one(rig, 1));
		ASSERT_EQ(STATE_DELAYED, named(rig, run, "poll"));
		ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "poll")).tries);
		rig_pass(rig, 1100);
		ASSERT(rig_run_one(rig, 1));
	}
	ASSERT_EQ(STATE_FAILED, named(rig, run, "poll"));
	rig_act(rig, ACT_RETRY, run, "poll", RETRY_FROM);
	ASSERT_EQ(1, pass_of(rig, run, "poll"));
	ASSERT(rig_run_one(rig, 3));
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST crash_limit_ends_loop(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = loop_job(&graph, "poll", "", 9);
	uint64_t run;

	rig_hello(rig, "w1", 1);
	job->crash_limit = 2;
	job->backoff_ms = 1000;
	job->backoff_exact = true;
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 3; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		rig_started(rig, attempt);
		/* One failure in the first pass; failures of the second pass are counted anew. */
		rig_done(rig, attempt, OUTCOME_EXIT_UNKNOWN, 0);
		if (i == 0) {
			rig_pass(rig, 1100);
			ASSERT(rig_run_one(rig, 0));
		}
		if (i == 1) {
			ASSERT_EQ(STATE_DELAYED, named(rig, run, "poll"));
			rig_pass(rig, 1100);
		}
	}
	ASSERT_EQ(STATE_FAILED, named(rig, run, "poll"));
	ASSERT_EQ(2, pass_of(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST timed_out_pass_is_followed_by_next(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = loop_job(&graph, "poll", "", 2);
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w1", 1);
	job->timeout_ms = 1000;
	job->loop_code = code_of(&graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED }, false);
	run = rig_submit(rig, &graph);
	for (uint64_t pass = 1; pass <= 2; pass++) {
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		rig_pass(rig, 1100);
		ASSERT_EQ(STATE_STOPPING, named(rig, run, "poll"));
		rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
		ASSERT_EQ(2, pass_of(rig, run, "poll"));
	}
	ASSERT_EQ(STATE_FAILED, named(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST cancel_and_deadline_end_loop(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w1", 1);
	loop_job(&graph, "a", "", 9);
	loop_job(&graph, "b", "a*", 9)->deadline_ms = 1000;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_CANCELLED, named(rig, run, "a"));
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1100);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_TIMED_OUT, named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST held_loop_starts_no_pass(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w1", 1);
	loop_job(&graph, "poll", "", 9);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_act(rig, ACT_HOLD, run, "poll", 0);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_READY, named(rig, run, "poll"));
	rig_act(rig, ACT_RELEASE, run, "poll", 0);
	ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST each_pass_of_sub_run_loop_is_new_sub_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job = loop_job(&graph, "poll", "", 3);
	struct outgoing frame;
	uint64_t run, child;

	rig_hello(rig, "w1", 1);
	graph_job(&inner, "x", "");
	graph_job(&inner, "y", "x");
	sub_into(&graph, job, &inner);
	job->loop_code = code_of(&graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED }, false);
	run = rig_submit(rig, &graph);
	child = rig_job(rig, rig_named(rig, run, "poll")).child;
	ASSERT(rig_run_one(rig, 1));
	rig_pass(rig, 5);
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "poll"));
	ASSERT(rig_job(rig, rig_named(rig, run, "poll")).child > child);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	ASSERT_EQ(2, told(rig, &frame));
	rig_restart(rig);
	rig_hello(rig, "w1", 1);
	rig_pass(rig, 0);
	while (rig_run_one(rig, 0))
		;
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "poll"));
	ASSERT_EQ(2, pass_of(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST empty_pass_takes_a_turn(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job = loop_job(&graph, "poll", "", 1000);
	uint64_t run;

	graph_job(&inner, "x", "")->deadline_at_ms = 1;
	sub_into(&graph, job, &inner);
	run = rig_submit(rig, &graph);
	rig_pass(rig, 0);
	ASSERT(pass_of(rig, run, "poll") <= 2);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 2);
	ASSERT(pass_of(rig, run, "poll") >= 4 && pass_of(rig, run, "poll") <= 8);
	rig_cancel(rig, run, "");
	ASSERT_EQ(STATE_CANCELLED, named(rig, run, "poll"));
	rig_free(rig);
	PASS();
}

TEST loop_fields_that_contradict_are_refused(void)
{
	static const char *const words[] = { "once", "condition that ends the loop is missing", "a gate or noop job runs nothing, so it can't be a loop", "too many passes", "isn't a loop" };
	struct rig *rig = rig_new();

	for (int i = 0; i < 5; i++) {
		struct graph graph = { 0 };
		struct rec_job_spec *job = loop_job(&graph, "poll", "", 9);

		if (i == 0)
			job->mode = EXEC_ONCE;
		if (i == 1)
			job->loop_code.len = 0;
		if (i == 2) {
			job->argv.n = 0;
			job->gate_count = 1;
		}
		if (i == 3)
			job->loop_max = LIMIT_LOOP_PASSES_MAX + 1;
		if (i == 4)
			job->loop_max = 0;
		ASSERT_EQ(0, rig_submit(rig, &graph));
		ASSERT(rig_error_says(rig, rig->error.code, words[i]));
	}
	rig_free(rig);
	PASS();
}

SUITE(loops)
{
	RUN_TEST(loop_passes_until_condition_holds);
	RUN_TEST(loop_at_its_bound_fails_or_succeeds);
	RUN_TEST(loop_delay_outlives_restart);
	RUN_TEST(loop_delay_is_before_each_pass);
	RUN_TEST(each_pass_has_all_retries);
	RUN_TEST(crash_limit_ends_loop);
	RUN_TEST(timed_out_pass_is_followed_by_next);
	RUN_TEST(cancel_and_deadline_end_loop);
	RUN_TEST(held_loop_starts_no_pass);
	RUN_TEST(each_pass_of_sub_run_loop_is_new_sub_run);
	RUN_TEST(empty_pass_takes_a_turn);
	RUN_TEST(loop_fields_that_contradict_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(loops);
	GREATEST_MAIN_END();
}
