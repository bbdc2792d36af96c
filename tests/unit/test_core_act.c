/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people do to live jobs: priorities, holding back, letting go. */
#include "tests/unit/core_rig.h"

static uint64_t submit_three(struct rig *rig)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "a");
	return rig_submit(rig, &graph);
}

TEST priority_decides_who_is_next(void)
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

TEST priority_of_a_run_and_back(void)
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

TEST acts_on_what_is_not_there(void)
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

SUITE(acts)
{
	RUN_TEST(priority_decides_who_is_next);
	RUN_TEST(priority_of_a_run_and_back);
	RUN_TEST(held_jobs_are_not_placed);
	RUN_TEST(a_held_run_keeps_its_own_holds);
	RUN_TEST(acts_on_what_is_not_there);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(acts);
	GREATEST_MAIN_END();
}
