/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions are on what was shown; gates that are sent back; what a person says of a job nobody knows about. */
#include "base/sha256.h"
#include "tests/unit/core_rig.h"

/* a, b: done; qa asks; c waits for it. */
static uint64_t asked(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "other", "");
	graph_job(&graph, "qa", "b")->gate_count = 1;
	graph.jobs[3].argv.n = 0;
	graph_job(&graph, "c", "qa");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_all(rig);
	CHECK(strcmp(rig_state_named(rig, run, "qa"), "approval") == 0);
	return run;
}

static struct slice shown(struct rig *rig, uint64_t run)
{
	return arena_copy(&rig->arena, rig_digest(rig, run, "qa"));
}

TEST a_decision_is_on_what_was_shown(void)
{
	struct rig *rig = rig_new();
	uint64_t run = asked(rig);
	struct slice first = shown(rig, run);

	ASSERT_EQ(SHA256_SIZE, first.len);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	ASSERT(slice_eq(first, rig_digest(rig, run, "qa")));
	rig->shown = slice_make(first.data, 7);
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "names the digest of what was shown"));
	rig_act(rig, ACT_RETRY, run, "b", RETRY_FROM);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig->shown = first;
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "nothing was decided"));
	rig_act(rig, ACT_REJECT, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "isn't what was shown"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	ASSERT_EQ(0, rig->tables[TABLE_decision].count);
	rig->shown = slice_make(rig_digest(rig, run, "qa").data, 8);
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "qa"));
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "already ended: succeeded"));
	rig_free(rig);
	PASS();
}

static uint64_t loaded_hash(const struct rig *rig)
{
	struct outbox out = { 0 };
	struct error error = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	uint64_t hash;

	CHECK(core);
	hash = core_hash(core);
	core_free(core);
	outbox_free(&out);
	return hash;
}

/* Who does it again is told why, and who said it on what isn't asked twice: the hash covers both (I17). */
static bool hash_covers(struct rig *rig, struct row_decision *row)
{
	const struct row_decision was = *row;
	uint8_t other[SHA256_SIZE] = { 7 };
	uint64_t hash = loaded_hash(rig), without_reason, without_digest;

	row->reason = slice_str("another");
	without_reason = loaded_hash(rig);
	*row = was;
	row->digest = slice_make(other, SHA256_SIZE);
	without_digest = loaded_hash(rig);
	*row = was;
	return hash == core_hash(rig->core) && hash != without_reason && hash != without_digest;
}

TEST pushed_back_to_an_earlier_job(void)
{
	struct rig *rig = rig_new();
	uint64_t run = asked(rig);
	struct slice first = shown(rig, run);
	struct rec_job_spec spec;
	struct outgoing last;

	rig->target = "other";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "'other' isn't before the gate"));
	rig->target = "c";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "'c' isn't before the gate"));
	rig->target = "nope";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
	rig->target = "a";
	rig->shown = first;
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "qa"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "other"));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &last));
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &last.assign.spec, &rig->arena, &spec, NULL));
	ASSERT_EQ(1, spec.env.n);
	ASSERT(slice_eq(spec.env.at[0], slice_str("TITAN_PUSHBACK=because")));
	ASSERT(hash_covers(rig, &rig->tables[TABLE_decision].at[rig->tables[TABLE_decision].count - 1].row.decision));
	/* Said again it changes nothing, also behind a restart; somebody else is too late. */
	rig_restart(rig);
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(0, rig->error.code);
	rig->shown = slice_make(first.data, 8);
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(0, rig->error.code);
	rig->shown = slice_make(first.data, 7);  /* which names nothing */
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(ERR_PENDING, rig->error.code);
	rig->shown = first;
	ASSERT_EQ(0, rig->ok.count);
	rig_act_as(rig, "ben", 2, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "hasn't ended"));
	rig->shown = slice_make(NULL, 0);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(2, rig_run_all(rig));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig->shown = first;
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT_EQ(ERR_CHANGED, rig->error.code);
	rig->shown = slice_make(NULL, 0);
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_EQ(2, rig->tables[TABLE_decision].count);
	rig_free(rig);
	PASS();
}

TEST an_expiry_is_kept_and_told(void)
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
	ASSERT_EQ(EVENT_EXPIRED, rig_job(rig, rig_named(rig, run, "qa")).settled_by);
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	ASSERT_EQ(VERDICT_EXPIRED, rig->tables[TABLE_decision].at[0].row.decision.verdict);
	ASSERT_EQ(-1, rig->tables[TABLE_decision].at[0].row.decision.person);
	rig_free(rig);
	PASS();
}

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
	RUN_TEST(a_decision_is_on_what_was_shown);
	RUN_TEST(pushed_back_to_an_earlier_job);
	RUN_TEST(an_expiry_is_kept_and_told);
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
