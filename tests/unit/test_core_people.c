/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions are on what was shown; gates that are sent back; what a person says of a job nobody knows about. */
#include "base/sha256.h"
#include "tests/unit/core_rig.h"

/* A job that may run once, and whose worker was lost. */
static struct rig_attempt unknown(struct rig *rig, uint64_t *ret_run)
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

TEST a_person_settles_what_nobody_knows(void)
{
	static const char *const states[] = { "succeeded", "failed", "ready" };
	struct rec_held held = { .phase = PHASE_RUNNING };
	struct outgoing last;

	for (uint64_t word = SETTLE_DONE; word <= SETTLE_RETRY; word++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;
		uint64_t run, job;

		attempt = unknown(rig, &run);
		job = rig_named(rig, run, "once");
		ASSERT_EQ(job, view_gate_after(rig->core, 0));
		rig_act(rig, ACT_SETTLE, run, "next", word);
		ASSERT(rig_error_says(rig, ERR_PENDING, "needs nobody's word"));
		rig_act(rig, ACT_SETTLE, run, "once", 3);
		ASSERT_EQ(ERR_INVALID, rig->error.code);
		rig_restart(rig);
		ASSERT_EQ(job, view_gate_after(rig->core, 0));
		rig_act(rig, ACT_SETTLE, run, "once", word);
		ASSERT_EQ(1, rig->ok.count);
		ASSERT_STR_EQ(states[word], rig_state_named(rig, run, "once"));
		ASSERT_EQ(0, view_gate_after(rig->core, 0));
		/* Its worker comes too late: what it has is stopped, what it says is not applied. */
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

/* Of one job, by its name: who says it of a run or of a fan-out may not know how many that are. */
TEST a_word_is_on_one_job_and_has_a_reason(void)
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
	ASSERT(rig_error_says(rig, ERR_INVALID, "which job is to be settled?"));
	settle_because(rig, run, "once[*]", slice_str("seen"));
	ASSERT(rig_error_says(rig, ERR_INVALID, "which job is to be settled?"));
	settle_because(rig, alone, "once", slice_str(""));
	ASSERT(rig_error_says(rig, ERR_INVALID, "has a reason"));
	settle_because(rig, alone, "once", slice_make(text, sizeof(text)));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "at most 4096 bytes"));
	ASSERT_STR_EQ("unknown", rig_state_named(rig, alone, "once"));
	settle_because(rig, alone, "once", slice_make(text, LIMIT_REASON_MAX));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, alone, "once"));
	rig_free(rig);
	PASS();
}

TEST its_worker_may_come_first(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_held held;
	uint64_t run;

	attempt = unknown(rig, &run);
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

SUITE(people)
{
	RUN_TEST(a_person_settles_what_nobody_knows);
	RUN_TEST(a_word_is_on_one_job_and_has_a_reason);
	RUN_TEST(its_worker_may_come_first);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(people);
	GREATEST_MAIN_END();
}
