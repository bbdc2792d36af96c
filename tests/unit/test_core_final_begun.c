/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A final job that has begun refuses additions to its run; one that ended without having begun doesn't. */
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* A final job that was skipped or cancelled before it began doesn't refuse additions. */
TEST run_grows_after_final_job_ended_before_it_began(void)
{
	for (int skipped = 0; skipped < 2; skipped++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job;
		uint64_t run;

		graph_job(&graph, "a", "");
		graph_job(&graph, "b", "");
		job = graph_job(&graph, "last", skipped ? "a" : "");
		job->final = true;
		run = rig_submit(rig, &graph);
		rig_cancel(rig, run, skipped ? "a" : "last");
		ASSERT_STR_EQ(skipped ? "skipped" : "cancelled", rig_state_named(rig, run, "last"));
		graph_job(&graph, "more", "");
		ASSERT(grow(rig, run, &graph, "") != 0);
		rig_free(rig);
	}
	PASS();
}

TEST run_grows_after_final_job_timed_out_before_it_began(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	job = graph_job(&graph, "last", "a");
	job->final = true;
	job->deadline_ms = 1000;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "last"));
	graph_job(&graph, "more", "")->deadline_at_ms = rig->now.wall_ms + 500;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_pass(rig, 500);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "more"));
	rig_free(rig);
	PASS();
}

/* A final job that was stopped has begun, so it refuses additions: they would be too late for it. */
TEST stopped_final_job_refuses_additions(void)
{
	for (int cancelled = 0; cancelled < 2; cancelled++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job;
		struct rig_attempt attempt;
		uint64_t run;

		rig_hello(rig, "w", 1);
		job = graph_job(&graph, "last", "");
		job->final = true;
		job->timeout_ms = 1000;
		graph_job(&graph, "behind", "last*");
		run = rig_submit(rig, &graph);
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		if (cancelled)
			rig_cancel(rig, run, "last");
		else
			rig_pass(rig, 1001);
		rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
		ASSERT_STR_EQ(cancelled ? "cancelled" : "timed_out", rig_state_named(rig, run, "last"));
		graph_job(&graph, "more", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT(rig_error_says(rig, ERR_TERMINAL, "so it can't wait for added jobs; submit a new run with titan run, without --into"));
		rig_free(rig);
	}
	PASS();
}

/* A final gate that was denied has had its answer, so it refuses additions. */
TEST denied_final_gate_refuses_additions(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	job = graph_job(&graph, "sign", "");
	job->gate_count = 1;
	job->final = 1;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_REJECT, run, "sign", 0);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "sign"));
	graph_job(&graph, "b", "");
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "its final job sign is denied"));
	rig_free(rig);
	PASS();
}

/*
 * A final gate that is open or delayed refuses additions: its people were shown what comes before it, and its delay
 * counts from the last end.
 */
TEST open_or_delayed_final_gate_refuses_additions(void)
{
	for (int delayed = 0; delayed < 2; delayed++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job;
		uint64_t run;

		graph_job(&graph, "a", "");
		graph_job(&graph, "b", "");
		job = graph_job(&graph, "sign", "a");
		job->gate_count = 1;
		job->delay_ms = delayed ? 1000 : 0;
		job->final = 1;
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		ASSERT_STR_EQ(delayed ? "delayed" : "approval", rig_state_named(rig, run, "sign"));
		graph_job(&graph, "c", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT(rig_error_says(rig, ERR_TERMINAL, delayed ? "its final job sign is delayed" : "its final job sign is approval"));
		rig_free(rig);
	}
	PASS();
}

static struct slice code_of(struct graph *graph, const struct expr_step *steps, size_t count)
{
	struct buf buf = { 0 };
	struct slice code;

	for (size_t i = 0; i < count; i++)
		expr_put(&buf, steps[i]);
	code = arena_copy(&graph->arena, buf_slice(&buf));
	buf_free(&buf);
	return code;
}

#define CODE(graph, ...) \
	code_of(graph, (const struct expr_step[]){ __VA_ARGS__ }, \
		sizeof((const struct expr_step[]){ __VA_ARGS__ }) / sizeof(struct expr_step))

#define OK_OF(first, count) { EXPR_STATE, first, count, 1u << STATE_SUCCEEDED }

static void make_loop(struct graph *graph, struct rec_job_spec *job, uint64_t max)
{
	job->loop_max = max;
	job->loop_code = CODE(graph, OK_OF(0, 1));
	job->loop_until = slice_str("succeeded");
}

/* A final loop between two passes has no attempt but has begun. */
TEST final_loop_cancelled_between_passes_refuses_additions(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	job = graph_job(&graph, "last", "");
	job->final = true;
	job->loop_delay_ms = 1000;
	make_loop(&graph, job, 3);
	graph_job(&graph, "behind", "last*");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_cancel(rig, run, "last");
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "last")).tries);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "last"));
	graph_job(&graph, "more", "");
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "so it can't wait for added jobs; submit a new run with titan run, without --into"));
	rig_free(rig);
	PASS();
}

SUITE(final_begun)
{
	RUN_TEST(run_grows_after_final_job_ended_before_it_began);
	RUN_TEST(run_grows_after_final_job_timed_out_before_it_began);
	RUN_TEST(stopped_final_job_refuses_additions);
	RUN_TEST(denied_final_gate_refuses_additions);
	RUN_TEST(open_or_delayed_final_gate_refuses_additions);
	RUN_TEST(final_loop_cancelled_between_passes_refuses_additions);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(final_begun);
	GREATEST_MAIN_END();
}
