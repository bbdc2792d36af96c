/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of one run that are bound by almost the same: each keeps what is its own. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_place.h"

/* Two of four jobs name one, two the other. */
static uint64_t submit_two_kinds(struct rig *rig, bool locks, const char *first, const char *second)
{
	struct graph graph = { 0 };

	for (int i = 0; i < 4; i++) {
		char name[] = { (char)('a' + i), '\0' };
		struct rec_job_spec *job = graph_job(&graph, name, "");
		struct slice_list list = words(rig, i < 2 ? first : second);

		if (locks)
			job->locks = list;
		else
			job->concurrency = list;
		job->mode = locks ? EXEC_EXCLUSIVE : EXEC_RETRY;
	}
	return rig_submit(rig, &graph);
}

TEST the_least_that_is_stated_counts(void)
{
	for (int turned = 0; turned < 2; turned++) {
		struct rig *rig = rig_new();

		join(rig, "w", 9, "", "", "");
		submit_two_kinds(rig, false, turned ? "db=2" : "db=3", turned ? "db=3" : "db=2");
		ASSERT_EQ(2, rig->assigned_count);
		rig_free(rig);
	}
	PASS();
}

TEST who_shares_a_lock_shares_it_with_such_alone(void)
{
	for (int turned = 0; turned < 2; turned++) {
		struct rig *rig = rig_new();
		uint64_t run;

		join(rig, "w", 9, "", "", "");
		run = submit_two_kinds(rig, true, turned ? "db" : "db=shared", turned ? "db=shared" : "db");
		ASSERT_EQ(turned ? 1 : 2, (int)rig->assigned_count);
		ASSERT_STR_EQ("w", holder(rig, run, "a"));
		ASSERT_STR_EQ(turned ? "" : "w", holder(rig, run, "b"));
		rig_free(rig);
	}
	PASS();
}

TEST a_fan_out_has_one_bound(void)
{
	static const struct { uint64_t parallel; bool fail_fast; } others[] = { { 2, true }, { 1, false }, { 1, true } };

	for (size_t i = 0; i < 3; i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };

		for (int k = 0; k < 2; k++) {
			struct rec_job_spec *job = graph_job(&graph, k ? "b" : "a", "");

			job->group = 1;
			job->group_parallel = k ? others[i].parallel : 1;
			job->group_fail_fast = k ? others[i].fail_fast : true;
		}
		ASSERT_EQ(i == 2, rig_submit(rig, &graph) != 0);
		ASSERT(i == 2 || rig_error_says(rig, ERR_INVALID, "its fan-out has another bound"));
		rig_free(rig);
	}
	PASS();
}

static void fan_job(struct graph *graph, const char *name, uint64_t group)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	job->group = group;
	job->group_parallel = group ? 2 : 0;
	job->group_fail_fast = group > 0;
}

/* Their jobs needn't be neighbours, nor come before all others; what is added has fan-outs of its own. */
TEST each_fan_out_for_itself(void)
{
	static const char *const left[] = { "x", "b1", "b2", "b3", "c1", "c2" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 9, "", "", "");
	fan_job(&graph, "x", 0);
	fan_job(&graph, "a1", 2);
	fan_job(&graph, "b1", 3);
	fan_job(&graph, "a2", 2);
	fan_job(&graph, "b2", 3);
	fan_job(&graph, "a3", 2);
	fan_job(&graph, "b3", 3);
	run = rig_submit(rig, &graph);
	ASSERT_EQ(5, rig->assigned_count);
	ASSERT_STR_EQ("", holder(rig, run, "a3"));
	ASSERT_STR_EQ("", holder(rig, run, "b3"));
	fan_job(&graph, "c1", 1);
	fan_job(&graph, "c2", 1);
	ASSERT(grow(rig, run, &graph, "") > 0);
	rig_must_take(rig);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "a1"));
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a2"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "a3"));
	for (size_t i = 0; i < 6; i++)
		ASSERT_STR_EQ(i == 3 ? "ready" : "assigned", rig_state_named(rig, run, left[i]));
	rig_free(rig);
	PASS();
}

/* Two are parked that must go where their parents ran. There is room for one, and it is at the other's worker. */
TEST one_that_waits_for_its_worker_keeps_no_other_back(void)
{
	static const char *const workers[] = { "u", "v" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	for (int k = 0; k < 2; k++) {
		join(rig, workers[k], 1, "", "", "");
		graph_job(&graph, k ? "parent_v" : "parent_u", "")->only_worker = slice_str(workers[k]);
	}
	for (int k = 0; k < 2; k++) {
		job = graph_job(&graph, k ? "long_v" : "long_u", k ? "parent_v" : "parent_u");
		job->only_worker = slice_str(workers[k]);
		job->priority = 100;
	}
	for (int k = 0; k < 2; k++) {
		job = graph_job(&graph, k ? "child_v" : "child_u", k ? "parent_v" : "parent_u");
		job->affinity = AFFINITY_PARENT;
		job->affinity_hard = true;
	}
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("u", holder(rig, run, "long_u"));
	ASSERT_STR_EQ("v", holder(rig, run, "long_v"));
	rig_started(rig, rig_must_take(rig));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "long_v"));
	ASSERT_STR_EQ("", holder(rig, run, "child_u"));
	ASSERT_STR_EQ("v", holder(rig, run, "child_v"));
	rig_free(rig);
	PASS();
}

/* One that a person holds back would keep its run from its end for ever. */
TEST the_first_failure_ends_also_what_is_held_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 0; i < 3; i++) {
		struct rec_job_spec *job = graph_job(&graph, (char[]){ (char)('a' + i), 0 }, "");

		job->group = 1;
		job->group_fail_fast = true;
	}
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "b", 0);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "c"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_least_that_is_stated_counts);
	RUN_TEST(who_shares_a_lock_shares_it_with_such_alone);
	RUN_TEST(a_fan_out_has_one_bound);
	RUN_TEST(each_fan_out_for_itself);
	RUN_TEST(one_that_waits_for_its_worker_keeps_no_other_back);
	RUN_TEST(the_first_failure_ends_also_what_is_held_back);
	GREATEST_MAIN_END();
}
