/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds: how many jobs they report, which timers they move, and what they leave unchanged. */
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

TEST new_round_of_parent_keeps_hold_of_child(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt other;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "x", "");
	graph_job(&graph, "b", "a x");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	other = rig_must_take(rig);
	rig_started(rig, other);
	rig_act(rig, ACT_HOLD, run, "b", 0);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	ASSERT(rig_job(rig, 3).held);
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST second_hold_changes_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 2; i++) {
		rig_act(rig, ACT_HOLD, run, "a", 0);
		ASSERT_EQ(i == 0 ? 1 : 0, (int)rig->ok.count);
	}
	rig_hello(rig, "w", 1);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST hold_of_ended_job_changes_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_EQ(0, (int)rig->ok.count);
	rig_free(rig);
	PASS();
}

/* The answer to a hold of a run counts the jobs that are held; ended jobs aren't. */
TEST hold_of_run_counts_no_ended_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_free(rig);
	PASS();
}

static int64_t due_of_first(const struct rig *rig)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == 1)
			return rig->tables[TABLE_job].at[i].row.job.due_ms;
	CHECK(!"a row of the first job");
	return 0;
}

/* A hold is for jobs that haven't started: the time-out of a running job goes on. */
TEST hold_moves_no_timeout_of_running_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;
	int64_t due_ms;

	graph_job(&graph, "a", "")->timeout_ms = 9000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	due_ms = due_of_first(rig);
	ASSERT_EQ(rig->now.wall_ms + 9000, due_ms);
	for (int whole = 0; whole < 2; whole++) {
		rig_pass(rig, 1000);
		rig_act(rig, ACT_HOLD, run, whole ? "" : "a", 0);
		ASSERT_EQ(due_ms, due_of_first(rig));
		rig_pass(rig, 1000);
		rig_act(rig, ACT_RELEASE, run, whole ? "" : "a", 0);
		ASSERT_EQ(due_ms, due_of_first(rig));
	}
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* A ready job's dispatch time-out starts anew at the release, not at the hold. */
TEST release_gives_whole_dispatch_timeout(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t first_ms, now_ms = rig->now.wall_ms;
	uint64_t run;

	graph_job(&graph, "a", "")->dispatch_timeout_ms = 9000;
	run = rig_submit(rig, &graph);
	first_ms = due_of_first(rig);
	for (int whole = 0; whole < 2; whole++) {
		rig_pass(rig, 1000);
		rig_act(rig, ACT_HOLD, run, whole ? "" : "a", 0);
		ASSERT_EQ(first_ms, due_of_first(rig));
		rig_pass(rig, 1000);
		rig_act(rig, ACT_RELEASE, run, whole ? "" : "a", 0);
		first_ms += 2000;
		ASSERT_EQ(first_ms, due_of_first(rig));
	}
	ASSERT_EQ(now_ms + 4000, rig->now.wall_ms);
	rig_pass(rig, 8999);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
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

/*
 * A run is held while, at its worker, one of its jobs runs, one is queued, and one has ended: the returning worker is
 * asked to give back the queued one only.
 */
TEST returning_worker_is_asked_for_held_jobs(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt at[3];
	struct rec_held held[3];
	struct outgoing recall = { 0 };
	static const char *const names[] = { "a", "b", "c" };
	uint64_t run;

	rig_hello(rig, "w", 3);
	run = submit_names(rig, names, 3);
	for (int i = 0; i < 3; i++)
		at[i] = rig_must_take(rig);
	rig_started(rig, at[0]);
	held[0] = (struct rec_held){ at[0].job, at[0].epoch, PHASE_RUNNING };
	held[1] = (struct rec_held){ at[1].job, at[1].epoch, PHASE_QUEUED };
	held[2] = (struct rec_held){ at[2].job, at[2].epoch, PHASE_ENDED };
	rig_hello_held(rig, "w", 3, held, 3);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(2, rig_frames(rig, OP_RECALL, NULL));
	rig_hello_held(rig, "w", 3, held, 3);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &recall));
	ASSERT_EQ(at[1].job, recall.recall.job);
	ASSERT_EQ(0, rig_frames(rig, OP_STOP, NULL));
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "a"));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* All members but the last have ended: the fan-out is still live. */
TEST hold_reaches_last_live_member_of_fan_out(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "e[0]", "");
	graph_job(&graph, "e[1]", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "e[0]");
	rig_act(rig, ACT_HOLD, run, "e", 0);
	ASSERT_EQ(1, (int)rig->ok.count);
	rig_free(rig);
	PASS();
}

SUITE(hold)
{
	RUN_TEST(new_round_of_parent_keeps_hold_of_child);
	RUN_TEST(second_hold_changes_nothing);
	RUN_TEST(hold_of_ended_job_changes_nothing);
	RUN_TEST(hold_of_run_counts_no_ended_jobs);
	RUN_TEST(hold_moves_no_timeout_of_running_job);
	RUN_TEST(release_gives_whole_dispatch_timeout);
	RUN_TEST(returning_worker_is_asked_for_held_jobs);
	RUN_TEST(hold_reaches_last_live_member_of_fan_out);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(hold);
	GREATEST_MAIN_END();
}
