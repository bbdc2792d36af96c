/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Affinity: jobs that follow their parents, or return to the worker that ran them before. */
#include "proto/limits.h"
#include "tests/unit/core_place.h"

/* Let the worker lose its connection often enough to flap; it is connected at the end. */
static void flap(struct rig *rig, const char *name, uint64_t slots, const char *offers)
{
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, name, slots, "", offers, ""));
	join(rig, name, slots, "", offers, "");
}

/* A job with soft affinity passes over a flapping worker even if the steady workers have more load. */
TEST job_with_soft_affinity_avoids_a_flapping_worker_that_is_less_loaded(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "v", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "child", 0);
	rig_run_one(rig, 0);
	rig_gone(rig, rig->conn);
	flap(rig, "v", 2, "");
	join(rig, "w", 2, "", "", "");
	load(rig, rig->conn, LIMIT_OVERLOAD_PERMILLE, 0);
	rig_act(rig, ACT_RELEASE, run, "child", 0);
	ASSERT_STR_EQ("w", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* With hard affinity no other worker may run the job, so it doesn't wait for the end of the worker's rest. */
TEST job_with_hard_affinity_follows_a_flapping_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "v", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent")->affinity = AFFINITY_PARENT;
	graph.jobs[1].affinity_hard = true;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "child", 0);
	rig_run_one(rig, 0);
	join(rig, "w", 2, "", "", "");
	rig_gone(rig, 1);
	flap(rig, "v", 2, "");
	rig_act(rig, ACT_RELEASE, run, "child", 0);
	ASSERT_STR_EQ("v", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* A job follows the worker where its parent ran, because the files are there, also after a failure. */
TEST job_after_a_failure_follows_the_worker_that_failed(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "u", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent-")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	join(rig, "v", 2, "", "", "");
	load(rig, 1, 500, 0);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("u", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

TEST job_follows_most_of_its_parents(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	load(rig, join(rig, "a", 9, "", "", ""), 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_on(&graph, "p1", "b");
	graph_on(&graph, "p2", "a");
	graph_on(&graph, "p3", "a");
	graph_job(&graph, "most", "p1 p2 p3")->affinity = AFFINITY_PARENT;
	graph_job(&graph, "first", "p2 p3")->affinity = AFFINITY_PARENT;
	graph_job(&graph, "tie", "p1 p2")->affinity = AFFINITY_PARENT;
	graph_job(&graph, "none", "p2 p3");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 3; i++)
		rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "most"));
	ASSERT_STR_EQ("a", holder(rig, run, "first"));
	ASSERT_STR_EQ("b", holder(rig, run, "tie"));
	ASSERT_STR_EQ("b", holder(rig, run, "none"));
	rig_free(rig);
	PASS();
}

TEST job_follows_no_overloaded_or_cordoned_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	load(rig, a, 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_on(&graph, "p", "a");
	graph_job(&graph, "soft", "p")->affinity = AFFINITY_PARENT;
	job = graph_job(&graph, "hard", "p");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	run = rig_submit(rig, &graph);
	load(rig, a, 900, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("b", holder(rig, run, "soft"));
	ASSERT_STR_EQ("a", holder(rig, run, "hard"));
	graph_on(&graph, "p", "a");
	graph_job(&graph, "soft", "p")->affinity = AFFINITY_PARENT;
	job = graph_job(&graph, "hard", "p");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	rig_run_all(rig);
	run = rig_submit(rig, &graph);
	set(rig, OBJECT_WORKER, SET_PAUSE, "a");
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("b", holder(rig, run, "soft"));
	ASSERT_STR_EQ("", holder(rig, run, "hard"));
	set(rig, OBJECT_WORKER, SET_RESUME, "a");
	ASSERT_STR_EQ("a", holder(rig, run, "hard"));
	rig_free(rig);
	PASS();
}

/* If all workers are overloaded, affinity decides as usual. */
TEST job_follows_its_parent_when_all_workers_are_overloaded(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	load(rig, join(rig, "b", 9, "", "", ""), 900, 0);
	graph_on(&graph, "p", "a");
	graph_job(&graph, "soft", "p")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	load(rig, a, 990, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "soft"));
	rig_free(rig);
	PASS();
}

TEST sticky_job_returns_to_its_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "sticky", "");
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	job->affinity = AFFINITY_STICKY;
	job->retry_max = 1;
	job->backoff_ms = 10;
	graph_job(&graph, "loose", "")->retry_max = 1;
	graph.jobs[1].backoff_ms = 10;
	run = rig_submit(rig, &graph);
	join(rig, "b", 9, "", "", "");
	load(rig, a, 800, 0);
	rig_run_one(rig, 1);
	rig_run_one(rig, 1);
	rig_pass(rig, 2000);
	ASSERT_STR_EQ("a", holder(rig, run, "sticky"));
	ASSERT_STR_EQ("b", holder(rig, run, "loose"));
	rig_free(rig);
	PASS();
}

TEST job_follows_its_parents_on_each_try_and_sticky_job_its_own_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	load(rig, a, 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_on(&graph, "p", "a");
	graph_job(&graph, "sticky", "p")->affinity = AFFINITY_STICKY;
	job = graph_job(&graph, "child", "p");
	job->affinity = AFFINITY_PARENT;
	job->retry_max = 1;
	job->backoff_ms = 10;
	job->priority = 100;
	run = rig_submit(rig, &graph);
	load(rig, a, 900, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("b", holder(rig, run, "child"));
	ASSERT_STR_EQ("b", holder(rig, run, "sticky"));
	rig_run_one(rig, 1);
	load(rig, a, 500, 0);
	rig_pass(rig, 2000);
	ASSERT_STR_EQ("a", holder(rig, run, "child"));
	graph_on(&graph, "p", "a");
	graph_job(&graph, "sticky", "p")->affinity = AFFINITY_STICKY;
	rig_run_all(rig);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "sticky"));
	rig_free(rig);
	PASS();
}

TEST parents_that_never_ran_count_for_no_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	load(rig, join(rig, "a", 9, "", "", ""), 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_job(&graph, "x", "")->labels = words(rig, "nowhere");
	graph_job(&graph, "y", "")->labels = words(rig, "nowhere");
	graph_on(&graph, "p", "a");
	graph_job(&graph, "child", "x* y* p")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "x");
	rig_cancel(rig, run, "y");
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* Of the 64 parents that count, 32 ran on each worker; the 65th doesn't count. So the job follows the first. */
TEST only_64_parents_count_for_affinity(void)
{
	enum { PARENTS = 65 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t at[PARENTS], triggers[PARENTS];
	struct rec_job_spec *child;
	uint64_t run;

	rig->reload_every = 0;
	join(rig, "a", 99, "", "", "");
	join(rig, "b", 99, "", "", "");
	for (uint64_t i = 0; i < PARENTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p%d", (int)i);
		graph_on(&graph, name, i % 2 == 1 || i == PARENTS - 1 ? "b" : "a");
		at[i] = i;
		triggers[i] = TRIGGER_OK;
	}
	child = graph_job(&graph, "child", "");
	child->needs = (struct u64_list){ at, PARENTS };
	child->triggers = (struct u64_list){ triggers, PARENTS };
	child->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	for (int i = 0; i < PARENTS; i++)
		rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* A turn looks past a limited number of jobs that wait for one worker; the jobs behind them still get their turn. */
TEST turn_looks_past_a_bounded_number_of_waiting_jobs(void)
{
	enum { CHILDREN = LIMIT_ASIDE_MAX + 2 };

	for (int behind = 0; behind < 2; behind++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		rig->reload_every = 0;
		join(rig, "a", 1, "", "", "");
		join(rig, "b", 1, "", "", "");
		graph_on(&graph, "to_a", "a");
		graph_on(&graph, "to_b", "b");
		for (int i = 0; i < CHILDREN + 1; i++) {
			char name[8];
			struct rec_job_spec *child;

			/* All parents ran on a except one, which ran on b and is at the limit or just behind it. */
			snprintf(name, sizeof(name), "c%d", i);
			child = graph_job(&graph, name, i == CHILDREN - 1 + behind ? "to_b" : "to_a");
			child->affinity = AFFINITY_PARENT;
			child->affinity_hard = true;
		}
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		rig_run_one(rig, 0);
		ASSERT_STR_EQ("a", holder(rig, run, "c0"));
		ASSERT_STR_EQ(behind ? "" : "b", holder(rig, run, behind ? "c66" : "c65"));
		rig_free(rig);
	}
	PASS();
}

/* Soft affinity prefers the worker of the parent, but a flapping worker is passed over. */
TEST job_with_soft_affinity_avoids_a_flapping_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "v", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "child", 0);
	rig_run_one(rig, 0);
	rig_gone(rig, rig->conn);
	for (int i = 1; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, "v", 2, "", "", ""));
	join(rig, "v", 2, "", "", "");
	join(rig, "w", 2, "", "", "");
	rig_act(rig, ACT_RELEASE, run, "child", 0);
	ASSERT_STR_EQ("w", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(job_with_soft_affinity_avoids_a_flapping_worker_that_is_less_loaded);
	RUN_TEST(job_with_hard_affinity_follows_a_flapping_worker);
	RUN_TEST(job_after_a_failure_follows_the_worker_that_failed);
	RUN_TEST(job_follows_most_of_its_parents);
	RUN_TEST(job_follows_no_overloaded_or_cordoned_worker);
	RUN_TEST(job_follows_its_parent_when_all_workers_are_overloaded);
	RUN_TEST(sticky_job_returns_to_its_worker);
	RUN_TEST(job_follows_its_parents_on_each_try_and_sticky_job_its_own_worker);
	RUN_TEST(parents_that_never_ran_count_for_no_worker);
	RUN_TEST(only_64_parents_count_for_affinity);
	RUN_TEST(turn_looks_past_a_bounded_number_of_waiting_jobs);
	RUN_TEST(job_with_soft_affinity_avoids_a_flapping_worker);
	GREATEST_MAIN_END();
}
