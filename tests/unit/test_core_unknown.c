/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unknown jobs: how late results, returning workers and people end that state. */
#include "base/sha256.h"
#include "tests/unit/core_rig.h"

static uint64_t submit_in_mode(struct rig *rig, enum exec_mode mode)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->mode = mode;
	return rig_submit(rig, &graph);
}

static void say_done(struct rig *rig, struct rig_attempt attempt, struct rec_done done)
{
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	done.job = attempt.job;
	done.epoch = attempt.epoch;
	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

/* A late result ends an unknown job according to its outcome. */
TEST late_results_end_unknown_job_by_outcome(void)
{
	static const struct {
		enum outcome outcome;
		int64_t started_ms;
		enum job_state state;
	} cases[] = {
		{ OUTCOME_RECALLED, 0, STATE_ASSIGNED }, { OUTCOME_STOPPED, 0, STATE_ASSIGNED },
		{ OUTCOME_REFUSED, 0, STATE_ASSIGNED }, { OUTCOME_REFUSED, 5, STATE_UNKNOWN },
		{ OUTCOME_RECALLED, 5, STATE_UNKNOWN }, { OUTCOME_STOPPED, 5, STATE_UNKNOWN },
		{ OUTCOME_SPAWN, 5, STATE_FAILED }, { OUTCOME_NO_DIR, 5, STATE_FAILED }, { OUTCOME_EXIT, 5, STATE_SUCCEEDED },
		{ OUTCOME_EXIT_UNKNOWN, 0, STATE_UNKNOWN }, { OUTCOME_EXIT_UNKNOWN, 5, STATE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt, other;
		struct rec_held held;

		rig_hello(rig, "w", 1);
		submit_in_mode(rig, EXEC_ONCE);
		attempt = rig_must_take(rig);
		rig_gone(rig, attempt.conn);
		rig_pass(rig, LIMIT_GRACE_MS);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		held = (struct rec_held){ attempt.job, attempt.epoch, PHASE_ENDED };
		attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
		other = attempt;
		other.conn = rig_hello(rig, "other", 1);
		rig_done(rig, other, OUTCOME_EXIT, 0);
		other = attempt;
		other.epoch++;
		rig_done(rig, other, OUTCOME_EXIT, 0);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		say_done(rig, attempt, (struct rec_done){ .outcome = cases[i].outcome, .started_ms = cases[i].started_ms });
		ASSERT_EQ_FMT((int)cases[i].state, (int)rig_state(rig, attempt.job), "%d");
		rig_free(rig);
	}
	PASS();
}

static uint64_t hello_life(struct rig *rig, const char *instance)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){
		.name = slice_str("w"), .instance = slice_str(instance), .slots = 1, .pid = 9 };
	rig_step(rig, &input);
	return input.conn;
}

/* For a job with mode once, only its own keeper in the same life can say that the job never started. */
TEST once_job_is_unknown_to_keeper_of_another_instance(void)
{
	static const struct {
		const char *before, *after;
		enum job_state state;
	} cases[] = {
		{ "life", "life", STATE_ASSIGNED }, { "life", "more", STATE_UNKNOWN }, { "", "", STATE_UNKNOWN },
		{ "life", "lif", STATE_UNKNOWN }, { "life", "", STATE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;

		hello_life(rig, cases[i].before);
		submit_in_mode(rig, EXEC_ONCE);
		attempt = rig_must_take(rig);
		rig_gone(rig, rig->conn);
		hello_life(rig, cases[i].after);
		ASSERT_EQ_FMT((int)cases[i].state, (int)rig_state(rig, attempt.job), "%d");
		rig_free(rig);
	}
	PASS();
}

TEST started_once_job_without_attempt_is_unknown(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_in_mode(rig, EXEC_ONCE);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_hello(rig, "w", 1);          /* the same keeper reconnects and reports that it hasn't the job */
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

TEST unknown_job_queued_at_worker_is_stopped(void)
{
	static const enum attempt_phase phases[] = { PHASE_QUEUED, PHASE_ENDED };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;
		struct rec_held held;

		rig_hello(rig, "w", 1);
		submit_in_mode(rig, EXEC_ONCE);
		attempt = rig_must_take(rig);
		rig_gone(rig, attempt.conn);
		rig_pass(rig, LIMIT_GRACE_MS);
		held = (struct rec_held){ attempt.job, attempt.epoch, phases[i] };
		rig_hello_held(rig, "w", 1, &held, 1);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		ASSERT_EQ(phases[i] == PHASE_QUEUED ? 1 : 0, rig_frames(rig, OP_STOP, NULL));
		rig_free(rig);
	}
	PASS();
}

/* Make a job with mode once whose worker was lost. */
static struct rig_attempt unknown_attempt(struct rig *rig, uint64_t *ret_run)
{
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t conn;

	graph_job(&graph, "once", "")->mode = EXEC_ONCE;
	graph_job(&graph, "next", "once");
	conn = rig_hello(rig, "w", 1);
	*ret_run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS + 1000);
	CHECK(strcmp(rig_state_named(rig, *ret_run, "once"), "unknown") == 0);
	return attempt;
}

TEST settle_ends_unknown_job(void)
{
	static const char *const states[] = { "succeeded", "failed", "ready" };
	struct rec_held held = { .phase = PHASE_RUNNING };
	struct outgoing last;

	for (uint64_t word = SETTLE_DONE; word <= SETTLE_RETRY; word++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;
		uint64_t run, job;

		attempt = unknown_attempt(rig, &run);
		job = rig_named(rig, run, "once");
		ASSERT_EQ(job, view_gate_after(rig->core, 0));
		rig_act(rig, ACT_SETTLE, run, "next", word);
		ASSERT(rig_error_says(rig, ERR_PENDING, "isn't in state unknown, so it can't be settled: it is"));
		rig_act(rig, ACT_SETTLE, run, "once", 3);
		ASSERT_EQ(ERR_INVALID, rig->error.code);
		rig_restart(rig);
		ASSERT_EQ(job, view_gate_after(rig->core, 0));
		rig_act(rig, ACT_SETTLE, run, "once", word);
		ASSERT_EQ(1, rig->ok.count);
		ASSERT_STR_EQ(states[word], rig_state_named(rig, run, "once"));
		ASSERT_EQ(0, view_gate_after(rig->core, 0));
		/* The worker returns after the job was settled: its attempt is stopped, and its result is ignored. */
		held.job = attempt.job;
		held.epoch = attempt.epoch;
		attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
		ASSERT_EQ(1, rig_frames(rig, OP_STOP, &last));
		rig_done(rig, attempt, OUTCOME_EXIT, 5);
		ASSERT_EQ(word == SETTLE_DONE, strcmp("skipped", rig_state_named(rig, run, "next")) != 0 && word != SETTLE_RETRY);
		if (word == SETTLE_RETRY)
			ASSERT_EQ(job, rig_run_one(rig, 0));
		if (word != SETTLE_FAILED)
			ASSERT_EQ(1, rig_run_all(rig));
		ASSERT_EQ(word == SETTLE_FAILED ? RUN_FAILED : RUN_SUCCEEDED, rig_run_state(rig, run));
		rig_free(rig);
	}
	PASS();
}

static void settle_because(struct rig *rig, uint64_t run, const char *job, struct slice reason)
{
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = ++rig->request };

	input.act = (struct input_act){ .verb = ACT_SETTLE, .run = run, .job = slice_str(job), .value = SETTLE_DONE,
		.text = reason, .principal = 1, .person = slice_str("ana") };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

/* titan settle takes one job by name; a run or a fan-out could be more jobs than the person knows of. */
TEST settle_names_one_job_and_reason(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char text[LIMIT_REASON_MAX + 1];
	uint64_t conn = rig_hello(rig, "w", 3), run, alone;

	memset(text, 'x', sizeof(text));
	graph_job(&graph, "once", "")->mode = EXEC_ONCE;
	alone = rig_submit(rig, &graph);
	graph_job(&graph, "once[0]", "")->mode = EXEC_ONCE;
	graph_job(&graph, "once[1]", "")->mode = EXEC_ONCE;
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 3; i++)
		rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS + 1000);
	settle_because(rig, alone, "", slice_str("seen"));
	ASSERT(rig_error_says(rig, ERR_INVALID, "that you want to settle"));
	settle_because(rig, run, "once[*]", slice_str("seen"));
	ASSERT(rig_error_says(rig, ERR_INVALID, "that you want to settle"));
	settle_because(rig, alone, "once", slice_str(""));
	ASSERT(rig_error_says(rig, ERR_INVALID, "to settle an unknown job, give a reason of at most 4096 bytes"));
	settle_because(rig, alone, "once", slice_make(text, sizeof(text)));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "at most 4096 bytes"));
	ASSERT_STR_EQ("unknown", rig_state_named(rig, alone, "once"));
	settle_because(rig, alone, "once", slice_make(text, LIMIT_REASON_MAX));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, alone, "once"));
	rig_free(rig);
	PASS();
}

TEST settle_after_return_of_worker_is_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_held held;
	uint64_t run;

	attempt = unknown_attempt(rig, &run);
	held = (struct rec_held){ .job = attempt.job, .epoch = attempt.epoch, .phase = PHASE_RUNNING };
	attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
	rig_act(rig, ACT_SETTLE, run, "once", SETTLE_FAILED);
	ASSERT(rig_error_says(rig, ERR_PENDING, "it is running"));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_act(rig, ACT_SETTLE, run, "once", SETTLE_FAILED);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "it is succeeded"));
	rig_free(rig);
	PASS();
}

SUITE(unknown)
{
	RUN_TEST(late_results_end_unknown_job_by_outcome);
	RUN_TEST(once_job_is_unknown_to_keeper_of_another_instance);
	RUN_TEST(started_once_job_without_attempt_is_unknown);
	RUN_TEST(unknown_job_queued_at_worker_is_stopped);
	RUN_TEST(settle_ends_unknown_job);
	RUN_TEST(settle_names_one_job_and_reason);
	RUN_TEST(settle_after_return_of_worker_is_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(unknown);
	GREATEST_MAIN_END();
}
