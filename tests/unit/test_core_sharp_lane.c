/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of one run that are bound by almost the same: each keeps what is its own. */
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

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_least_that_is_stated_counts);
	RUN_TEST(who_shares_a_lock_shares_it_with_such_alone);
	RUN_TEST(a_fan_out_has_one_bound);
	GREATEST_MAIN_END();
}
