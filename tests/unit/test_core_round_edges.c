/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New rounds at their limits: the highest round, retries of single jobs, and which gates are asked again. */
#include "proto/expr.h"
#include "tests/unit/core_why.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

static struct rec_job_spec *graph_gate(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

static uint64_t round_of(struct rig *rig, uint64_t run, const char *name)
{
	return rig_job(rig, rig_named(rig, run, name)).round;
}

static struct rig_attempt started(struct rig *rig)
{
	struct rig_attempt attempt = rig_must_take(rig);

	rig_started(rig, attempt);
	return attempt;
}

/* Change the stored row so that the job has had the highest possible number of rounds. */
static void at_last_round(struct rig *rig, uint64_t run, const char *name)
{
	int64_t serial = (int64_t)rig_named(rig, run, name);

	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == serial)
			rig->tables[TABLE_job].at[i].row.job.round = UINT16_MAX;
	rig_restart(rig);
	CHECK(round_of(rig, run, name) == UINT16_MAX);
}

TEST last_round_cannot_be_retried(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	at_last_round(rig, run, "a");
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(UINT16_MAX, round_of(rig, run, "a"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST push_back_beyond_last_round_is_refused(void)
{
	static const char *const last[] = { "a", "ok" };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		graph_job(&graph, "a", "");
		graph_gate(&graph, "ok", "a");
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		rig_run_all(rig);
		at_last_round(rig, run, last[i]);
		rig->target = "a";
		rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
		ASSERT_EQ(ERR_INVALID, rig->error.code);
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "a"));
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_free(rig);
	}
	PASS();
}

/* A job in a new round looks like one that never started: nothing of its earlier end is shown. */
TEST new_round_keeps_no_facts(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	uint64_t run;

	graph_job(&graph, "first", "");
	graph_job(&graph, "b", "first");
	graph_job(&graph, "c", "b");
	graph_gate(&graph, "ok", "first")->gate_timeout_ms = 1000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_run_one(rig, 7);
	rig_pass(rig, 1001);
	ASSERT_EQ(EVENT_EXPIRED, rig_job(rig, rig_named(rig, run, "ok")).ended_by);
	ASSERT(rig_job(rig, rig_named(rig, run, "c")).cause != 0);
	rig_act(rig, ACT_RETRY, run, "", RETRY_ALL);
	ASSERT_EQ(4, rig->ok.count);
	row = rig_job(rig, rig_named(rig, run, "b"));
	ASSERT(row.state == STATE_WAITING && row.round == 1 && row.tries == 0 && row.outcome == OUTCOME_NONE);
	ASSERT(row.started_ms == 0 && row.ended_ms == 0 && row.due_ms == 0 && row.worker.len == 0);
	ASSERT(row.code == 0 && row.cpu_us == 0 && row.rss_kib == 0 && row.out_bytes == 0);
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "c")).cause);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "ok")).ended_by);
	rig_free(rig);
	PASS();
}

/* The reason of a push back is given in that round only, not in later rounds of the job. */
TEST pushback_reason_is_of_one_round(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "before", "");
	graph_job(&graph, "a", "before");
	graph_gate(&graph, "ok", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_all(rig);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	ASSERT(slice_eq(rig_job(rig, rig_named(rig, run, "a")).pushback, slice_str("because")));
	rig_act(rig, ACT_RETRY, run, "before", RETRY_FROM);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "a"));
	ASSERT_EQ(2, round_of(rig, run, "a"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "a")).pushback.len);
	rig_free(rig);
	PASS();
}

/* A sub-run belongs to one round, so a new round has none yet. */
TEST new_round_has_no_sub_run_yet(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;
	struct blob *body;
	uint64_t run;

	graph_job(&inner, "x", "");
	body = graph_blob(&inner);
	graph_job(&graph, "first", "");
	job = graph_job(&graph, "b", "first");
	job->argv.n = 0;
	job->sub_jobs = blob_slice(body);
	job->sub_count = 1;
	job->sub_name = slice_str("inner");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	blob_release(body);
	graph_free(&inner);
	rig_run_all(rig);
	ASSERT(rig_job(rig, rig_named(rig, run, "b")).child > run);
	rig_act(rig, ACT_RETRY, run, "", RETRY_ALL);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "b")).child);
	rig_free(rig);
	PASS();
}

/* --- which gates are asked again --- */

/* A retry asks a gate about an old result again, even if all jobs behind the gate run or have ended. */
TEST retry_sends_gate_back_whatever_its_children_do(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_gate(&graph, "ok", "a");
	graph_job(&graph, "b", "ok");
	graph_job(&graph, "c", "ok")->delay_ms = 60000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	started(rig);
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT_EQ(2, rig->ok.count);
	rig_cancel(rig, run, "c");
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "b"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(2, round_of(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

/* A retry runs a command again whatever has followed from its old result; only a gate may be left out. */
TEST retry_opens_command_whose_child_runs(void)
{
	for (int kind = 0; kind < 3; kind++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 }, inner = { 0 };
		struct rec_job_spec *job;
		struct blob *body;
		bool sub = kind == 1;
		uint64_t run;

		graph_job(&inner, "x", "");
		body = graph_blob(&inner);
		job = graph_job(&graph, "first", "");
		if (kind == 2) {
			job->argv.n = 0;
			job->script = slice_str("true\n");
		}
		if (sub) {
			job->argv.n = 0;
			job->sub_jobs = blob_slice(body);
			job->sub_count = 1;
			job->sub_name = slice_str("inner");
			job->delay_ms = 1000;
		} else {
			job->gate_count = 1;
		}
		graph_job(&graph, "then", "first");
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		blob_release(body);
		graph_free(&inner);
		if (sub)
			rig_pass(rig, 1001);
		else
			rig_act(rig, ACT_APPROVE, run, "first", 0);
		rig_run_one(rig, 0);
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "first"));
		started(rig);
		ASSERT_STR_EQ("running", rig_state_named(rig, run, "then"));
		rig_act(rig, ACT_RETRY, run, "first", RETRY_FROM);
		ASSERT_EQ(1, rig->ok.count);
		ASSERT_EQ(1, round_of(rig, run, "first"));
		rig_free(rig);
	}
	PASS();
}

/* Make a fan-out of gates: one has no child and is open; the answer of the other has let a job start. */
TEST retry_names_gate_that_would_decide_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_gate(&graph, "ok[0]", "");
	graph_gate(&graph, "ok[1]", "");
	graph_job(&graph, "b", "ok[1]");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_APPROVE, run, "ok[1]", 0);
	started(rig);
	rig_act(rig, ACT_RETRY, run, "ok[*]", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_PENDING,
			      "asking gate ok[1] again would change nothing, because a job that it let run hasn't ended: b is running"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok[0]"));
	rig_free(rig);
	PASS();
}

/* --- alone --- */

static struct slice code_of(struct graph *graph, const struct expr_step *steps, size_t count)
{
	struct buf code = { 0 };
	struct slice copy;

	for (size_t i = 0; i < count; i++)
		expr_put(&code, steps[i]);
	copy = arena_copy(&graph->arena, buf_slice(&code));
	buf_free(&code);
	return copy;
}

/* Make a job whose parents count only in an expression. */
static struct rec_job_spec *asking_job(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	for (size_t i = 0; i < job->needs.n; i++)
		job->triggers.at[i] = TRIGGER_EXPR;
	return job;
}

/* With --only, children that are queued because of another parent stay queued. */
TEST retry_only_sends_back_children_alone(void)
{
	static const struct expr_step either[] = { { EXPR_STATE, 0, 2, 1u << STATE_SUCCEEDED }, { EXPR_GATE, 1, 2, 0 } };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "other", "");
	graph_job(&graph, "b", "a");
	asking_job(&graph, "c", "b other")->needs_code = code_of(&graph, either, 2);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "c"));
	rig_act(rig, ACT_HOLD, run, "b", 0);
	rig_act(rig, ACT_HOLD, run, "c", 0);
	rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "b"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	ASSERT_EQ(0, round_of(rig, run, "c"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "c"));
	rig_free(rig);
	PASS();
}

/* Explain names the job whose end made the condition false, in each round. */
TEST explain_names_false_condition_in_each_round(void)
{
	static const struct expr_step three[] = { { EXPR_CODE, 0, EXPR_EQ, 3 } };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	const char *told;
	uint64_t run;

	graph_job(&graph, "check", "");
	job = asking_job(&graph, "fix", "check");
	job->when_code = code_of(&graph, three, 1);
	job->when = slice_str("check.code == 3");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 4);
	told = "condition: the job's condition was false: check.code == 3; check is failed with code 4";
	ASSERT_STR_EQ(told, why(rig, run, "fix"));
	rig_act(rig, ACT_RETRY, run, "fix", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ(told, why(rig, run, "fix"));
	rig_free(rig);
	PASS();
}

SUITE(round_edges)
{
	RUN_TEST(last_round_cannot_be_retried);
	RUN_TEST(push_back_beyond_last_round_is_refused);
	RUN_TEST(new_round_keeps_no_facts);
	RUN_TEST(pushback_reason_is_of_one_round);
	RUN_TEST(new_round_has_no_sub_run_yet);
	RUN_TEST(retry_sends_gate_back_whatever_its_children_do);
	RUN_TEST(retry_opens_command_whose_child_runs);
	RUN_TEST(retry_names_gate_that_would_decide_nothing);
	RUN_TEST(retry_only_sends_back_children_alone);
	RUN_TEST(explain_names_false_condition_in_each_round);
}

/*
 * A child in state delayed, before its first try or between tries, goes back to waiting: it was started by the old
 * result.
 */
TEST retry_sends_delayed_child_back_to_waiting(void)
{
	for (int tried = 0; tried < 2; tried++) {
		for (uint64_t scope = RETRY_FROM; scope <= RETRY_ONLY; scope++) {
			struct rig *rig = rig_new();
			struct graph graph = { 0 };
			struct rec_job_spec *job;
			uint64_t run;

			graph_job(&graph, "a", "");
			job = graph_job(&graph, "b", "a");
			job->delay_ms = tried ? 0 : 60000;
			job->retry_max = 1;
			job->backoff_ms = 60000;
			rig_hello(rig, "w", 1);
			run = rig_submit(rig, &graph);
			rig_run_one(rig, 0);
			if (tried)
				rig_run_one(rig, 3);
			ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "b"));
			rig_act(rig, ACT_RETRY, run, "a", scope);
			ASSERT_EQ(2, rig->ok.count);
			ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
			ASSERT_EQ(1, rig_job(rig, 2).round);
			rig_free(rig);
		}
	}
	PASS();
}

/* With --only on a fan-out, the queued children of each member go back to waiting. */
TEST retry_only_of_fan_out_sends_back_queued_children(void)
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

TEST new_round_begins_with_no_crashes(void)
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

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(round_edges);
	RUN_TEST(retry_sends_delayed_child_back_to_waiting);
	RUN_TEST(retry_only_of_fan_out_sends_back_queued_children);
	RUN_TEST(new_round_begins_with_no_crashes);
	GREATEST_MAIN_END();
}
