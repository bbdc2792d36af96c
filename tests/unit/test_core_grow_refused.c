/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Additions to a run that are refused leave nothing behind, however often that happens. */
#include "tests/unit/core_grow.h"
#include "proto/expr.h"

/* The number of label sets is limited for all tenants together, so a refused addition must free its sets. */
TEST refused_additions_leave_labels_to_others(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char name[32];
	uint64_t run;

	rig->reload_every = 0;
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < LIMIT_TENANT_CLASSES_MAX; i++) {
		snprintf(name, sizeof(name), "w-%d", i);
		graph_job(&graph, "b", "")->only_worker = slice_str(name);
		graph_job(&graph, "a", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT_EQ(ERR_DUPLICATE, rig->error.code);
	}
	graph_job(&graph, "c", "")->only_worker = slice_str("mine");
	ASSERT(rig_submit(rig, &graph) != 0);
	graph_job(&graph, "d", "")->only_worker = slice_str("mine");
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_hello(rig, "mine", 3);
	ASSERT_EQ(3, rig_run_all(rig));
	core_check(rig->core);
	rig_compare(rig);
	rig_free(rig);
	PASS();
}

SUITE(grow_refused)
{
	RUN_TEST(refused_additions_leave_labels_to_others);
}

static bool refused_into(struct rig *rig, struct input_submit submit, enum err code, const char *words)
{
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct graph graph = { 0 };
	struct graph_part part = { .count = 1 };

	graph_job(&graph, "more", "");
	part.body = graph_blob(&graph);
	input.submit = submit;
	input.submit.principal = 1;
	input.submit.owner = slice_str("ana");
	input.submit.parts = &part;
	input.submit.part_count = 1;
	memcpy(input.submit.key, &(uint64_t){ ++rig->keys }, sizeof(uint64_t));
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	blob_release(part.body);
	graph_free(&graph);
	return rig_error_says(rig, code, words);
}

TEST addition_may_not_name_properties_of_its_run(void)
{
	static const char words[] = "can't set name, tenant, limits or schedule: these belong to the run";
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT(refused_into(rig, (struct input_submit){ .into = run, .name = slice_str("x") }, ERR_INVALID, words));
	ASSERT(refused_into(rig, (struct input_submit){ .into = run, .tenant = slice_str("x") }, ERR_INVALID, words));
	ASSERT(refused_into(rig, (struct input_submit){ .into = run, .max_jobs = 1 }, ERR_INVALID, words));
	ASSERT(refused_into(rig, (struct input_submit){ .into = run, .schedule = slice_str("x") }, ERR_INVALID, words));
	ASSERT(refused_into(rig, (struct input_submit){ .into = run, .concurrency = slice_str("x") }, ERR_INVALID, words));
	ASSERT(refused_into(rig, (struct input_submit){ .into = run + 1 }, ERR_NOT_FOUND, "there is no run 2"));
	rig_free(rig);
	PASS();
}

TEST addition_is_checked_at_its_limits(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_pass(rig, 7000);
	job = graph_job(&graph, "alone", "");    /* a fan-out with one member, the last of the added jobs */
	job->group = 1;
	job->group_fail_fast = true;
	ASSERT(grow(rig, run, &graph, "") != 0);
	graph_job(&graph, "long", "")->deadline_ms = UINT64_C(1000) * LIMIT_SPAN_MAX_S;
	ASSERT(grow(rig, run, &graph, "") != 0);
	graph_job(&graph, "longer", "")->deadline_ms = UINT64_C(1000) * LIMIT_SPAN_MAX_S + 1000;
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "deadline_ms: longer than ten years"));
	/* The deadline of an added job counts from the addition. */
	graph_job(&graph, "soon", "")->deadline_ms = 5000;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_pass(rig, 4999);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "soon"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "soon"));
	rig_free(rig);
	PASS();
}

static struct slice constant_code(struct graph *graph, bool holds)
{
	struct buf code = { 0 };
	struct slice copy;

	expr_put(&code, (struct expr_step){ .op = EXPR_FALSE });
	if (holds)
		expr_put(&code, (struct expr_step){ .op = EXPR_NOT });
	copy = arena_copy(&graph->arena, buf_slice(&code));
	buf_free(&code);
	return copy;
}

/* The next added job gets the same place in memory, with a condition of its own. */
TEST refused_addition_leaves_no_when_condition(void)
{
	for (int holds = 0; holds < 2; holds++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		graph_job(&graph, "a", "");
		run = rig_submit(rig, &graph);
		graph_job(&graph, "x", "")->when_code = constant_code(&graph, !holds);
		graph_job(&graph, "a", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT(rig_error_says(rig, ERR_DUPLICATE, "'a'"));
		graph_job(&graph, "x", "")->when_code = constant_code(&graph, holds);
		ASSERT(grow(rig, run, &graph, "") != 0);
		ASSERT_STR_EQ(holds ? "ready" : "skipped", rig_state_named(rig, run, "x"));
		rig_free(rig);
	}
	PASS();
}

static struct slice code_of(struct graph *graph, struct expr_step step)
{
	struct buf buf = { 0 };
	struct slice code;

	expr_put(&buf, step);
	code = arena_copy(&graph->arena, buf_slice(&buf));
	buf_free(&buf);
	return code;
}

/* Add a job that needs the success of the first named job, or its failure. */
static void asks(struct graph *graph, const char *name, enum job_state state)
{
	struct rec_job_spec *job = added(graph, name, 0, TRIGGER_EXPR);

	job->needs_code = code_of(graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << state });
}

TEST refused_addition_leaves_no_needs_condition(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	asks(&graph, "x", STATE_FAILED);
	asks(&graph, "y", STATE_FAILED);
	graph_job(&graph, "a", "");
	ASSERT_EQ(0, grow(rig, run, &graph, "a"));
	ASSERT_EQ(ERR_DUPLICATE, rig->error.code);
	asks(&graph, "x", STATE_SUCCEEDED);
	ASSERT(grow(rig, run, &graph, "a") != 0);
	ASSERT_EQ(3, rig_run_all(rig));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "x"));
	rig_free(rig);
	PASS();
}

static uint64_t group_limit_of(struct rig *rig)
{
	struct rec_group_row row = { 0 };

	CHECK(view_group(rig->core, 0, &row) != 0);
	return row.limit;
}

/* A refused graph's statement about a group has no effect: the group's limit and members stay. */
TEST refused_addition_leaves_limit_of_group(void)
{
	struct slice three[] = { slice_str("g=3") }, one[] = { slice_str("g=1") };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->concurrency = (struct slice_list){ three, 1 };
	run = rig_submit(rig, &graph);
	ASSERT_EQ(3, group_limit_of(rig));
	graph_job(&graph, "b", "")->concurrency = (struct slice_list){ one, 1 };
	graph_job(&graph, "a", "");
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "run 1 already has a job 'a'"));
	ASSERT_EQ(3, group_limit_of(rig));
	graph_job(&graph, "b", "")->concurrency = (struct slice_list){ one, 1 };
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_EQ(1, group_limit_of(rig));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(grow_refused);
	RUN_TEST(addition_may_not_name_properties_of_its_run);
	RUN_TEST(addition_is_checked_at_its_limits);
	RUN_TEST(refused_addition_leaves_no_when_condition);
	RUN_TEST(refused_addition_leaves_no_needs_condition);
	RUN_TEST(refused_addition_leaves_limit_of_group);
	GREATEST_MAIN_END();
}
