/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job in state unknown within a sub-run that is being stopped keeps its locks until a late result or a person settles
 * it.
 */
#include "tests/unit/core_lock.h"
#include "tests/unit/core_sub.h"

#define SPAN_MS 200000

struct scene {
	struct rig *rig;
	uint64_t run, child, conn;
	struct rig_attempt attempt;
};

/* Make "s", a sub-run with job "x", which has lock db and mode once, and whose worker is lost. */
static struct scene scene_new(uint64_t timeout_ms, uint64_t deadline_ms)
{
	struct scene scene = { .rig = rig_new() };
	struct graph graph = { 0 }, inner = { 0 };
	struct slice lock = slice_str("db");
	struct rec_job_spec *job = graph_job(&inner, "x", "");

	job->mode = EXEC_ONCE;
	job->locks = (struct slice_list){ &lock, 1 };
	job = sub_job(&graph, "s", "", &inner);
	job->timeout_ms = timeout_ms;
	job->deadline_ms = deadline_ms;
	scene.run = rig_submit(scene.rig, &graph);
	scene.conn = rig_hello(scene.rig, "w", 1);
	scene.attempt = rig_must_take(scene.rig);
	scene.child = child_of(scene.rig, scene.run, "s");
	rig_started(scene.rig, scene.attempt);
	rig_gone(scene.rig, scene.conn);
	rig_pass(scene.rig, LIMIT_GRACE_MS);
	CHECK(named(scene.rig, scene.child, "x") == STATE_UNKNOWN);
	return scene;
}

TEST timed_out_sub_run_waits_for_unknown_job(void)
{
	for (int late = 0; late < 2; late++) {
		struct scene scene = scene_new(late ? 0 : SPAN_MS, late ? SPAN_MS : 0);
		struct rig *rig = scene.rig;

		rig_pass(rig, SPAN_MS);
		ASSERT_EQ(STATE_STOPPING, named(rig, scene.run, "s"));
		ASSERT_EQ(STATE_UNKNOWN, named(rig, scene.child, "x"));
		ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "me", false, 0));
		ASSERT(rig_error_says(rig, ERR_BUSY, "lock db"));
		rig_act(rig, ACT_SETTLE, scene.child, "x", SETTLE_RETRY);
		ASSERT(rig_error_says(rig, ERR_TERMINAL, "no longer waits for the run"));
		rig_act(rig, ACT_SETTLE, scene.child, "x", SETTLE_DONE);
		ASSERT_EQ(1, rig->ok.count);
		ASSERT_EQ(STATE_TIMED_OUT, named(rig, scene.run, "s"));
		ASSERT(lock_act(rig, SET_TAKE, "db", "me", false, 0) != 0);
		rig_free(rig);
	}
	PASS();
}

TEST unknown_job_of_timed_out_sub_run_is_stopped_on_return(void)
{
	struct scene scene = scene_new(SPAN_MS, 0);
	struct rig *rig = scene.rig;
	struct rec_held held = { .job = scene.attempt.job, .epoch = scene.attempt.epoch, .phase = PHASE_RUNNING };
	struct outgoing frame = { 0 };

	rig_pass(rig, SPAN_MS);
	rig_restart(rig);
	scene.attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, &frame));
	ASSERT_EQ(scene.attempt.job, frame.stop.job);
	rig_done(rig, scene.attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_TIMED_OUT, named(rig, scene.run, "s"));
	ASSERT(lock_act(rig, SET_TAKE, "db", "me", false, 0) != 0);
	rig_free(rig);
	PASS();
}

/* A cancel ends the sub-run, at once or after a time limit has stopped it. */
TEST cancel_ends_sub_run_with_unknown_job(void)
{
	for (int before = 0; before < 2; before++) {
		struct scene scene = scene_new(SPAN_MS, 0);
		struct rig *rig = scene.rig;

		if (before)
			rig_pass(rig, SPAN_MS);
		rig_cancel(rig, scene.run, "s");
		ASSERT_EQ(1, rig->ok.count);
		ASSERT_EQ(STATE_CANCELLED, named(rig, scene.run, "s"));
		ASSERT(row_ended(rig, scene.run) != 0 && row_ended(rig, scene.child) != 0);
		ASSERT(lock_act(rig, SET_TAKE, "db", "me", false, 0) != 0);
		rig_free(rig);
	}
	PASS();
}

SUITE(unknown_within)
{
	RUN_TEST(timed_out_sub_run_waits_for_unknown_job);
	RUN_TEST(unknown_job_of_timed_out_sub_run_is_stopped_on_return);
	RUN_TEST(cancel_ends_sub_run_with_unknown_job);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(unknown_within);
	GREATEST_MAIN_END();
}
