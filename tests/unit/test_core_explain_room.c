/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sentences of titan explain for a job that isn't placed: slots and resources in use, reserved room, flapping workers.
 */
#include "tests/unit/core_place.h"
#include "tests/unit/core_why.h"

TEST explain_names_resources_in_use(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->asks = words(rig, "tape=1");
	graph_job(&graph, "b", "")->asks = graph.jobs[0].asks;
	run = rig_submit(rig, &graph);
	join(rig, "w", 4, "", "tape=1", "");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("resources_busy: other jobs use the resources that the job asks for: tape=1; worker w is reserved for this job", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST explain_names_the_job_that_room_is_reserved_for(void)
{
	struct rig *rig = rig_new();
	struct slice both = slice_str("tape=2");
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "small", "")->priority = 100;
	graph_job(&graph, "large", "")->asks = (struct slice_list){ .at = &both, .n = 1 };
	graph_job(&graph, "other", "")->asks = words(rig, "tape=1");
	graph.jobs[0].asks = graph.jobs[2].asks;
	run = rig_submit(rig, &graph);
	join(rig, "w", 2, "", "tape=2", "");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "small"));
	ASSERT_STR_EQ("reserved: worker w has room, but this room is reserved for job 1/large, which is larger and comes before this one", why(rig, run, "other"));
	rig_free(rig);
	PASS();
}

TEST explain_names_the_flapping_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_worker_row row;
	uint64_t run;

	join(rig, "steady", 1, "", "", "");
	for (int i = 1; i < LIMIT_FLAP_DROPS; i++) {
		rig_gone(rig, join(rig, "loose", 1, "", "", ""));
		ASSERT(view_worker(rig->core, 2, NULL, &row) && row.rest_ms == 0);
		rig_wait(rig, 1);
	}
	rig_gone(rig, join(rig, "loose", 1, "", "", ""));
	join(rig, "loose", 1, "", "", "");
	ASSERT(view_worker(rig->core, 2, NULL, &row));
	ASSERT_EQ_FMT((uint64_t)LIMIT_FLAP_REST_MS, row.rest_ms, "%lu");
	graph_job(&graph, "a", "")->priority = 80;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	rig_pass(rig, 1);
	ASSERT_STR_EQ("sent: the job was given to worker steady, which hasn't reported the job's start", why(rig, run, "a"));
	ASSERT_STR_EQ("worker_flaps: worker loose lost 5 connections within 60 s, and gets no jobs for another 30 s",
		      why(rig, run, "b"));
	/* After its rest the flapping worker gets jobs like any other. */
	for (int i = 0; i < LIMIT_FLAP_REST_MS; i += 1000) {
		rig_heartbeat(rig, rig->conn);
		rig_pass(rig, 1000);
	}
	ASSERT_STR_EQ("sent: the job was given to worker loose, which hasn't reported the job's start", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST explain_counts_busy_slots_of_fit_workers(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 0; i < 7; i++) {
		char name[8];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "");
	}
	run = rig_submit(rig, &graph);
	join(rig, "w", 2, "", "", "");
	join(rig, "v", 3, "", "", "");
	join(rig, "off", 4, "", "", "");
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 7));
	rig_cancel(rig, run, "");
	for (struct rig_attempt attempt; rig_take(rig, &attempt);)
		rig_done(rig, attempt, OUTCOME_RECALLED, 0);
	set(rig, OBJECT_WORKER, SET_PAUSE, "off");
	for (int i = 0; i < 7; i++) {
		char name[8];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "");
	}
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("all_slots_busy: all 5 slots that the job could use are busy; 2 jobs queue for them",
		      why(rig, run, "j6"));
	rig_free(rig);
	PASS();
}

/*
 * Worker a has all tapes in use; worker b reserves its tapes for a larger job: explain names b, which could take the
 * job sooner.
 */
TEST explain_prefers_a_reserved_worker_to_a_full_one(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "a", 9, "", "tape=4", "");
	join(rig, "b", 9, "", "tape=8", "");
	graph_on(&graph, "on_a", "a")->asks = words(rig, "tape=4");
	graph_on(&graph, "on_b", "b")->asks = words(rig, "tape=2");
	graph_job(&graph, "large", "")->asks = words(rig, "tape=8");
	graph_job(&graph, "small", "")->asks = words(rig, "tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("reserved: worker b has room, but this room is reserved for job 1/large, which is larger and comes before this one", why(rig, run, "small"));
	rig_free(rig);
	PASS();
}

/* Both workers flap, and a third worker that doesn't flap is busy. */
TEST explain_names_the_first_of_two_flapping_workers(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	static const char *const names[] = { "b", "a" };
	uint64_t run;

	for (int k = 0; k < 2; k++)
		for (int i = 0; i <= LIMIT_FLAP_DROPS; i++) {
			uint64_t conn = join(rig, names[k], 1, "", "", "");

			if (i < LIMIT_FLAP_DROPS)
				rig_gone(rig, conn);
		}
	join(rig, "steady", 1, "", "", "");
	graph_job(&graph, "first", "");
	graph_job(&graph, "second", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("steady", holder(rig, run, "first"));
	ASSERT_STR_EQ("worker_flaps: worker b lost 5 connections within 60 s, and gets no jobs for another 30 s",
		      why(rig, run, "second"));
	rig_free(rig);
	PASS();
}

/*
 * One worker is reserved for a larger job; the other flaps and would take the job if it didn't: explain names the
 * flapping one.
 */
TEST explain_prefers_a_flapping_worker_to_a_reserved_one(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "kept", 9, "", "tape=4", "");
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, "flaps", 9, "", "tape=1", ""));
	join(rig, "flaps", 9, "", "tape=1", "");
	graph_job(&graph, "busy", "")->asks = words(rig, "tape=2");
	graph_job(&graph, "large", "")->asks = words(rig, "tape=4");
	graph_job(&graph, "small", "")->asks = words(rig, "tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("kept", holder(rig, run, "busy"));
	ASSERT_STR_EQ("worker_flaps: worker flaps lost 5 connections within 60 s, and gets no jobs for another 30 s",
		      why(rig, run, "small"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(explain_names_resources_in_use);
	RUN_TEST(explain_names_the_job_that_room_is_reserved_for);
	RUN_TEST(explain_names_the_flapping_worker);
	RUN_TEST(explain_counts_busy_slots_of_fit_workers);
	RUN_TEST(explain_prefers_a_reserved_worker_to_a_full_one);
	RUN_TEST(explain_names_the_first_of_two_flapping_workers);
	RUN_TEST(explain_prefers_a_flapping_worker_to_a_reserved_one);
	GREATEST_MAIN_END();
}
