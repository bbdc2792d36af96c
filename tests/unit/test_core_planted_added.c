/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people do to a run, or to a job with a sub-run, they do to what was added to it as well. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* A sub-run, whose only job runs, and a job "late" added to it, which is the next. The number of the sub-run. */
static uint64_t grown_sub_run(struct rig *rig, enum exec_mode mode, uint64_t *ret_run)
{
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t child;

	graph_job(&inner, "x", "");
	sub_job(&graph, "sub", "", &inner);
	*ret_run = rig_submit(rig, &graph);
	child = child_of(rig, *ret_run, "sub");
	graph_job(&graph, "late", "")->mode = mode;
	CHECK(grow(rig, child, &graph, "") != 0);
	return child;
}

TEST unknown_it_is_cancelled_with_the_sub_run(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 2), run, child = grown_sub_run(rig, EXEC_ONCE, &run);

	for (int i = 0; i < 2; i++)
		rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, child, "late"));
	rig_cancel(rig, run, "sub");
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, child, "late"));
	rig_free(rig);
	PASS();
}

TEST it_has_the_priority_of_the_sub_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run, child = grown_sub_run(rig, EXEC_RETRY, &run);

	rig_act(rig, ACT_PRIORITY, run, "sub", 70);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_EQ(71, rig_job(rig, rig_named(rig, child, "x")).priority);
	ASSERT_EQ(71, rig_job(rig, rig_named(rig, child, "late")).priority);
	rig_free(rig);
	PASS();
}

/* All went well but what was added. */
static uint64_t failed_run(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "open", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	graph_job(&graph, "late", "");
	CHECK(grow(rig, run, &graph, "") != 0);
	CHECK(rig_run_one(rig, 0) && rig_run_one(rig, 0) && rig_run_one(rig, 3));
	return run;
}

TEST its_letter_is_discarded_with_those_of_the_run(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig);

	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	rig_free(rig);
	PASS();
}

TEST it_is_run_again_with_the_run(void)
{
	for (uint64_t scope = RETRY_FAILED; scope <= RETRY_ALL; scope += RETRY_ALL - RETRY_FAILED) {
		struct rig *rig = rig_new();
		uint64_t run = failed_run(rig);

		rig_act(rig, ACT_RETRY, run, "", scope);
		ASSERT_EQ(scope == RETRY_ALL ? 3 : 1, rig->ok.count);
		ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "late")).round);
		rig_free(rig);
	}
	PASS();
}

TEST its_end_is_forgiven_over_a_restart(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	graph_job(&graph, "late", "")->continue_on = CONTINUE_FAILED;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_must_take(rig);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "late"));
	ASSERT(rig_job(rig, 2).forgiven);
	rig_restart(rig);
	ASSERT(rig_job(rig, 2).forgiven);
	rig_hello(rig, "w", 1);
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	rig_run_one(rig, 0);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

SUITE(planted_added)
{
	RUN_TEST(unknown_it_is_cancelled_with_the_sub_run);
	RUN_TEST(it_has_the_priority_of_the_sub_run);
	RUN_TEST(its_letter_is_discarded_with_those_of_the_run);
	RUN_TEST(it_is_run_again_with_the_run);
	RUN_TEST(its_end_is_forgiven_over_a_restart);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_added);
	GREATEST_MAIN_END();
}
