/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops at their edges: what their own environment says, sub-runs that are cancelled or out of time, and their rows. */
#include "proto/expr.h"
#include "tests/unit/core_rig.h"

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

/* A pass is told which it is, and all that its job says. */
TEST its_own_environment_follows(void)
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

/* A pass of one job that runs; the run's number, and that of the pass. */
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

TEST who_cancels_a_pass_wants_no_other(void)
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

/* Of a command the same code is an end like any other. */
TEST a_command_that_exits_as_a_cancelled_sub_run_does_is_done_again(void)
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

/* Nobody cancelled it: its time was over, and the next pass has its own. */
TEST one_that_is_out_of_time_is_followed_by_another(void)
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

/* How many passes are over is less than there may be: the last ends with its job. */
TEST rows_count_passes_that_can_be(void)
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
	RUN_TEST(its_own_environment_follows);
	RUN_TEST(who_cancels_a_pass_wants_no_other);
	RUN_TEST(a_command_that_exits_as_a_cancelled_sub_run_does_is_done_again);
	RUN_TEST(one_that_is_out_of_time_is_followed_by_another);
	RUN_TEST(rows_count_passes_that_can_be);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(loop_edges);
	GREATEST_MAIN_END();
}
