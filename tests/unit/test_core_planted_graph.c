/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs within graphs, what is left out and why, gates that do something, and who is told when something else is shown. */
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

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

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs, uint64_t count)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->argv.n = 0;
	return job;
}

static void make_loop(struct graph *graph, struct rec_job_spec *job, uint64_t max)
{
	job->loop_max = max;
	job->loop_code = CODE(graph, OK_OF(0, 1));
	job->loop_until = slice_str("succeeded");
}

static size_t told(const struct rig *rig, uint64_t job)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == CHANGED_JOB && rig->out.changes[i].id == job;
	return count;
}

/* --- graphs within graphs --- */

TEST what_says_its_own_priority_keeps_it(void)
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

TEST one_that_is_being_stopped_takes_no_jobs(void)
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

/* Jobs that want as many different things of their workers as there is room for beside sub-runs. */
static void want_everything(struct rig *rig)
{
	struct graph graph = { 0 };

	for (int i = 1; i < LIMIT_TENANT_CLASSES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w-%d", i);
		graph_job(&graph, name, "")->only_worker = slice_str(arena_strdup(&rig->arena, slice_str(name)));
	}
	CHECK(rig_submit(rig, &graph) != 0);
}

/* What an attempt before it began is none of its own. */
TEST an_attempt_that_cannot_begin_has_no_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;
	struct rec_job_row row;
	uint64_t run;

	rig->reload_every = 0;
	rig_hello(rig, "rare", 1);
	graph_job(&inner, "x", "")->only_worker = slice_str("rare");
	job = sub_job(&graph, "s", "", &inner);
	job->retry_max = 1;
	job->backoff_ms = 1000;
	job->backoff_exact = true;
	run = rig_submit(rig, &graph);
	ASSERT(child_of(rig, run, "s") != 0);
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "s"));
	core_sweep(rig->core, UINT64_MAX);
	want_everything(rig);
	rig_pass(rig, 1000);
	row = rig_job(rig, rig_named(rig, run, "s"));
	ASSERT_EQ(OUTCOME_SPAWN, (enum outcome)row.outcome);
	ASSERT_EQ(0, row.child);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

/* --- loops --- */

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

/* However deep it is within the loop. */
TEST a_pass_is_told_to_all_that_is_within_it(void)
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

TEST of_loops_within_each_other_the_innermost_counts(void)
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

/* Between two passes it has no try, and has begun all the same. */
TEST a_final_loop_that_was_cancelled_between_passes_had_begun(void)
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
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "too late for it"));
	rig_free(rig);
	PASS();
}

/* --- what is left out, what waits again --- */

/* One that can't begin whatever its condition says was left out for that; and so it is in each round. */
TEST what_its_needs_forbid_is_not_left_out_by_its_condition(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "check", "");
	job = graph_job(&graph, "fix", "check");
	job->when_code = CODE(&graph, { EXPR_CODE, 0, EXPR_EQ, 3 });
	job->when = slice_str("check.code == 3");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 4);
	for (int round = 0; round < 2; round++) {
		ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "fix"));
		ASSERT_FALSE(rig_job(rig, rig_named(rig, run, "fix")).untaken);
		rig_act(rig, ACT_RETRY, run, "fix", RETRY_FROM);
	}
	rig_free(rig);
	PASS();
}

/* The first of those that it names, whichever ended first. */
TEST an_added_job_that_asks_in_vain_says_of_whom(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "z", "a* b*")->delay_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_run_one(rig, 1);
	job = added(&graph, "c", 0, TRIGGER_EXPR);
	need_old(job, 1, TRIGGER_EXPR);
	job->needs_code = CODE(&graph, OK_OF(0, 2), { EXPR_GATE, 2, 2, 0 });
	ASSERT(grow(rig, run, &graph, "b a") != 0);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "c"));
	ASSERT_EQ(rig_named(rig, run, "b") + 1, rig_job(rig, rig_named(rig, run, "c")).cause);
	rig_free(rig);
	PASS();
}

/* Of each of those that are run again alone, what hasn't begun waits. */
TEST a_fan_out_that_is_run_again_alone_sends_back_all_that_queue(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "p[0]", "");
	graph_job(&graph, "p[1]", "");
	graph_job(&graph, "c0", "p[0]")->only_worker = slice_str("other");
	graph_job(&graph, "c1", "p[1]")->only_worker = slice_str("other");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(2, rig_run_all(rig));
	rig_act(rig, ACT_RETRY, run, "p", RETRY_ONLY);
	ASSERT_EQ(4, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c0"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c1"));
	rig_free(rig);
	PASS();
}

/* --- gates --- */

TEST a_gate_before_a_script_lets_it_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "ok", "", 1)->script = slice_str("true\n");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

/* Who submitted it may stop it, and have it done again, as those who are named with them; only not let it through. */
TEST who_submitted_and_is_named_may_say_no(void)
{
	static const enum act_verb verbs[] = { ACT_REJECT, ACT_PUSHBACK };
	struct slice from[] = { slice_str("ana"), slice_str("ben") };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		rig_hello(rig, "w", 1);
		graph_job(&graph, "a", "");
		gate_job(&graph, "ok", "a", 1)->gate_from = (struct slice_list){ .at = from, .n = 2 };
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_DENIED, "another of them has to"));
		rig->target = "a";
		rig_act_as(rig, "cid", 3, verbs[i], run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names others"));
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_act(rig, verbs[i], run, "ok", 0);
		ASSERT_EQ(ERR_NONE, rig->error.code);
		ASSERT_STR_EQ(i ? "waiting" : "denied", rig_state_named(rig, run, "ok"));
		rig_free(rig);
	}
	PASS();
}

/* Whoever watches the list sees whom it still waits for: votes on what was shown before don't count. */
TEST who_watches_a_gate_is_told_that_it_lets_through_more(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *more;
	uint64_t run, gate;

	gate_job(&graph, "ok", "", 2);
	graph_job(&graph, "b", "ok");
	run = rig_submit(rig, &graph);
	gate = rig_named(rig, run, "ok");
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT_EQ(1, rig_job(rig, gate).gate_have);
	graph_job(&graph, "apart", "");
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_EQ(0, told(rig, gate));
	ASSERT_EQ(1, rig_job(rig, gate).gate_have);
	more = added(&graph, "more", 0, TRIGGER_OK);
	need_old(more, 1, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "ok b") != 0);
	ASSERT_EQ(0, rig_job(rig, gate).gate_have);
	ASSERT_EQ(1, told(rig, gate));
	rig_free(rig);
	PASS();
}

TEST who_watches_a_gate_is_told_that_a_parent_ended(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	job = gate_job(&graph, "ok", "a b", 1);
	job->triggers.at[0] = job->triggers.at[1] = TRIGGER_EXPR;
	job->needs_code = CODE(&graph, OK_OF(0, 2), { EXPR_GATE, 1, 2, 0 });
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig_run_one(rig, 0);
	ASSERT_EQ(1, told(rig, rig_named(rig, run, "ok")));
	rig_free(rig);
	PASS();
}

SUITE(planted_graph)
{
	RUN_TEST(what_says_its_own_priority_keeps_it);
	RUN_TEST(one_that_is_being_stopped_takes_no_jobs);
	RUN_TEST(an_attempt_that_cannot_begin_has_no_run);
	RUN_TEST(a_pass_is_told_to_all_that_is_within_it);
	RUN_TEST(of_loops_within_each_other_the_innermost_counts);
	RUN_TEST(a_final_loop_that_was_cancelled_between_passes_had_begun);
	RUN_TEST(what_its_needs_forbid_is_not_left_out_by_its_condition);
	RUN_TEST(an_added_job_that_asks_in_vain_says_of_whom);
	RUN_TEST(a_fan_out_that_is_run_again_alone_sends_back_all_that_queue);
	RUN_TEST(a_gate_before_a_script_lets_it_run);
	RUN_TEST(who_submitted_and_is_named_may_say_no);
	RUN_TEST(who_watches_a_gate_is_told_that_it_lets_through_more);
	RUN_TEST(who_watches_a_gate_is_told_that_a_parent_ended);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_graph);
	GREATEST_MAIN_END();
}
