/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's life: retries, crashes, time-outs, and the end of a run. */
#include "tests/unit/core_rig.h"

static uint64_t submit_one(struct rig *rig, uint64_t retry_max, uint64_t timeout_ms, uint64_t backoff_ms)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	job->retry_max = retry_max;
	job->timeout_ms = timeout_ms;
	job->backoff_ms = backoff_ms;
	return rig_submit(rig, &graph);
}

TEST crashes_count_apart(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	submit_one(rig, 1, 0, 10);
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));     /* the one retry */
	for (int crash = 1; crash <= LIMIT_CRASH_LIMIT; crash++) {
		struct rig_attempt attempt;

		ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
		rig_pass(rig, 100);
		attempt = rig_must_take(rig);
		if (crash > 1)
			rig_started(rig, attempt); /* an attempt is counted even if its start was never reported */
		rig_done(rig, attempt, OUTCOME_EXIT_UNKNOWN, 0);
		ASSERT_EQ((uint64_t)crash, rig_job(rig, 1).crashes);
	}
	ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, rig_job(rig, 1).outcome);
	rig_free(rig);
	PASS();
}

TEST retries_survive_crashes(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, 1, 0, 10);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT_UNKNOWN, 0);
	rig_pass(rig, 100);
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));     /* the job's retry is still there, because a crash uses none */
	rig_pass(rig, 100);
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST spawn_failure_is_a_failure(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	submit_one(rig, 0, 0, 0);
	rig_done(rig, rig_must_take(rig), OUTCOME_SPAWN, 2);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
	ASSERT_EQ(OUTCOME_SPAWN, rig_job(rig, 1).outcome);
	rig_free(rig);
	PASS();
}

TEST timeout_stops_then_ends(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct outgoing stop = { 0 };

	rig_hello(rig, "w", 1);
	submit_one(rig, 5, 1500, 0);
	attempt = rig_must_take(rig);
	rig_pass(rig, 3000);
	/* the job's time-out counts from the start of its attempt, not from its assignment */
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_started(rig, attempt);
	rig_pass(rig, 1499);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, &stop));
	ASSERT_EQ(attempt.epoch, stop.stop.epoch);
	ASSERT_EQ(LIMIT_STOP_GRACE_MS, stop.stop.grace_ms);
	rig_done(rig, attempt, OUTCOME_STOPPED, 143);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	ASSERT_EQ(143, rig_job(rig, 1).code);
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST timeout_counts_for_its_dependents(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->timeout_ms = 1000;
	graph_job(&graph, "on-ok", "a");
	graph_job(&graph, "on-failed", "a-");
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	rig_done(rig, attempt, OUTCOME_STOPPED, 143);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "on-ok"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "on-failed"));
	rig_free(rig);
	PASS();
}

TEST timeout_is_of_one_attempt(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, 1, 1500, 8);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 100);
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	rig_pass(rig, 10);
	rig_started(rig, rig_must_take(rig));
	rig_pass(rig, 1499);             /* the time-out of the first attempt would be over by now */
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST timeout_survives_a_restart(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	submit_one(rig, 0, 1500, 0);
	rig_started(rig, rig_must_take(rig));
	rig_pass(rig, 500);
	rig_restart(rig);
	rig_pass(rig, 999);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST timer_of_an_ended_job_does_nothing(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	submit_one(rig, 0, 1500, 0);
	rig_run_one(rig, 0);
	ASSERT_GT(core_next_due(rig->core), rig->now.mono_ns + 1500 * NS_PER_MS);
	submit_one(rig, 0, 0, 0);
	rig_started(rig, rig_must_take(rig));
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 1));
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

TEST ended_run_leaves_when_durable(void)
{
	struct rig *rig = rig_new();
	struct rec_run_row row;
	struct core_totals totals;
	const struct row *stored;

	rig_hello(rig, "w", 1);
	submit_one(rig, 0, 0, 0);
	submit_one(rig, 0, 0, 0);
	rig_run_one(rig, 0);
	stored = rig_run_row(rig, 1);
	ASSERT_GT(stored->run.ended_ms, 0);
	ASSERT_EQ(RUN_SUCCEEDED, stored->run.state);
	ASSERT_EQ(4 * STATE_COUNT, stored->run.counts.len);
	ASSERT_EQ(1, stored->run.counts.data[4 * STATE_SUCCEEDED]);
	core_sweep(rig->core, rig->out.turn - 1);
	ASSERT(view_run(rig->core, 1, &rig->arena, &row));
	ASSERT_GT(row.ended_ms, 0);
	core_sweep(rig->core, rig->out.turn);
	ASSERT_FALSE(view_run(rig->core, 1, &rig->arena, &row));
	ASSERT(view_run(rig->core, 2, &rig->arena, &row));
	view_totals(rig->core, &totals);
	ASSERT_EQ(1, totals.live_runs);
	ASSERT_EQ(1, totals.live_jobs);
	core_check(rig->core);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	core_sweep(rig->core, UINT64_MAX);
	ASSERT_EQ(0, view_run_before(rig->core, UINT64_MAX));
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

TEST history_tells_the_moves(void)
{
	struct rig *rig = rig_new();
	struct arena arena = { 0 };
	enum job_state at = STATE_READY;
	size_t moves = 0;

	rig_hello(rig, "w", 1);
	submit_one(rig, 1, 0, 0);
	rig_run_one(rig, 1);
	rig_pass(rig, 2000);
	rig_run_one(rig, 0);
	for (size_t i = 0; i < rig->tables[TABLE_event].count; i++) {
		struct slice body = rig->tables[TABLE_event].at[i].row.event.body;
		struct rec_happening happening;
		struct rec_event event;

		while (body.len > 0) {
			if (happening_is_next(body)) {
				ASSERT_EQ(ERR_NONE, record_decode(REC_happening, &body, &arena, &happening, NULL));
				continue;
			}
			ASSERT_EQ(ERR_NONE, record_decode(REC_event, &body, &arena, &event, NULL));
			ASSERT_EQ(at, event.from);
			ASSERT(state_allows(at, (enum job_event)event.event, (enum job_state)event.to));
			at = (enum job_state)event.to;
			moves++;
		}
	}
	ASSERT_EQ(STATE_SUCCEEDED, at);
	ASSERT_EQ(7, moves);             /* the job's moves: chosen, started, failed, due, chosen, started, ended */
	arena_free(&arena);
	rig_free(rig);
	PASS();
}

SUITE(ends)
{
	RUN_TEST(crashes_count_apart);
	RUN_TEST(retries_survive_crashes);
	RUN_TEST(spawn_failure_is_a_failure);
	RUN_TEST(timeout_stops_then_ends);
	RUN_TEST(timeout_counts_for_its_dependents);
	RUN_TEST(timeout_is_of_one_attempt);
	RUN_TEST(timeout_survives_a_restart);
	RUN_TEST(timer_of_an_ended_job_does_nothing);
	RUN_TEST(ended_run_leaves_when_durable);
	RUN_TEST(history_tells_the_moves);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ends);
	GREATEST_MAIN_END();
}
