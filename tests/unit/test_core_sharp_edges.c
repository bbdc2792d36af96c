/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is refused, said or left alone at an edge: cycles, holds, deadlines, gates, jobs that come too late. */
#include "tests/unit/core_grow.h"

#include "proto/expr.h"

TEST a_worker_learns_whose_it_is(void)
{
	struct rig *rig = rig_new();
	struct outgoing last;

	rig_hello(rig, "w", 1);
	ASSERT_EQ(1, rig_frames(rig, OP_WELCOME, &last));
	ASSERT(slice_eq(slice_str("bench"), last.welcome.cluster));
	rig_free(rig);
	PASS();
}

/* --- cycles --- */

/* What leads into it is no part of it, though it comes before it in the list. */
TEST a_cycle_is_told_without_what_leads_to_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t needs[] = { 0, 2 };

	graph_job(&graph, "start", "");
	graph_job(&graph, "a", "start");
	graph_job(&graph, "b", "a");
	graph.jobs[1].needs = (struct u64_list){ needs, 2 };
	graph.jobs[1].triggers.n = 0;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_CYCLE, "b -> a -> b"));
	rig_free(rig);
	PASS();
}

TEST a_long_cycle_is_told_in_part(void)
{
	for (uint64_t jobs = 8; jobs <= 10; jobs++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t last = jobs - 1;
		struct buf told = { 0 };

		for (uint64_t i = 0; i < jobs; i++) {
			char name[] = { (char)('a' + i), '\0' }, before[] = { (char)('a' + i - 1), '\0' };

			graph_job(&graph, name, i > 0 ? before : "");
		}
		graph.jobs[0].needs = (struct u64_list){ &last, 1 };
		buf_add_str(&told, "the graph has a cycle: ");
		for (uint64_t i = 0; i < 8; i++)
			buf_addf(&told, "%c -> ", (int)('a' + (i + 1) % jobs));
		if (jobs > 8)
			buf_addf(&told, "(%d more) -> ", (int)jobs - 8);
		buf_addf(&told, "%c", 'b');
		ASSERT_EQ(0, rig_submit(rig, &graph));
		ASSERT(rig_error_says(rig, ERR_CYCLE, buf_cstr(&told)));
		buf_free(&told);
		rig_free(rig);
	}
	PASS();
}

/* --- what people do twice, or too late --- */

TEST held_back_twice_is_held_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 2; i++) {
		rig_act(rig, ACT_HOLD, run, "a", 0);
		ASSERT_EQ(i == 0 ? 1 : 0, (int)rig->ok.count);
	}
	rig_hello(rig, "w", 1);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST what_has_ended_is_not_held_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_EQ(0, (int)rig->ok.count);
	rig_free(rig);
	PASS();
}

TEST a_deadline_changes_nothing_of_what_is_cancelled(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_ms = 5000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	rig_pass(rig, 6000);
	ASSERT_EQ(EVENT_CANCEL, rig_job(rig, attempt.job).stop_cause);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* A person wants it at the very moment of its date, which is passed then. */
TEST a_date_that_is_now_has_passed(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_at_ms = rig->now.wall_ms + 5000;
	graph_job(&graph, "open", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "a");
	rig_wait(rig, 5000);
	rig_act(rig, ACT_RETRY, run, "a", 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* --- gates --- */

static struct rec_job_spec *graph_gate(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

static void decide(struct rig *rig, uint64_t run, const char *gate, struct slice text)
{
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = ++rig->request };

	input.act = (struct input_act){ .verb = ACT_APPROVE, .run = run, .job = slice_str(gate), .text = text,
		.principal = 1, .person = slice_str("ana"), .digest = rig_digest(rig, run, gate) };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

TEST a_reason_is_as_long_as_it_may_be(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char text[LIMIT_REASON_MAX + 1];
	uint64_t run;

	memset(text, 'x', sizeof(text));
	graph_gate(&graph, "ok", "");
	run = rig_submit(rig, &graph);
	decide(rig, run, "ok", slice_make(text, LIMIT_REASON_MAX + 1));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "the reason has 4097 bytes; at most 4096"));
	decide(rig, run, "ok", slice_make(text, LIMIT_REASON_MAX));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST a_push_back_names_one_job_before_the_gate(void)
{
	static const char *const not_one[] = { "ok", "part[*]" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 2);
	graph_job(&graph, "part[0]", "");
	graph_job(&graph, "part[1]", "");
	graph_gate(&graph, "ok", "part[0] part[1]");
	run = rig_submit(rig, &graph);
	rig_run_all(rig);
	for (size_t i = 0; i < 2; i++) {
		rig->target = not_one[i];
		rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_INVALID, "is not one job before the gate"));
	}
	rig_free(rig);
	PASS();
}

/* --- what is added --- */

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

TEST what_is_added_has_nothing_of_its_own(void)
{
	static const char words[] = "they are the run's";
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

TEST what_is_added_at_its_bounds(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_pass(rig, 7000);
	job = graph_job(&graph, "alone", "");    /* a fan-out of one, the last job of those added */
	job->group = 1;
	job->group_fail_fast = true;
	ASSERT(grow(rig, run, &graph, "") != 0);
	graph_job(&graph, "long", "")->deadline_ms = UINT64_C(1000) * LIMIT_SPAN_MAX_S;
	ASSERT(grow(rig, run, &graph, "") != 0);
	graph_job(&graph, "longer", "")->deadline_ms = UINT64_C(1000) * LIMIT_SPAN_MAX_S + 1000;
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "deadline_ms: over ten years"));
	/* Its time begins when it comes. */
	graph_job(&graph, "soon", "")->deadline_ms = 5000;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_pass(rig, 4999);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "soon"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "soon"));
	rig_free(rig);
	PASS();
}

static struct slice code_of(struct graph *graph, bool holds)
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

/* The one that comes after it at the same place has a condition of its own. */
TEST what_was_refused_leaves_no_condition(void)
{
	for (int holds = 0; holds < 2; holds++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		graph_job(&graph, "a", "");
		run = rig_submit(rig, &graph);
		graph_job(&graph, "x", "")->when_code = code_of(&graph, !holds);
		graph_job(&graph, "a", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT(rig_error_says(rig, ERR_DUPLICATE, "'a'"));
		graph_job(&graph, "x", "")->when_code = code_of(&graph, holds);
		ASSERT(grow(rig, run, &graph, "") != 0);
		ASSERT_STR_EQ(holds ? "ready" : "skipped", rig_state_named(rig, run, "x"));
		rig_free(rig);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_worker_learns_whose_it_is);
	RUN_TEST(a_cycle_is_told_without_what_leads_to_it);
	RUN_TEST(a_long_cycle_is_told_in_part);
	RUN_TEST(held_back_twice_is_held_back);
	RUN_TEST(what_has_ended_is_not_held_back);
	RUN_TEST(a_deadline_changes_nothing_of_what_is_cancelled);
	RUN_TEST(a_date_that_is_now_has_passed);
	RUN_TEST(a_reason_is_as_long_as_it_may_be);
	RUN_TEST(a_push_back_names_one_job_before_the_gate);
	RUN_TEST(what_is_added_has_nothing_of_its_own);
	RUN_TEST(what_is_added_at_its_bounds);
	RUN_TEST(what_was_refused_leaves_no_condition);
	GREATEST_MAIN_END();
}
