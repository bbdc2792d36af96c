/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops at their limits: the environment, sub-runs that are cancelled or time out, and invalid rows. */
#include "proto/expr.h"
#include "tests/unit/core_rig.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"
#include "proto/dead.h"

static struct rec_job_spec *loop_job(struct graph *graph, const char *name, uint64_t max)
{
	struct rec_job_spec *job = graph_job(graph, name, "");
	struct buf code = { 0 };

	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
	job->loop_max = max;
	job->loop_code = arena_copy(&graph->arena, buf_slice(&code));
	job->loop_until = slice_str("succeeded");
	buf_free(&code);
	return job;
}

/* An attempt of a loop is told its pass in addition to the job's own environment. */
TEST loop_keeps_environment_of_job(void)
{
	struct slice env[] = { slice_str("A=1"), slice_str("TITAN_ITERATION=77") };
	static const char *const told[] = { "TITAN_ITERATION=1", "A=1", "TITAN_ITERATION=77" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;

	rig_hello(rig, "w", 1);
	loop_job(&graph, "poll", 3)->env = (struct slice_list){ .at = env, .n = 2 };
	rig_submit(rig, &graph);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	bytes = frame.assign.spec;
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL));
	ASSERT_EQ(3, spec.env.n);
	for (size_t i = 0; i < 3; i++)
		ASSERT(slice_eq(spec.env.at[i], slice_str(told[i])));
	rig_free(rig);
	PASS();
}

/* Submit a loop whose passes are sub-runs of one job. Return the run's number, and that of the pass's sub-run. */
static uint64_t submit_sub_loop(struct rig *rig, uint64_t timeout_ms, uint64_t *ret_child)
{
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job = loop_job(&graph, "poll", 3);
	struct blob *body;
	uint64_t run;

	graph_job(&inner, "x", "");
	body = graph_blob(&inner);
	job->argv.n = 0;
	job->sub_jobs = blob_slice(body);
	job->sub_count = 1;
	job->sub_name = slice_str("inner");
	job->timeout_ms = timeout_ms;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	blob_release(body);
	graph_free(&inner);
	rig_started(rig, rig->assigned[0]);
	*ret_child = rig_job(rig, rig_named(rig, run, "poll")).child;
	return run;
}

TEST cancel_of_pass_ends_loop(void)
{
	struct rig *rig = rig_new();
	uint64_t child, run = submit_sub_loop(rig, 0, &child);

	rig_cancel(rig, child, "");
	rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
	rig_pass(rig, 10);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "poll"));
	ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "poll")).pass);
	rig_free(rig);
	PASS();
}

/* Exit code 2 of a command isn't taken for the outcome that ends a loop: the next pass follows. */
TEST exit_code_2_of_command_does_not_end_loop(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	loop_job(&graph, "poll", 3);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 2);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "poll"));
	ASSERT_EQ(2, rig_job(rig, rig_named(rig, run, "poll")).pass);
	rig_free(rig);
	PASS();
}

/* A pass whose time-out ends it wasn't cancelled by a person, so the next pass follows, with its own time-out. */
TEST timed_out_sub_run_pass_is_followed_by_next(void)
{
	struct rig *rig = rig_new();
	uint64_t child, run = submit_sub_loop(rig, 1000, &child);

	rig_pass(rig, 1001);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "poll"));
	rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
	rig_pass(rig, 10);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "poll"));
	ASSERT_EQ(2, rig_job(rig, rig_named(rig, run, "poll")).pass);
	ASSERT(rig_job(rig, rig_named(rig, run, "poll")).child > child);
	rig_free(rig);
	PASS();
}

/* A row's number of finished passes must be less than the limit, because the last pass ends the job. */
TEST row_with_impossible_pass_is_refused(void)
{
	static const struct {
		int64_t passes;
		bool sane;
	} cases[] = { { 0, true }, { 1, true }, { 2, true }, { 3, false }, { 4, false }, { -1, false }, { INT64_MAX, false } };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row_job *row;

	rig_hello(rig, "w", 1);
	loop_job(&graph, "poll", 3);
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	row = &rig->tables[TABLE_job].at[0].row.job;
	ASSERT_EQ(1, row->passes);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outbox out = { 0 };
		struct error error = { 0 };
		struct core *core;

		row->passes = cases[i].passes;
		core = rig_load(rig, rig->now, &out, &error);
		ASSERT_EQ(cases[i].sane, core != NULL);
		ASSERT_EQ(cases[i].sane ? ERR_NONE : ERR_STORE_TRUST, error.code);
		core_free(core);
		outbox_free(&out);
	}
	rig_free(rig);
	PASS();
}

SUITE(loop_edges)
{
	RUN_TEST(loop_keeps_environment_of_job);
	RUN_TEST(cancel_of_pass_ends_loop);
	RUN_TEST(exit_code_2_of_command_does_not_end_loop);
	RUN_TEST(timed_out_sub_run_pass_is_followed_by_next);
	RUN_TEST(row_with_impossible_pass_is_refused);
}

static struct slice step_code(struct graph *graph, struct expr_step step)
{
	struct buf buf = { 0 };
	struct slice code;

	expr_put(&buf, step);
	code = arena_copy(&graph->arena, buf_slice(&buf));
	buf_free(&buf);
	return code;
}

/* The approval of a loop covers all its passes, whether they follow at once or after a wait. */
TEST approved_loop_runs_all_passes(void)
{
	for (uint64_t delay_ms = 0; delay_ms <= 1000; delay_ms += 1000) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_job(&graph, "poll", "");
		uint64_t run;

		job->gate_count = 1;
		job->loop_max = 3;
		job->loop_delay_ms = delay_ms;
		job->loop_code = step_code(&graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "poll"));
		rig_act(rig, ACT_APPROVE, run, "poll", 0);
		for (int pass = 0; pass < 2; pass++) {
			ASSERT_EQ(1, rig_run_one(rig, 3));
			rig_restart(rig);
			rig_hello(rig, "w", 1);
			rig_pass(rig, (int64_t)delay_ms + 1);
		}
		ASSERT_EQ(1, rig_run_one(rig, 0));
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "poll"));
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

static struct slice iteration_told(struct rig *rig)
{
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;

	CHECK(rig_frames(rig, OP_ASSIGN, &frame) == 1);
	bytes = frame.assign.spec;
	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	return spec.env.n == 1 ? spec.env.at[0] : slice_make(NULL, 0);
}

/* Jobs at any depth of a loop's sub-runs are told the pass. */
TEST iteration_is_told_to_jobs_of_nested_sub_runs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, middle = { 0 }, inner = { 0 };
	struct rec_job_spec *job;

	rig_hello(rig, "w", 1);
	graph_job(&inner, "x", "");
	sub_job(&middle, "deep", "", &inner);
	job = sub_job(&graph, "poll", "", &middle);
	make_loop(&graph, job, 3);
	rig_submit(rig, &graph);
	ASSERT(slice_eq(iteration_told(rig), slice_str("TITAN_ITERATION=1")));
	rig_run_one(rig, 1);
	rig_pass(rig, 1);
	ASSERT(slice_eq(iteration_told(rig), slice_str("TITAN_ITERATION=2")));
	rig_free(rig);
	PASS();
}

TEST nested_loop_is_told_innermost_iteration(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;

	rig_hello(rig, "w", 1);
	make_loop(&inner, graph_job(&inner, "x", ""), 3);
	job = sub_job(&graph, "poll", "", &inner);
	make_loop(&graph, job, 3);
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	ASSERT(slice_eq(iteration_told(rig), slice_str("TITAN_ITERATION=2")));
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

/* The loop's end condition is checked before retries, also after a time-out. */
TEST pass_that_ends_loop_is_not_retried(enum job_state until)
{
	struct rec_job_spec wanted = { .timeout_ms = 1000, .retry_max = 3, .retry_on = RETRY_ON_TIMEOUT, .loop_max = 3,
				       .loop_until = slice_str("it") };
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct buf code = { 0 };

	rig_hello(rig, "w", 1);
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << until });
	wanted.loop_code = buf_slice(&code);
	submit_like(rig, wanted);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(until == STATE_TIMED_OUT ? STATE_SUCCEEDED : STATE_DELAYED, rig_state(rig, 1));
	ASSERT_EQ(1, rig_job(rig, 1).pass);
	buf_free(&code);
	rig_free(rig);
	PASS();
}

TEST letter_says_that_loop_was_not_spawned(void)
{
	struct rec_job_spec wanted = { .loop_max = 1, .loop_until = slice_str("it"), .retry_on = RETRY_ON_EXIT };
	struct rig *rig = rig_new();
	struct buf code = { 0 };

	rig_hello(rig, "w", 1);
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
	wanted.loop_code = buf_slice(&code);
	submit_like(rig, wanted);
	rig_done(rig, rig_must_take(rig), OUTCOME_SPAWN, 2);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	ASSERT_EQ(DEAD_SPAWN_FAILED, rig->tables[TABLE_dead].at[0].row.dead.reason);
	buf_free(&code);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(loop_edges);
	RUN_TEST(approved_loop_runs_all_passes);
	RUN_TEST(iteration_is_told_to_jobs_of_nested_sub_runs);
	RUN_TEST(nested_loop_is_told_innermost_iteration);
	RUN_TESTp(pass_that_ends_loop_is_not_retried, STATE_TIMED_OUT);
	RUN_TESTp(pass_that_ends_loop_is_not_retried, STATE_FAILED);
	RUN_TEST(letter_says_that_loop_was_not_spawned);
	GREATEST_MAIN_END();
}
