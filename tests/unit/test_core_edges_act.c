/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The edges of acts: what a name names and what it doesn't, what is counted as changed, what an act on one thing
 * must leave as it was; and acts that nobody waits for an answer to.
 */
#include "tests/unit/core_rig.h"

static uint64_t submit_names(struct rig *rig, const char *const *names, size_t count)
{
	struct graph graph = { 0 };

	for (size_t i = 0; i < count; i++)
		graph_job(&graph, names[i], "");
	return rig_submit(rig, &graph);
}

/* --- names --- */

TEST a_fan_out_ends_where_its_names_do(void)
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

TEST names_that_name_nothing(void)
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

TEST a_job_of_an_ended_run_has_ended_by_itself(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);

	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_PRIORITY, run, "a", 7);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "job 1/a has already ended: succeeded"));
	rig_act(rig, ACT_PRIORITY, run, "", 7);  /* the run hasn't, though its first job has */
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

TEST priorities_have_edges(void)
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
	ASSERT(rig_error_says(rig, ERR_INVALID, "an unknown act: 99"));
	rig_free(rig);
	PASS();
}

/* --- cancelling --- */

/* A connection of 0: there is nobody to answer. */
TEST what_nobody_asked_for_is_not_answered(void)
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

SUITE(naming)
{
	RUN_TEST(a_fan_out_ends_where_its_names_do);
	RUN_TEST(names_that_name_nothing);
	RUN_TEST(a_job_of_an_ended_run_has_ended_by_itself);
	RUN_TEST(priorities_have_edges);
}

SUITE(acting)
{
	RUN_TEST(what_nobody_asked_for_is_not_answered);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(naming);
	RUN_SUITE(acting);
	GREATEST_MAIN_END();
}
