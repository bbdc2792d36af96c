/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates that expire: once, in each round, not while held; expiry leaves a decision's row. */
#include "base/sha256.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

static struct rec_job_spec *graph_gate(struct graph *graph, const char *name, const char *needs, uint64_t count,
				       bool command)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->gate_message = slice_str("Ship it?");
	if (!command)
		job->argv.n = 0;
	return job;
}

TEST gate_expires_once_over_restarts(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_gate(&graph, "no", "", 1, true)->gate_timeout_ms = 5000;
	graph_gate(&graph, "yes", "", 1, false)->gate_timeout_ms = 6000;
	graph.jobs[1].gate_expiry = GATE_APPROVE;
	graph_gate(&graph, "run", "", 1, true)->gate_timeout_ms = 6000;
	graph.jobs[2].gate_expiry = GATE_APPROVE;
	graph.jobs[2].retry_max = 1;
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig->now.wall_ms + 5000, rig_job(rig, 1).due_ms);
	rig_pass(rig, 4999);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "no"));
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 1);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "no"));
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "yes"));
	ASSERT_EQ(3, rig_run_one(rig, 1));
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "run"));
	rig_pass(rig, 2000);
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST decision_row_says_that_gate_expired(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "qa", "")->gate_count = 1;
	graph.jobs[0].gate_timeout_ms = 1000;
	graph.jobs[0].retry_max = 3;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "qa"));
	ASSERT_EQ(EVENT_EXPIRED, rig_job(rig, rig_named(rig, run, "qa")).ended_by);
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	ASSERT_EQ(VERDICT_EXPIRED, rig->tables[TABLE_decision].at[0].row.decision.verdict);
	ASSERT_EQ(-1, rig->tables[TABLE_decision].at[0].row.decision.person);
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs, uint64_t count)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->argv.n = 0;
	return job;
}

static const struct row_decision *decision(const struct rig *rig, size_t at)
{
	CHECK(at < rig->tables[TABLE_decision].count);
	return &rig->tables[TABLE_decision].at[at].row.decision;
}

TEST decision_row_says_that_expired_gate_approved(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate = gate_job(&graph, "qa", "", 1);
	struct slice shown;
	uint64_t run;

	gate->gate_timeout_ms = 1000;
	gate->gate_expiry = GATE_APPROVE;
	run = rig_submit(rig, &graph);
	shown = arena_copy(&rig->arena, rig_digest(rig, run, "qa"));
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "qa"));
	ASSERT_EQ(EVENT_EXPIRED, rig_job(rig, rig_named(rig, run, "qa")).ended_by);
	ASSERT_EQ(VERDICT_EXPIRED_APPROVED, decision(rig, 0)->verdict);
	ASSERT_EQ(rig->now.wall_ms, decision(rig, 0)->wall_ms);
	ASSERT(slice_eq(shown, decision(rig, 0)->digest));
	rig_free(rig);
	PASS();
}

/* A gate that was held and released has its whole time again, though it is in the same round. */
TEST released_gate_has_its_whole_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "qa", "", 1)->gate_timeout_ms = 1000;
	graph_job(&graph, "due-first", "")->delay_ms = 900;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 600);
	rig_act(rig, ACT_HOLD, run, "qa", 0);
	rig_act(rig, ACT_RELEASE, run, "qa", 0);
	rig_pass(rig, 600);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig_pass(rig, 400);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "qa"));
	rig_free(rig);
	PASS();
}

/* A held gate's time stands still, and starts anew at the release. */
TEST held_gate_does_not_expire(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, gate;

	for (int whole = 0; whole < 2; whole++) {
		graph_job(&graph, "qa", "")->gate_count = 1;
		graph.jobs[0].gate_timeout_ms = 5000;
		run = rig_submit(rig, &graph);
		gate = rig_named(rig, run, "qa");
		rig_pass(rig, 4000);
		rig_act(rig, ACT_HOLD, run, whole ? "" : "qa", 0);
		ASSERT_EQ(0, rig_job(rig, gate).due_ms);
		rig_pass(rig, 10000);
		rig_restart(rig);
		rig_pass(rig, 10000);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
		rig_act(rig, ACT_RELEASE, run, whole ? "" : "qa", 0);
		rig_pass(rig, 4999);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
		rig_act(rig, ACT_HOLD, run, "qa", 0);
		rig_act(rig, ACT_RELEASE, run, "qa", 0);
		rig_pass(rig, 4999);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
		rig_pass(rig, 1);
		ASSERT_STR_EQ("denied", rig_state_named(rig, run, "qa"));
	}
	rig_free(rig);
	PASS();
}

/* A gate that is held twice asks again only when both holds are released. */
TEST gate_held_twice_asks_after_last_release(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "qa", "")->gate_count = 1;
	graph.jobs[0].gate_timeout_ms = 5000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "qa", 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(0, rig_job(rig, 1).due_ms);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_act(rig, ACT_RELEASE, run, "qa", 0);
	ASSERT_EQ(0, rig_job(rig, 1).due_ms);
	rig_pass(rig, 9000);
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(rig->now.wall_ms + 5000, rig_job(rig, 1).due_ms);
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *gate_of_one(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

TEST gate_expires_in_each_round(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_of_one(&graph, "ok", "")->gate_timeout_ms = 60000;
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

TEST pushed_back_gate_keeps_its_deadline(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_of_one(&graph, "ok", "a")->deadline_ms = 60000;
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

SUITE(gate_expiry)
{
	RUN_TEST(gate_expires_once_over_restarts);
	RUN_TEST(decision_row_says_that_gate_expired);
	RUN_TEST(decision_row_says_that_expired_gate_approved);
	RUN_TEST(released_gate_has_its_whole_time);
	RUN_TEST(held_gate_does_not_expire);
	RUN_TEST(gate_held_twice_asks_after_last_release);
	RUN_TEST(gate_expires_in_each_round);
	RUN_TEST(pushed_back_gate_keeps_its_deadline);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(gate_expiry);
	GREATEST_MAIN_END();
}
