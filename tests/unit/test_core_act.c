/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts on live jobs: priorities, holds, and which jobs a name selects. */
#include "tests/unit/core_rig.h"
#include "proto/dead.h"

static uint64_t submit_three(struct rig *rig)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "a");
	return rig_submit(rig, &graph);
}

TEST priority_decides_order(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_three(rig);

	rig_act(rig, ACT_PRIORITY, run, "b", 90);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "b", 90);
	ASSERT_EQ(0, rig->ok.count);
	rig_restart(rig);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, run, "b")).priority);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_act(rig, ACT_PRIORITY, run, "", 101);
	ASSERT(rig_error_says(rig, ERR_INVALID, "0 to 100"));
	rig_act(rig, ACT_PRIORITY, run, "b", 1);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "already ended"));
	rig_free(rig);
	PASS();
}

TEST priority_of_run_can_be_set_back(void)
{
	struct rig *rig = rig_new();
	uint64_t first = submit_three(rig), second = submit_three(rig);

	rig_act(rig, ACT_PRIORITY, second, "", 80);
	ASSERT_EQ(3, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, second, "", 50);
	rig_act(rig, ACT_PRIORITY, first, "", 10);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(4, rig_run_one(rig, 0));
	ASSERT_EQ(5, rig_run_one(rig, 0));
	ASSERT_EQ(6, rig_run_one(rig, 0));
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

static void act_if(struct rig *rig, enum act_verb verb, uint64_t run, const char *expect, uint64_t value, struct u64_list each)
{
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = ++rig->request };

	input.act = (struct input_act){ .verb = verb, .run = run, .job = slice_str(""), .value = value, .principal = 1, .person = slice_str("ana"),
					.expect = slice_str(expect), .each = each };
	rig_by(&input, "ana", 1);
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

TEST an_act_names_the_state_that_it_expects(void)
{
	const struct u64_list one = { 0 };
	struct rig *rig = rig_new();
	uint64_t run = submit_three(rig);
	size_t acts;

	act_if(rig, ACT_PRIORITY, run, "50", 70, one);
	ASSERT_EQ(3, rig->ok.count);
	acts = rig->tables[TABLE_act].count;
	/* Another person's act comes first: the inverse of the first act would take that back, too. */
	rig_act(rig, ACT_PRIORITY, run, "b", 20);
	act_if(rig, ACT_PRIORITY, run, "70", 50, one);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "'70 20 70' now"));
	ASSERT_EQ(21, rig_job(rig, rig_named(rig, run, "b")).priority);
	ASSERT_EQ(acts + 1, rig->tables[TABLE_act].count);
	act_if(rig, ACT_HOLD, run, "held", 0, one);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "'free' now"));
	act_if(rig, ACT_HOLD, run, "fre", 0, one);
	ASSERT(rig_error_says(rig, ERR_CHANGED, "'free' now"));
	act_if(rig, ACT_HOLD, run, "free", 0, one);
	ASSERT_EQ(0, rig->error.code);
	rig_free(rig);
	PASS();
}

TEST each_job_gets_its_own_value(void)
{
	uint64_t values[] = { 10, 20, 30, 101 };
	struct rig *rig = rig_new();
	uint64_t run = submit_three(rig);

	act_if(rig, ACT_PRIORITY, run, "50", 0, (struct u64_list){ values, 3 });
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_EQ(31, rig_job(rig, rig_named(rig, run, "c")).priority);
	act_if(rig, ACT_PRIORITY, run, "10 20 30", 0, (struct u64_list){ values, 2 });
	ASSERT(rig_error_says(rig, ERR_CHANGED, "3 jobs now, and values for 2"));
	act_if(rig, ACT_PRIORITY, run, "", 0, (struct u64_list){ values + 1, 3 });
	ASSERT(rig_error_says(rig, ERR_INVALID, "from 0 to 100, not 101"));
	values[0] = 1, values[1] = 0, values[2] = 1;
	act_if(rig, ACT_HOLD, run, "", 0, (struct u64_list){ values, 3 });
	ASSERT_EQ(2, rig->ok.count);
	ASSERT(rig_job(rig, rig_named(rig, run, "a")).held);
	ASSERT_FALSE(rig_job(rig, rig_named(rig, run, "b")).held);
	rig_free(rig);
	PASS();
}

TEST held_jobs_are_not_placed(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_three(rig);

	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_HOLD, run, "c", 0);
	rig_hello(rig, "w", 4);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_restart(rig);
	rig_hello(rig, "w", 4);
	ASSERT(rig_job(rig, 1).held);
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_act(rig, ACT_PRIORITY, run, "a", 3);
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_act(rig, ACT_RELEASE, run, "c", 0);
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "already ended"));
	rig_free(rig);
	PASS();
}

TEST a_held_run_keeps_its_own_holds(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_three(rig);

	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(3, rig->ok.count);
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(0, rig->ok.count);
	rig_restart(rig);
	rig_hello(rig, "w", 4);
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_cancel(rig, run, "a");
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST act_on_missing_run_or_job_is_refused(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_three(rig);

	rig_act(rig, ACT_HOLD, run + 1, "", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "not live"));
	rig_act(rig, ACT_HOLD, run, "nobody", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no job 'nobody'"));
	rig_free(rig);
	PASS();
}

TEST cancel_ends_hold(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_cancel(rig, run, "");
	rig_restart(rig);
	rig_hello(rig, "w", 2);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "not live"));
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_gone(rig, rig->conn);
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_cancel(rig, run, "");
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(2, rig->ok.count);
	rig_hello(rig, "w", 2);
	ASSERT_EQ(2, rig_run_all(rig));
	rig_free(rig);
	PASS();
}

/*
 * A held job that was prefetched and hasn't started is recalled, also from a worker that was disconnected at the time.
 */
TEST held_job_is_recalled(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing last;
	struct rec_held held;
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(attempt.job, last.recall.job);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, &last));
	held = (struct rec_held){ .job = attempt.job, .epoch = attempt.epoch, .phase = PHASE_QUEUED };
	attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &last));
	rig_done(rig, attempt, OUTCOME_RECALLED, 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	ASSERT_EQ(2, rig_run_all(rig));
	rig_free(rig);
	PASS();
}

/* A NUL byte in a name is part of the name. */
TEST name_with_zero_byte_names_no_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct core_input input = { .kind = INPUT_CANCEL, .conn = 1000000, .request = 9 };

	graph_job(&graph, "f[0]", "");
	input.cancel.run = rig_submit(rig, &graph);
	input.cancel.job = slice_make("f\0g", 3);
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "has no job"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, input.cancel.run, "f[0]"));
	rig_free(rig);
	PASS();
}

TEST act_on_fan_out_reaches_all_members(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "x", "");
	graph_job(&graph, "e[0]", "");
	graph_job(&graph, "e[1]", "");
	graph_job(&graph, "e[2]", "");
	graph_job(&graph, "ee[0]", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "e", 0);
	ASSERT_EQ(3, rig->ok.count);
	rig_act(rig, ACT_RELEASE, run, "e[*]", 0);
	ASSERT_EQ(3, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "e[1]", 70);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "e", 70);
	ASSERT_EQ(2, rig->ok.count);
	rig_cancel(rig, run, "e");
	ASSERT_EQ(3, rig->ok.count);
	rig_cancel(rig, run, "e[*]");
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "e[*] has already ended: cancelled"));
	rig_act(rig, ACT_RETRY, run, "e", RETRY_FROM);
	ASSERT_EQ(3, rig->ok.count);
	rig_act(rig, ACT_HOLD, run, "f", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no job 'f'"));
	rig_act(rig, ACT_HOLD, run, "x[*]", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no job"));
	rig_free(rig);
	PASS();
}

SUITE(acts)
{
	RUN_TEST(cancel_ends_hold);
	RUN_TEST(held_job_is_recalled);
	RUN_TEST(name_with_zero_byte_names_no_job);
	RUN_TEST(act_on_fan_out_reaches_all_members);
	RUN_TEST(priority_decides_order);
	RUN_TEST(priority_of_run_can_be_set_back);
	RUN_TEST(an_act_names_the_state_that_it_expects);
	RUN_TEST(each_job_gets_its_own_value);
	RUN_TEST(held_jobs_are_not_placed);
	RUN_TEST(a_held_run_keeps_its_own_holds);
	RUN_TEST(act_on_missing_run_or_job_is_refused);
}

/* The name of a fan-out's member that doesn't exist must not select the other members. */
TEST missing_member_names_no_fan_out(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "e[0]", "");
	graph_job(&graph, "e[1]", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "e[9]", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "has no job 'e[9]'"));
	rig_act(rig, ACT_HOLD, run, "e[]", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "has no job 'e[]'"));
	rig_act(rig, ACT_HOLD, run, "e[*]", 0);
	ASSERT_EQ(2, (int)rig->ok.count);
	rig_free(rig);
	PASS();
}

TEST act_on_fan_out_reaches_members_still_live(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	for (int i = 0; i < 3; i++) {
		const char *const names[] = { "e[0]", "e[1]", "e[2]" };

		graph_job(&graph, names[i], "");
	}
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_act(rig, ACT_PRIORITY, 1, "e", 70);
	ASSERT_EQ(2, rig->ok.count);
	rig_cancel(rig, 1, "e");
	ASSERT_EQ(2, rig->ok.count);
	rig_free(rig);
	PASS();
}

static uint64_t submit_names(struct rig *rig, const char *const *names, size_t count)
{
	struct graph graph = { 0 };

	for (size_t i = 0; i < count; i++)
		graph_job(&graph, names[i], "");
	return rig_submit(rig, &graph);
}

TEST fan_out_ends_at_gap_in_names(void)
{
	static const struct {
		const char *names[4];
		uint64_t held;
	} cases[] = {
		{ { "e[0]", "e[1]", "x[2]", "e[3]" }, 2 }, { { "x", "e[0]", "e[1]", "e[2]" }, 3 },
		{ { "e[0]", "f", "e[1]", "e[2]" }, 1 }, { { "e[0]", "ee[1]", "e[1]", "e[2]" }, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		uint64_t run = submit_names(rig, cases[i].names, 4);

		ASSERT(run != 0);
		rig_act(rig, ACT_HOLD, run, "e", 0);
		ASSERT_EQ_FMT((unsigned long)cases[i].held, (unsigned long)rig->ok.count, "%lu");
		rig_free(rig);
	}
	PASS();
}

TEST name_of_no_job_is_not_found(void)
{
	static const char *const names[] = { "e[0]", "e[1]" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	char name[LIMIT_NAME_MAX_LEN + 8];

	rig_act(rig, ACT_HOLD, run, "[*]", 0);
	ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
	rig_act(rig, ACT_HOLD, run, "east", 0);
	ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
	for (size_t len = LIMIT_NAME_MAX_LEN - 1; len < sizeof(name) - 1; len++) {
		memset(name, 'e', len);
		name[len] = '\0';
		rig_act(rig, ACT_HOLD, run, name, 0);
		ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
		ASSERT(rig->error.text.len < LIMIT_NAME_MAX_LEN + 40);
	}
	rig_free(rig);
	PASS();
}

TEST act_on_ended_job_names_its_end(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_PRIORITY, run, "a", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/a has already ended: succeeded"));
	rig_act(rig, ACT_PRIORITY, run, "", 7);  /* the run hasn't ended, although its first job has */
	ASSERT_EQ(1, rig->ok.count);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_PRIORITY, run, "b", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/b has already ended: succeeded"));
	rig_act(rig, ACT_PRIORITY, run, "", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "run 1 has already ended"));
	rig_cancel(rig, run, "b");
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/b has already ended: succeeded"));
	rig_free(rig);
	PASS();
}

TEST priority_beyond_its_limits_is_refused(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);

	rig_act(rig, ACT_PRIORITY, run, "a", 100);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "b", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_PRIORITY, run, "a", 101);
	ASSERT(rig_error_says(rig, ERR_INVALID, "0 to 100, not 101"));
	rig_act(rig, (enum act_verb)99, run, "a", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown act number 99"));
	rig_free(rig);
	PASS();
}

/* Connection 0 stands for a request without a connection: no answer is sent. */
TEST act_without_connection_gets_no_answer(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	struct core_input act = { .kind = INPUT_ACT, .act = { .verb = ACT_PRIORITY, .run = run, .value = 3 } };
	struct core_input cancel = { .kind = INPUT_CANCEL, .cancel = { .run = run } };

	rig_step(rig, &act);
	ASSERT_EQ(0, rig_frames(rig, OP_OK, NULL));
	ASSERT_EQ(4, rig_job(rig, 1).priority);
	rig_step(rig, &cancel);
	ASSERT_EQ(0, rig_frames(rig, OP_OK, NULL));
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(acts);
	RUN_TEST(missing_member_names_no_fan_out);
	RUN_TEST(act_on_fan_out_reaches_members_still_live);
	RUN_TEST(fan_out_ends_at_gap_in_names);
	RUN_TEST(name_of_no_job_is_not_found);
	RUN_TEST(act_on_ended_job_names_its_end);
	RUN_TEST(priority_beyond_its_limits_is_refused);
	RUN_TEST(act_without_connection_gets_no_answer);
	GREATEST_MAIN_END();
}
