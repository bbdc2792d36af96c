/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose word counts, and on what; what is said of a job that a person ends; time that is over while nobody can act. */
#include "base/sha256.h"
#include "proto/expr.h"
#include "tests/unit/core_rig.h"

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs, uint64_t count)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->argv.n = 0;
	return job;
}

/* One job that needs the gate. */
static void grow_behind(struct rig *rig, uint64_t run, const char *gate, const char *name)
{
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct graph_part part = { .count = 1 };
	struct slice names[] = { slice_str(gate) };
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, name, "");
	uint64_t key = ++rig->keys;

	job->triggers.at[job->triggers.n++] = TRIGGER_OK;
	job->needs.at[job->needs.n++] = 1;
	part.body = graph_blob(&graph);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .parts = &part, .part_count = 1,
		.into = run, .parents = { .at = names, .n = 1 } };
	memcpy(input.submit.key, &key, sizeof(key));
	rig_step(rig, &input);
	CHECK(rig->accepted.run == run);
	blob_release(part.body);
	graph_free(&graph);
}

TEST a_vote_is_on_what_the_gate_let_through_then(void)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct slice first;
		uint64_t run;

		gate_job(&graph, "ok", "", 2);
		graph_job(&graph, "b", "ok");
		run = rig_submit(rig, &graph);
		first = arena_copy(&rig->arena, rig_digest(rig, run, "ok"));
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT_EQ(1, rig_job(rig, 1).gate_have);
		grow_behind(rig, run, "ok", "more");
		if (restarts)
			rig_restart(rig);
		ASSERT_FALSE(slice_eq(first, rig_digest(rig, run, "ok")));
		ASSERT_EQ(0, rig_job(rig, 1).gate_have);
		rig->shown = first;
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_CHANGED, "isn't what was shown any more"));
		rig->shown = (struct slice){ 0 };
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
		rig_free(rig);
	}
	PASS();
}

/* What it lets through is what it says, whatever has become of it. */
TEST a_vote_outlives_a_job_that_the_gate_would_have_let_through(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "ok", "", 2);
	graph_job(&graph, "b", "ok");
	graph_job(&graph, "c", "ok");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	rig_cancel(rig, run, "b");
	for (int restarts = 0; restarts < 2; restarts++) {
		ASSERT_EQ(1, rig_job(rig, 1).gate_have);
		rig_restart(rig);
	}
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST a_word_on_an_earlier_round_of_a_gate_counts_no_more(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice first;
	uint64_t run;

	gate_job(&graph, "ok", "", 1);
	graph_job(&graph, "b", "ok");
	run = rig_submit(rig, &graph);
	first = arena_copy(&rig->arena, rig_digest(rig, run, "ok"));
	rig_act(rig, ACT_REJECT, run, "ok", 0);
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig->shown = first;
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "isn't what was shown any more"));
	rig_free(rig);
	PASS();
}

TEST who_isnt_named_decides_nothing(void)
{
	static const char *const others[] = { "be", "benny", "Ben", "ana" };
	static const enum act_verb verbs[] = { ACT_APPROVE, ACT_REJECT };
	struct slice from[] = { slice_str("ben"), slice_str("cid") };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "ok", "", 1)->gate_from = (struct slice_list){ .at = from, .n = 2 };
	run = rig_submit(rig, &graph);
	for (size_t i = 0; i < 8; i++) {
		rig_act_as(rig, others[i / 2], 10 + i, verbs[i % 2], run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names others"));
	}
	ASSERT_EQ(0, rig->tables[TABLE_decision].count);
	rig_act_as(rig, "cid", 3, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST two_gates_of_a_fan_out_are_not_decided_as_one(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "ok[0]", "", 1);
	gate_job(&graph, "ok[1]", "", 1);
	run = rig_submit(rig, &graph);
	rig->shown = arena_copy(&rig->arena, rig_digest(rig, run, "ok[0]"));
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "a fan-out of 2 jobs is no gate"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok[0]"));
	rig_free(rig);
	PASS();
}

/* The gate is in its third round, what was sent back in its second. */
TEST why_it_is_done_again_is_known_in_every_round(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_REJECT, run, "qa", 0);
	rig_act(rig, ACT_RETRY, run, "qa", RETRY_FROM);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(1, rig->ok.count > 0);
	ASSERT(slice_eq(slice_str("because"), rig_job(rig, rig_named(rig, run, "a")).pushback));
	rig_restart(rig);
	ASSERT(slice_eq(slice_str("because"), rig_job(rig, rig_named(rig, run, "a")).pushback));
	rig_free(rig);
	PASS();
}

static const struct row_decision *decision(const struct rig *rig, size_t at)
{
	CHECK(at < rig->tables[TABLE_decision].count);
	return &rig->tables[TABLE_decision].at[at].row.decision;
}

/* For when the run is history. */
TEST a_decision_names_what_it_is_on(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(VERDICT_PUSHED_BACK, decision(rig, 0)->verdict);
	ASSERT(slice_eq(slice_str("qa"), decision(rig, 0)->job_name));
	ASSERT(slice_eq(slice_str("a"), decision(rig, 0)->target_name));
	rig_free(rig);
	PASS();
}

/* The same word again is no other one; on what was shown before or later it would be. */
TEST the_same_push_back_is_on_the_same(void)
{
	uint8_t other[SHA256_SIZE] = { 1, 2, 3 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig->shown = arena_copy(&rig->arena, rig_digest(rig, run, "qa"));
	for (int times = 0; times < 2; times++) {
		rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
		ASSERT_EQ(ERR_NONE, rig->error.code);
	}
	rig->shown = slice_make(other, sizeof(other));
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "hasn't ended"));
	rig_free(rig);
	PASS();
}

/* A gate that asks for one of two may ask people while the other still queues: there is nothing to do again. */
TEST what_queues_is_not_sent_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct buf code = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "")->only_worker = slice_str("other");
	gate = gate_job(&graph, "qa", "a b", 1);
	gate->triggers.at[0] = gate->triggers.at[1] = TRIGGER_EXPR;
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 2, 1u << STATE_SUCCEEDED });
	expr_put(&code, (struct expr_step){ EXPR_GATE, 1, 2, 0 });
	gate->needs_code = buf_slice(&code);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	buf_free(&code);
	rig_run_one(rig, 0);
	rig->target = "b";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "hasn't ended: it is ready"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig_free(rig);
	PASS();
}

/* Each try is a life of its own, and nobody else tells it. */
TEST why_it_is_done_again_is_told_to_each_try(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;
	uint64_t run;

	graph_job(&graph, "a", "")->retry_max = 1;
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	for (int try_no = 1; try_no <= 2; try_no++) {
		ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
		bytes = frame.assign.spec;
		ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL));
		ASSERT(spec.env.n == 1 && slice_eq(spec.env.at[0], slice_str("TITAN_PUSHBACK=because")));
		rig_run_one(rig, 1);
		rig_pass(rig, 2000);
	}
	rig_free(rig);
	PASS();
}

TEST an_expiry_that_lets_through_is_kept_as_that(void)
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
	ASSERT_EQ(EVENT_EXPIRED, rig_job(rig, rig_named(rig, run, "qa")).settled_by);
	ASSERT_EQ(VERDICT_EXPIRED_APPROVED, decision(rig, 0)->verdict);
	ASSERT_EQ(rig->now.wall_ms, decision(rig, 0)->wall_ms);
	ASSERT(slice_eq(shown, decision(rig, 0)->digest));
	rig_free(rig);
	PASS();
}

/* The time that it had before it was held back is none of its own, though it is the same round of the same gate. */
TEST a_gate_that_is_let_go_has_its_whole_time(void)
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

/* --- what settled it --- */

TEST who_cancels_it_settled_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "slow", "")->timeout_ms = 1000;
	graph.jobs[0].retry_max = 1;
	graph.jobs[0].retry_on = RETRY_ON_TIMEOUT;
	job = graph_job(&graph, "gated", "");
	job->gate_count = 1;
	job->gate_timeout_ms = 500;
	job->gate_expiry = GATE_APPROVE;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "slow"));
	rig_gone(rig, rig->conn);
	rig_cancel(rig, run, "slow");
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	ASSERT_EQ(0, rig_job(rig, 1).settled_by);
	rig_restart(rig);
	ASSERT_EQ(0, rig_job(rig, 1).settled_by);
	rig_free(rig);

	rig = rig_new();
	graph = (struct graph){ 0 };
	job = graph_job(&graph, "gated", "");
	job->gate_count = 1;
	job->gate_timeout_ms = 500;
	job->gate_expiry = GATE_APPROVE;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 500);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_cancel(rig, run, "gated");
	ASSERT_EQ(0, rig_job(rig, 1).settled_by);
	rig_free(rig);
	PASS();
}

/* Cancelled first: a deadline that passes while the process ends changes nothing. */
TEST a_cancelled_process_that_ends_after_its_deadline_is_cancelled(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->deadline_ms = 2000;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	rig_pass(rig, 2500);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* --- time --- */

TEST what_a_person_wants_again_is_out_of_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "once", "")->mode = EXEC_ONCE;
	graph.jobs[0].deadline_ms = 2 * LIMIT_GRACE_MS;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, 1));
	rig_act(rig, ACT_SETTLE, run, "once", SETTLE_RETRY);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST of_two_deadlines_the_first_counts(void)
{
	for (int dated = 0; dated < 2; dated++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };

		graph_job(&graph, "a", "")->deadline_ms = dated ? 9000 : 2000;
		graph.jobs[0].deadline_at_ms = rig->now.wall_ms + (dated ? 2000 : 9000);
		rig_submit(rig, &graph);
		rig_pass(rig, 1999);
		ASSERT_EQ(STATE_READY, rig_state(rig, 1));
		rig_pass(rig, 1);
		ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
		rig_free(rig);
	}
	PASS();
}

TEST a_run_that_is_held_back_is_not_given_up(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->dispatch_timeout_ms = 2000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	rig_pass(rig, 1999);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(planted_people)
{
	RUN_TEST(a_vote_is_on_what_the_gate_let_through_then);
	RUN_TEST(a_vote_outlives_a_job_that_the_gate_would_have_let_through);
	RUN_TEST(a_word_on_an_earlier_round_of_a_gate_counts_no_more);
	RUN_TEST(who_isnt_named_decides_nothing);
	RUN_TEST(two_gates_of_a_fan_out_are_not_decided_as_one);
	RUN_TEST(why_it_is_done_again_is_known_in_every_round);
	RUN_TEST(a_decision_names_what_it_is_on);
	RUN_TEST(the_same_push_back_is_on_the_same);
	RUN_TEST(what_queues_is_not_sent_back);
	RUN_TEST(why_it_is_done_again_is_told_to_each_try);
	RUN_TEST(an_expiry_that_lets_through_is_kept_as_that);
	RUN_TEST(a_gate_that_is_let_go_has_its_whole_time);
	RUN_TEST(who_cancels_it_settled_it);
	RUN_TEST(a_cancelled_process_that_ends_after_its_deadline_is_cancelled);
	RUN_TEST(what_a_person_wants_again_is_out_of_time);
	RUN_TEST(of_two_deadlines_the_first_counts);
	RUN_TEST(a_run_that_is_held_back_is_not_given_up);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_people);
	GREATEST_MAIN_END();
}
