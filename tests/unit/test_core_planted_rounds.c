/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A later round is like the first: what people and specifications said of a job holds in it as well. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

TEST what_waits_is_held_back_still(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt other;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "x", "");
	graph_job(&graph, "b", "a x");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	other = rig_must_take(rig);
	rig_started(rig, other);
	rig_act(rig, ACT_HOLD, run, "b", 0);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	ASSERT(rig_job(rig, 3).held);
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST a_gate_that_was_pushed_back_has_its_deadline(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_job(&graph, "ok", "a")->deadline_ms = 60000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
	ASSERT_EQ(0, rig->errors);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(1, rig_job(rig, 2).round);
	rig_pass(rig, 60001);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST a_gate_expires_in_each_round(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "ok", "")->gate_timeout_ms = 60000;
	run = rig_submit(rig, &graph);
	for (int round = 0; round < 2; round++) {
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_pass(rig, 59999);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_pass(rig, 2);
		ASSERT_STR_EQ("denied", rig_state_named(rig, run, "ok"));
		rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	}
	rig_free(rig);
	PASS();
}

static bool told_why(struct rig *rig, const struct outgoing *frame)
{
	struct slice bytes = frame->assign.spec;
	struct rec_job_spec spec;

	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	return spec.env.n > 0 && slice_eq(spec.env.at[0], slice_str("TITAN_PUSHBACK=because"));
}

/* What comes before it is just being done again. */
TEST what_was_sent_back_and_waits_is_told_why(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing frame;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	gate_job(&graph, "ok", "b");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	ASSERT_EQ(2, rig_run_all(rig));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	rig->target = "b";
	rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
	ASSERT_EQ(0, rig->errors);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	rig_run_one(rig, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	ASSERT_EQ(2, frame.assign.job);
	ASSERT(told_why(rig, &frame));
	rig_free(rig);
	PASS();
}

TEST crashes_of_a_round_are_its_own(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->crash_limit = 2;
	job->backoff_ms = 1000;
	job->backoff_exact = true;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	for (int round = 0; round < 2; round++) {
		rig_started(rig, rig_must_take(rig));
		rig_hello(rig, "w", 1);          /* and has nothing */
		ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
		ASSERT_EQ(1, rig_job(rig, 1).crashes);
		rig_pass(rig, 1001);
		rig_run_one(rig, 3);
		ASSERT_STR_EQ("failed", rig_state_named(rig, run, "a"));
		rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
		ASSERT_EQ(0, rig_job(rig, 1).crashes);
	}
	rig_free(rig);
	PASS();
}

TEST a_long_reason_is_told_whole(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = 77 };
	char reason[LIMIT_REASON_MAX], told[sizeof("TITAN_PUSHBACK=") + LIMIT_REASON_MAX];
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;
	uint64_t run;

	memset(reason, 'x', sizeof(reason));
	memcpy(told, "TITAN_PUSHBACK=", 15);
	memset(told + 15, 'x', sizeof(reason));
	graph_job(&graph, "a", "");
	gate_job(&graph, "ok", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	input.act = (struct input_act){ .verb = ACT_PUSHBACK, .run = run, .job = slice_str("ok"), .target = slice_str("a"),
		.text = slice_make(reason, sizeof(reason)), .principal = 1, .person = slice_str("ana"),
		.digest = rig_digest(rig, run, "ok") };
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	bytes = frame.assign.spec;
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL));
	ASSERT(spec.env.n == 1 && slice_eq(spec.env.at[0], slice_make(told, 15 + sizeof(reason))));
	rig_free(rig);
	PASS();
}

/* What was added behind it would go by another answer. */
TEST a_gate_decides_for_what_was_added(void)
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
	ASSERT(rig_error_says(rig, ERR_PENDING, "would decide nothing"));
	need_old(added(&graph, "c", 0, TRIGGER_OK), 1, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "ok x") != 0);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c"));
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST what_was_added_waits_for_the_new_result(void)
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

/* Its run is another one by then. */
TEST a_sub_run_that_is_tried_again_is_held_back(void)
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

SUITE(planted_rounds)
{
	RUN_TEST(what_waits_is_held_back_still);
	RUN_TEST(a_gate_that_was_pushed_back_has_its_deadline);
	RUN_TEST(a_gate_expires_in_each_round);
	RUN_TEST(what_was_sent_back_and_waits_is_told_why);
	RUN_TEST(crashes_of_a_round_are_its_own);
	RUN_TEST(a_long_reason_is_told_whole);
	RUN_TEST(a_gate_decides_for_what_was_added);
	RUN_TEST(what_was_added_waits_for_the_new_result);
	RUN_TEST(a_sub_run_that_is_tried_again_is_held_back);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_rounds);
	GREATEST_MAIN_END();
}
