/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sub-runs: when they begin, what their end means, what stops them, retries, rounds, restarts, nesting. */
#include "tests/unit/core_sub.h"

#include "proto/reasons.h"

static void act(struct rig *rig, enum act_verb verb, uint64_t run, const char *job, uint64_t value)
{
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = ++rig->request };

	input.act = (struct input_act){ .verb = verb, .run = run, .job = slice_str(job), .value = value, .principal = 1,
					.person = slice_str("ana") };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

static void cancel(struct rig *rig, uint64_t run, const char *job)
{
	struct core_input input = { .kind = INPUT_CANCEL, .conn = 1000000, .request = ++rig->request };

	input.cancel = (struct input_cancel){ .run = run, .job = slice_str(job) };
	rig_step(rig, &input);
}

/* Submit before -> build (a sub-run) -> after, with a worker, up to the start of build's sub-run. */
static uint64_t begun(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 4);
	graph_job(&graph, "before", "");
	sub_plain(&graph, "build", "before");
	graph_job(&graph, "after", "build");
	run = rig_submit(rig, &graph);
	CHECK(run != 0);
	CHECK(rig_run_one(rig, 0) != 0);
	return run;
}

TEST end_of_sub_run_ends_parent_job(void)
{
	struct rig *rig = rig_new();
	uint64_t run = begun(rig), child = child_of(rig, run, "build");
	struct rec_run_row row = { 0 };

	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	ASSERT(child > run);
	ASSERT(view_run(rig->core, child, &rig->arena, &row));
	ASSERT_EQ(run, row.parent_run);
	ASSERT(slice_eq(row.parent_job, slice_str("build")));
	ASSERT(slice_eq(row.name, slice_str("inner")));
	ASSERT(slice_eq(row.owner, slice_str("ana")));
	rig_run_one(rig, 0);
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	rig_restart(rig);
	rig_hello(rig, "w1", 4);
	rig_pass(rig, 1);
	ASSERT_EQ(child, child_of(rig, run, "build"));
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	rig_pass(rig, 0);
	while (rig_run_one(rig, 0))
		;
	ASSERT(row_ended(rig, child) != 0);
	ASSERT(row_ended(rig, run) != 0);
	ASSERT_EQ(RUN_SUCCEEDED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	rig_free(rig);
	PASS();
}

TEST sub_run_holds_no_slot(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 1);
	sub_plain(&graph, "build", "");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	ASSERT_EQ(1, rig->assigned_count);
	ASSERT_EQ(2, rig_run_all(rig));
	ASSERT(row_ended(rig, run) != 0);
	rig_free(rig);
	PASS();
}

TEST retry_begins_new_sub_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, first, second;

	rig_hello(rig, "w1", 1);
	sub_plain(&graph, "build", "")->retry_max = 1;
	run = rig_submit(rig, &graph);
	first = child_of(rig, run, "build");
	rig_run_one(rig, 3);
	ASSERT(row_ended(rig, first) != 0);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "build"));
	act(rig, ACT_RETRY, first, "", RETRY_FAILED);
	ASSERT_EQ(ERR_TERMINAL, rig->error.code);
	rig_pass(rig, 2000);
	second = child_of(rig, run, "build");
	ASSERT(second > first);
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	act(rig, ACT_RETRY, first, "", RETRY_FAILED);
	ASSERT_EQ(ERR_TERMINAL, rig->error.code);
	rig_run_one(rig, 3);
	ASSERT_EQ(STATE_FAILED, named(rig, run, "build"));
	ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "build")).code);
	rig_free(rig);
	PASS();
}

TEST cancel_of_sub_run_uses_no_retry(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w1", 1);
	sub_plain(&graph, "build", "")->retry_max = 3;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	cancel(rig, child, "");
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_FAILED, named(rig, run, "build"));
	ASSERT_EQ(2, rig_job(rig, rig_named(rig, run, "build")).code);
	rig_free(rig);
	PASS();
}

TEST stop_of_parent_job_stops_sub_run(void)
{
	static const enum job_state ends[] = { STATE_CANCELLED, STATE_TIMED_OUT, STATE_TIMED_OUT };

	for (int how = 0; how < 3; how++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job;
		uint64_t run, child;

		rig_hello(rig, "w1", 1);
		job = sub_plain(&graph, "build", "");
		job->timeout_ms = how == 1 ? 5000 : 0;
		job->deadline_ms = how == 2 ? 5000 : 0;
		run = rig_submit(rig, &graph);
		child = child_of(rig, run, "build");
		rig_started(rig, rig->assigned[0]);
		if (how == 0)
			cancel(rig, run, "");
		else
			rig_pass(rig, 5001);
		ASSERT_EQ(STATE_STOPPING, named(rig, run, "build"));
		ASSERT_EQ(STATE_STOPPING, named(rig, child, "x"));
		ASSERT_EQ(STATE_CANCELLED, named(rig, child, "y"));
		ASSERT_EQ(0, row_ended(rig, run));
		act(rig, ACT_RETRY, child, "y", RETRY_ONLY);
		ASSERT_EQ(ERR_TERMINAL, rig->error.code);
		rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
		ASSERT_EQ(ends[how], named(rig, run, "build"));
		ASSERT(row_ended(rig, run) != 0 && row_ended(rig, child) != 0);
		rig_free(rig);
	}
	PASS();
}

TEST new_round_begins_new_sub_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run = begun(rig), child = child_of(rig, run, "build");

	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_FAILED, named(rig, run, "build"));
	ASSERT_EQ(STATE_SKIPPED, named(rig, run, "after"));
	act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	ASSERT(child_of(rig, run, "build") > child);
	ASSERT_EQ(3, rig_run_all(rig));
	ASSERT(row_ended(rig, run) != 0);
	rig_free(rig);
	PASS();
}

TEST job_of_live_sub_run_can_be_retried(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w1", 2);
	graph_job(&inner, "x", "");
	graph_job(&inner, "z", "");
	sub_job(&graph, "build", "", &inner);
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	rig_run_one(rig, 1);
	act(rig, ACT_RETRY, child, "x", RETRY_FROM);
	ASSERT_EQ(0, rig->error.code);
	rig_run_all(rig);
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "build"));
	rig_free(rig);
	PASS();
}

TEST sub_run_follows_holds_and_priority_of_parent_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	sub_plain(&graph, "build", "")->priority = 71;
	sub_plain(&graph, "later", "build");
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	ASSERT_EQ(71, rig_job(rig, rig_named(rig, child, "y")).priority);
	act(rig, ACT_HOLD, run, "", 0);
	rig_hello(rig, "w1", 1);
	ASSERT_EQ(0, rig->assigned_count);
	act(rig, ACT_PRIORITY, run, "", 90);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child, "y")).priority);
	act(rig, ACT_RELEASE, run, "", 0);
	rig_pass(rig, 1);
	ASSERT_EQ(2, rig_run_one(rig, 0) && rig_run_one(rig, 0) ? 2 : 0);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child_of(rig, run, "later"), "x")).priority);
	act(rig, ACT_HOLD, run, "later", 0);
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 0);
	ASSERT(!rig_take(rig, &(struct rig_attempt){ 0 }));
	rig_free(rig);
	PASS();
}

TEST parent_job_takes_no_room_of_tenant(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, two = { 0 };
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = 77 };
	uint64_t run;

	input.set.set = (struct msg_set){ .kind = OBJECT_TENANT, .name = slice_str("ana"), .verb = SET_PUT, .number = 2,
					  .most = 3 };
	rig_step(rig, &input);
	rig_hello(rig, "w1", 4);
	sub_plain(&graph, "build", "");
	run = rig_submit(rig, &graph);
	graph_job(&two, "plain", "");
	rig_submit(rig, &two);
	ASSERT_EQ(1, rig->assigned_count);
	rig_run_all(rig);
	ASSERT(row_ended(rig, run) != 0);
	rig_free(rig);
	PASS();
}

TEST bound_of_run_counts_sub_runs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 4);
	sub_plain(&graph, "a", "");
	sub_plain(&graph, "b", "");
	rig->max_jobs = 1;
	run = rig_submit(rig, &graph);
	rig->max_jobs = 0;
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "a"));
	ASSERT_EQ(STATE_READY, named(rig, run, "b"));
	rig_restart(rig);
	rig_hello(rig, "w1", 4);
	rig_run_all(rig);
	ASSERT(row_ended(rig, run) != 0);
	rig_free(rig);
	PASS();
}

/* Make a graph of sub-runs with this many levels. */
static void nest(struct graph *graph, unsigned levels)
{
	struct graph inner = { 0 };

	if (levels == 0) {
		graph_job(graph, "leaf", "");
		return;
	}
	nest(&inner, levels - 1);
	sub_job(graph, "deeper", "", &inner);
}

TEST sub_runs_nest_up_to_a_depth(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 1);
	nest(&graph, LIMIT_SUBRUN_DEPTH);
	run = rig_submit(rig, &graph);
	ASSERT(run != 0);
	ASSERT_EQ(1, rig->assigned_count);
	rig_started(rig, rig->assigned[0]);
	cancel(rig, run, "deeper");
	ASSERT_EQ(STATE_STOPPING, named(rig, run, "deeper"));
	rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 9);
	for (uint64_t at = run; at < run + LIMIT_SUBRUN_DEPTH; at++)
		ASSERT(row_ended(rig, at) != 0);
	nest(&graph, LIMIT_SUBRUN_DEPTH + 1);
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT_EQ(ERR_TOO_LARGE, rig->error.code);
	rig_free(rig);
	PASS();
}

TEST wrong_sub_run_is_refused_at_submit(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;

	graph_job(&inner, "x", "");
	graph_job(&inner, "x", "");
	sub_job(&graph, "build", "", &inner);
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT_EQ(ERR_DUPLICATE, rig->error.code);
	job = sub_plain(&graph, "build", "");
	job->sub_count = 3;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT_EQ(ERR_INVALID, rig->error.code);
	job = sub_plain(&graph, "build", "");
	job->script = slice_str("true");
	ASSERT_EQ(0, rig_submit(rig, &graph));
	job = sub_plain(&graph, "build", "");
	job->only_worker = slice_str("w1");
	ASSERT_EQ(0, rig_submit(rig, &graph));
	job = graph_job(&graph, "build", "");
	job->sub_name = slice_str("inner");
	ASSERT_EQ(0, rig_submit(rig, &graph));
	rig_free(rig);
	PASS();
}

TEST sub_run_without_open_job_ends_at_once(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run;

	graph_job(&inner, "x", "")->deadline_at_ms = 1;
	sub_job(&graph, "build", "", &inner);
	graph_job(&graph, "mop", "build-");
	run = rig_submit(rig, &graph);
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_FAILED, named(rig, run, "build"));
	ASSERT_EQ(STATE_READY, named(rig, run, "mop"));
	rig_free(rig);
	PASS();
}

/*
 * A fan-out with fail-fast stops its other sub-runs in the same turn in which one fails, in whatever order the changes
 * come.
 */
TEST failed_sub_run_stops_its_fan_out_in_one_turn(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 0; i < 2; i++) {
		struct graph inner = { 0 };
		struct rec_job_spec *job;

		graph_job(&inner, "gate", "")->gate_count = 1;
		job = sub_job(&graph, i ? "b" : "a", "", &inner);
		job->group = 1;
		job->group_fail_fast = true;
	}
	run = rig_submit(rig, &graph);
	ASSERT(run);
	rig_turn_begin(rig);
	for (int i = 0; i < 2; i++) {
		struct core_input input = { .kind = i ? INPUT_CANCEL : INPUT_ACT, .conn = 1000000, .request = ++rig->request };
		uint64_t child = rig_job(rig, rig_named(rig, run, i ? "b" : "a")).child;

		if (i)
			input.cancel = (struct input_cancel){ .run = child };
		else
			input.act = (struct input_act){ .verb = ACT_HOLD, .run = child, .principal = 1, .person = slice_str("ana") };
		core_step(rig->core, &input);
	}
	rig_turn_end(rig);
	ASSERT_EQ(STATE_FAILED, named(rig, run, "b"));
	ASSERT_EQ(STATE_CANCELLED, named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_says_that_sub_run_is_stopping(void)
{
	struct rig *rig = rig_new();
	uint64_t run = begun(rig);
	struct rec_job_row row;

	rig_started(rig, rig_must_take(rig));
	cancel(rig, run, "build");
	row = rig_job(rig, rig_named(rig, run, "build"));
	ASSERT_EQ(STATE_STOPPING, (enum job_state)row.state);
	ASSERT(view_explain(rig->core, row.job, &rig->arena, &row));
	ASSERT_EQ(REASON_STOPPING, (enum reason)row.why_code);
	rig_free(rig);
	PASS();
}

SUITE(subruns)
{
	RUN_TEST(end_of_sub_run_ends_parent_job);
	RUN_TEST(sub_run_holds_no_slot);
	RUN_TEST(retry_begins_new_sub_run);
	RUN_TEST(cancel_of_sub_run_uses_no_retry);
	RUN_TEST(stop_of_parent_job_stops_sub_run);
	RUN_TEST(new_round_begins_new_sub_run);
	RUN_TEST(job_of_live_sub_run_can_be_retried);
	RUN_TEST(sub_run_follows_holds_and_priority_of_parent_job);
	RUN_TEST(parent_job_takes_no_room_of_tenant);
	RUN_TEST(bound_of_run_counts_sub_runs);
	RUN_TEST(sub_runs_nest_up_to_a_depth);
	RUN_TEST(wrong_sub_run_is_refused_at_submit);
	RUN_TEST(sub_run_without_open_job_ends_at_once);
	RUN_TEST(failed_sub_run_stops_its_fan_out_in_one_turn);
	RUN_TEST(explain_says_that_sub_run_is_stopping);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(subruns);
	GREATEST_MAIN_END();
}
