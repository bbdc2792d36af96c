/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Votes on gates: whose votes count, on which digest, in which round, and what the decision's row contains. */
#include "base/sha256.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* Submit a and b, which are done; gate qa, which is open; and c, which needs qa. */
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

TEST decision_on_changed_gate_is_refused(void)
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
	ASSERT(rig_error_says(rig, ERR_INVALID, "of the digest of what the person was shown"));
	rig_act(rig, ACT_RETRY, run, "b", RETRY_FROM);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig->shown = first;
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "nothing was decided"));
	rig_act(rig, ACT_REJECT, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "has changed since it was shown; nothing was decided"));
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

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs, uint64_t count)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->argv.n = 0;
	return job;
}

/* Add one job that needs the gate to the live run. */
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

TEST vote_is_void_after_job_is_added_behind_gate(void)
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
		ASSERT(rig_error_says(rig, ERR_CHANGED, "has changed since it was shown; nothing was decided"));
		rig->shown = (struct slice){ 0 };
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
		rig_free(rig);
	}
	PASS();
}

/*
 * A vote stays valid when a child of the gate is cancelled: the digest covers which jobs the gate lets through, not
 * their states.
 */
TEST vote_outlives_cancelled_child_of_gate(void)
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

TEST vote_on_earlier_round_is_refused(void)
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
	ASSERT(rig_error_says(rig, ERR_CHANGED, "has changed since it was shown; nothing was decided"));
	rig_free(rig);
	PASS();
}

TEST gate_refuses_votes_of_people_not_named(void)
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
		ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names other people"));
	}
	ASSERT_EQ(0, rig->tables[TABLE_decision].count);
	rig_act_as(rig, "cid", 3, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

static struct slice anna_and_ben[] = { { (const uint8_t *)"ana", 3 }, { (const uint8_t *)"ben", 3 } };
static const struct core_team teams[] = {
	{ { (const uint8_t *)"release", 7 }, { anna_and_ben, 2 } }, { { (const uint8_t *)"empty", 5 }, { NULL, 0 } },
};

/* Load the state again with the first count teams, as a restarted master does. */
static void use_teams(struct rig *rig, size_t count)
{
	rig->config.teams = teams;
	rig->config.team_count = count;
	rig_restart(rig);
}

TEST members_of_a_team_may_approve(void)
{
	struct slice from[] = { slice_str("@release"), slice_str("cid") };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	use_teams(rig, 2);
	gate_job(&graph, "ok", "", 2)->gate_from = (struct slice_list){ .at = from, .n = 2 };
	run = rig_submit(rig, &graph);
	rig_act_as(rig, "release", 10, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names other people"));
	rig_act_as(rig, "@release", 11, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names other people"));
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig_act_as(rig, "cid", 3, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST votes_stay_when_their_team_has_gone(void)
{
	struct slice from[] = { slice_str("@release"), slice_str("cid") };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	use_teams(rig, 2);
	gate_job(&graph, "ok", "", 2)->gate_from = (struct slice_list){ .at = from, .n = 2 };
	run = rig_submit(rig, &graph);
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
	use_teams(rig, 0);
	rig_act_as(rig, "ana", 4, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names other people"));
	rig_act_as(rig, "cid", 3, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

TEST gate_of_a_wrong_team_is_refused(void)
{
	static const struct { const char *team; uint64_t count; enum err code; const char *says; } rows[] = {
		{ "@relase", 1, ERR_UNKNOWN_NAME, "there is no team @relase; the teams of titan.conf are @release, @empty" },
		{ "@empty", 1, ERR_INVALID, "1 must approve, but only 0 may: @empty (nobody)" },
		{ "@release", 3, ERR_INVALID, "3 must approve, but only 2 may: @release (ana, ben), ben" },
		{ "@re lease", 1, ERR_INVALID, "a team must be given as @NAME" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice from[] = { slice_str(rows[i].team), slice_str("ben") };
		struct rig *rig = rig_new();
		struct graph graph = { 0 };

		use_teams(rig, 2);
		gate_job(&graph, "ok", "", rows[i].count)->gate_from = (struct slice_list){ .at = from, .n = 1 + (rows[i].count > 1) };
		rig_submit(rig, &graph);
		ASSERT(rig_error_says(rig, rows[i].code, rows[i].says));
		rig_free(rig);
	}
	PASS();
}

TEST vote_on_fan_out_of_gates_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	gate_job(&graph, "ok[0]", "", 1);
	gate_job(&graph, "ok[1]", "", 1);
	run = rig_submit(rig, &graph);
	rig->shown = arena_copy(&rig->arena, rig_digest(rig, run, "ok[0]"));
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "the name stands for a fan-out of 2 jobs"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok[0]"));
	rig_free(rig);
	PASS();
}

/* The submitter may reject and push back, like the people whom the gate names, but not approve. */
TEST submitter_may_reject_and_push_back_but_not_approve(void)
{
	static const enum act_verb verbs[] = { ACT_REJECT, ACT_PUSHBACK };
	struct slice from[] = { slice_str("ana"), slice_str("ben") };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		rig_hello(rig, "w", 1);
		rig_set(rig, (struct msg_set){ .kind = OBJECT_TOKEN, .verb = SET_PUT, .name = slice_str("b"), .text = slice_str("ben"),
					       .number = ROLE_BIT(APPROVER), .secret = slice_str("sealed") });
		graph_job(&graph, "a", "");
		gate_job(&graph, "ok", "a", 1)->gate_from = (struct slice_list){ .at = from, .n = 2 };
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_DENIED, "so can't approve gate ok: ben must"));
		rig->target = "a";
		rig_act_as(rig, "cid", 3, verbs[i], run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_DENIED, "the pipeline names other people"));
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
		rig_act(rig, verbs[i], run, "ok", 0);
		ASSERT_EQ(ERR_NONE, rig->error.code);
		ASSERT_STR_EQ(i ? "waiting" : "denied", rig_state_named(rig, run, "ok"));
		rig_free(rig);
	}
	PASS();
}

/* titan approve RUN means the run's open gate; a gate that isn't open yet doesn't make the word ambiguous. */
TEST approve_of_run_means_its_open_gate(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	job = graph_job(&graph, "later", "a");
	job->gate_count = 1;
	job = graph_job(&graph, "now", "");
	job->gate_count = 1;
	run = rig_submit(rig, &graph);
	rig->shown = arena_copy(&rig->arena, rig_digest(rig, run, "now"));
	rig_act(rig, ACT_APPROVE, run, "", 0);
	ASSERT_EQ(0, rig->errors);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "now"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "later"));
	rig_free(rig);
	PASS();
}

TEST decision_row_names_person_and_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	const struct row_decision *decision;
	struct rec_job_spec *job = graph_job(&graph, "ok", "");
	uint64_t run;

	job->gate_count = 1;
	job->argv.n = 0;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 5000);
	rig_act_as(rig, "ben", 2, ACT_REJECT, run, "ok", 0);
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	decision = &rig->tables[TABLE_decision].at[0].row.decision;
	ASSERT(slice_eq(decision->name, slice_str("ben")) && decision->person == 2);
	ASSERT_EQ(rig->now.wall_ms, decision->wall_ms);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(0, rig_job(rig, 1).ended_by);
	rig_free(rig);
	PASS();
}

static const struct row_decision *decision(const struct rig *rig, size_t at)
{
	CHECK(at < rig->tables[TABLE_decision].count);
	return &rig->tables[TABLE_decision].at[at].row.decision;
}

/* The row of a decision names gate and target, so that it can be shown after the run has left memory. */
TEST decision_row_names_gate_and_target(void)
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

TEST reason_over_its_limit_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char text[LIMIT_REASON_MAX + 1];
	uint64_t run;

	memset(text, 'x', sizeof(text));
	graph_gate(&graph, "ok", "");
	run = rig_submit(rig, &graph);
	decide(rig, run, "ok", slice_make(text, LIMIT_REASON_MAX + 1));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "the reason has 4097 bytes"));
	decide(rig, run, "ok", slice_make(text, LIMIT_REASON_MAX));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

/* An approval of a command holds for one round, whether the command has a delay or not. */
TEST command_with_gate_asks_in_each_round(void)
{
	for (uint64_t delay_ms = 0; delay_ms <= 1000; delay_ms += 1000) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_job(&graph, "deploy", "");
		uint64_t run;

		job->gate_count = 1;
		job->delay_ms = delay_ms;
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		for (int round = 0; round < 2; round++) {
			rig_pass(rig, (int64_t)delay_ms + 1);
			ASSERT_STR_EQ("approval", rig_state_named(rig, run, "deploy"));
			ASSERT_EQ(0, rig_job(rig, 1).gate_have);
			rig_act(rig, ACT_APPROVE, run, "deploy", 0);
			ASSERT_EQ(1, rig_run_one(rig, 3));
			rig_act(rig, ACT_RETRY, run, "deploy", RETRY_FROM);
		}
		rig_free(rig);
	}
	PASS();
}

TEST approved_gate_starts_its_script(void)
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

SUITE(gate_votes)
{
	RUN_TEST(decision_on_changed_gate_is_refused);
	RUN_TEST(vote_is_void_after_job_is_added_behind_gate);
	RUN_TEST(vote_outlives_cancelled_child_of_gate);
	RUN_TEST(vote_on_earlier_round_is_refused);
	RUN_TEST(gate_refuses_votes_of_people_not_named);
	RUN_TEST(members_of_a_team_may_approve);
	RUN_TEST(votes_stay_when_their_team_has_gone);
	RUN_TEST(gate_of_a_wrong_team_is_refused);
	RUN_TEST(vote_on_fan_out_of_gates_is_refused);
	RUN_TEST(submitter_may_reject_and_push_back_but_not_approve);
	RUN_TEST(approve_of_run_means_its_open_gate);
	RUN_TEST(decision_row_names_person_and_time);
	RUN_TEST(decision_row_names_gate_and_target);
	RUN_TEST(reason_over_its_limit_is_refused);
	RUN_TEST(command_with_gate_asks_in_each_round);
	RUN_TEST(approved_gate_starts_its_script);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(gate_votes);
	GREATEST_MAIN_END();
}
