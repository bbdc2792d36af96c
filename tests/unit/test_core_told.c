/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who watches is told of each thing that changed, in the turn in which it does; and times are told by the wall clock. */
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

/* A job that waits for a date and for a delay is due at the later of them. */
TEST what_waits_twice_is_due_at_the_later(uint64_t delay_ms, int64_t date_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rec_job_row row;

	job->delay_ms = delay_ms;
	job->not_before_ms = rig->now.wall_ms + date_ms;
	row = rig_job(rig, rig_named(rig, rig_submit(rig, &graph), "a"));
	ASSERT_EQ(rig->now.wall_ms + 60000, row.due_ms);
	rig_free(rig);
	PASS();
}

/* A worker that was told to quit is none that a job could wait for. */
TEST who_waits_for_a_worker_that_quits_is_told_that_there_is_none(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };

	rig_hello(rig, "w", 1);
	rig_step(rig, &quit);
	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	ASSERT(view_explain(rig->core, 1, &rig->arena, &row));
	ASSERT_EQ(REASON_NO_WORKER_UP, (int)row.why_code);
	rig_free(rig);
	PASS();
}

/* Who holds back what is delayed as well is the reason: when it is due, it doesn't begin. */
TEST what_is_delayed_and_held_back_is_held_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->delay_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT(view_explain(rig->core, rig_named(rig, run, "a"), &rig->arena, &row));
	ASSERT_EQ(REASON_HELD, (int)row.why_code);
	rig_free(rig);
	PASS();
}

/* Of the runs of a group those that go are named, not those that wait. */
TEST who_waits_for_a_group_of_runs_is_told_which_go(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row = { 0 };
	uint64_t run = 0;

	rig_hello(rig, "w", 3);
	rig->concurrency = "g";
	for (int i = 0; i < 3; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		run = rig_submit(rig, &graph);
	}
	ASSERT(view_explain(rig->core, rig_named(rig, run, "a"), &rig->arena, &row));
	ASSERT_EQ(REASON_CONCURRENCY_RUNS, (int)row.why_code);
	ASSERT(row.why.len > 9 && memcmp(row.why.data + row.why.len - 7, ": run 1", 7) == 0);
	rig_free(rig);
	PASS();
}

/* What was set is gone, also while a run of it is there. */
TEST a_tenant_that_nobody_sets_any_more_queues_what_it_likes(void)
{
	struct rig *rig = rig_new();

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .most = 2 });
	for (int i = 0; i < 3; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		ASSERT_EQ(i == 1, rig_submit(rig, &graph) == 0);
		if (i == 1)
			rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("ana") });
	}
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TESTp(what_waits_twice_is_due_at_the_later, 60000, 5000);
	RUN_TESTp(what_waits_twice_is_due_at_the_later, 5000, 60000);
	RUN_TEST(who_waits_for_a_worker_that_quits_is_told_that_there_is_none);
	RUN_TEST(what_is_delayed_and_held_back_is_held_back);
	RUN_TEST(who_waits_for_a_group_of_runs_is_told_which_go);
	RUN_TEST(a_tenant_that_nobody_sets_any_more_queues_what_it_likes);
	GREATEST_MAIN_END();
}
