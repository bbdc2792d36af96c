/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes of a run and of fan-outs: each keeps its own limits. */
#include "proto/limits.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_place.h"

/* Submit four jobs of which two name one lock or group, and two another. */
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

TEST least_stated_limit_of_a_group_counts(void)
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

TEST shared_lock_is_shared_only_with_sharing_jobs(void)
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

TEST fan_out_has_one_bound(void)
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
		ASSERT(i == 2 || rig_error_says(rig, ERR_INVALID, "group_parallel differs from that of other jobs in its fan-out"));
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

/* Members of a fan-out may stand anywhere in the graph; each added extent has fan-outs of its own. */
TEST fan_outs_have_separate_bounds(void)
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

/* Fail-fast cancels held members too; otherwise they would keep the run from ending. */
TEST fail_fast_cancels_held_members(void)
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

TEST fail_fast_names_the_member_that_failed(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt first, second;

	for (size_t i = 0; i < 2; i++) {
		struct rec_job_spec *job = graph_job(&graph, i ? "b" : "a", "");

		job->group = 1;
		job->group_fail_fast = true;
	}
	rig_hello(rig, "w", 2);
	rig_submit(rig, &graph);
	first = rig_must_take(rig);
	second = rig_must_take(rig);
	rig_started(rig, second);
	rig_done(rig, first, OUTCOME_EXIT, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, second.job));
	rig_done(rig, second, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, second.job));
	ASSERT_EQ(first.job + 1, rig_job(rig, second.job).cause);
	rig_free(rig);
	PASS();
}

static struct rig_attempt lose(struct rig *rig, struct graph *graph, uint64_t *ret_run)
{
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	*ret_run = rig_submit(rig, graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	CHECK(rig_state(rig, attempt.job) == STATE_UNKNOWN);
	return attempt;
}

TEST fail_fast_leaves_unknown_members(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (size_t i = 0; i < 2; i++) {
		struct rec_job_spec *job = graph_job(&graph, i ? "b" : "a", "");

		job->mode = EXEC_ONCE;
		job->group = 1;
		job->group_fail_fast = true;
	}
	lose(rig, &graph, &run);
	rig_hello(rig, "other", 1);
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 1);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(least_stated_limit_of_a_group_counts);
	RUN_TEST(shared_lock_is_shared_only_with_sharing_jobs);
	RUN_TEST(fan_out_has_one_bound);
	RUN_TEST(fan_outs_have_separate_bounds);
	RUN_TEST(fail_fast_cancels_held_members);
	RUN_TEST(fail_fast_names_the_member_that_failed);
	RUN_TEST(fail_fast_leaves_unknown_members);
	GREATEST_MAIN_END();
}
