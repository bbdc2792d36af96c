/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of workers: start and end times, and what is kept of them. */
#include "tests/unit/core_rig.h"

static uint64_t submit_one(struct rig *rig, enum exec_mode mode)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->mode = mode;
	return rig_submit(rig, &graph);
}

static void say_done(struct rig *rig, struct rig_attempt attempt, int64_t started_ms, int64_t ended_ms)
{
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_EXIT,
		.started_ms = started_ms, .ended_ms = ended_ms, .cpu_us = 7, .out_bytes = 8 };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

/* Rows with a worker's wild clock times can be loaded; the rig loads them after every turn. */
TEST wild_clock_of_a_worker_stops_no_load(int64_t wild_ms)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_started started;
	struct core_input input = { .kind = INPUT_STARTED };
	struct graph graph = { 0 };
	struct rec_job_row row;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	started = (struct rec_started){ .job = attempt.job, .epoch = attempt.epoch, .wall_ms = wild_ms, .pid = 5 };
	input.conn = attempt.conn;
	input.started.at = &started;
	input.started.n = 1;
	rig_step(rig, &input);
	say_done(rig, attempt, wild_ms, wild_ms);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_SUCCEEDED, row.state);
	ASSERT(row.started_ms >= 0 && row.ended_ms > 0);
	rig_restart(rig);
	rig_free(rig);
	PASS();
}

/* A job in state unknown ended at the time that its worker reports late, not when the worker came back. */
TEST late_result_keeps_its_end_time(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_held held;
	int64_t ended_ms;
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_one(rig, EXEC_ONCE);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ended_ms = rig->now.wall_ms + 5;
	rig_gone(rig, attempt.conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	held = (struct rec_held){ attempt.job, attempt.epoch, PHASE_ENDED };
	attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
	say_done(rig, attempt, ended_ms - 5, ended_ms);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "a"));
	ASSERT_EQ_FMT((long long)ended_ms, (long long)rig_job(rig, attempt.job).ended_ms, "%lld");
	ASSERT(rig_job(rig, attempt.job).cpu_us == 7 && rig_job(rig, attempt.job).out_bytes == 8);
	rig_free(rig);
	PASS();
}

TEST returning_job_keeps_its_start_time(bool known)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_held held;
	int64_t began_ms;

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_ONCE);
	attempt = rig_must_take(rig);
	began_ms = rig->now.wall_ms;
	if (known)
		rig_started(rig, attempt);
	rig_gone(rig, attempt.conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_wait(rig, 1000);
	held = (struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING };
	rig_hello_held(rig, "w", 1, &held, 1);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, attempt.job));
	ASSERT_EQ_FMT((long long)(known ? began_ms : rig->now.wall_ms), (long long)rig_job(rig, attempt.job).started_ms, "%lld");
	rig_free(rig);
	PASS();
}

/* The history names the worker of each attempt also for events that come after the attempt ended. */
TEST history_names_the_worker_of_each_attempt(void)
{
	struct rig *rig = rig_new();
	struct arena arena = { 0 };
	size_t ends = 0;

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_RETRY);
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
			ASSERT_EQ(1, event.worker);
			ASSERT_EQ(rig_job(rig, 1).epoch, event.epoch);
			ends += event.to == STATE_SUCCEEDED;
		}
	}
	ASSERT_EQ(1, ends);
	arena_free(&arena);
	rig_free(rig);
	PASS();
}

/* The dispatch time-out counts anew whenever the job is queued again. */
TEST recalled_job_has_its_whole_dispatch_timeout(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->dispatch_timeout_ms = 3000;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_DRAIN, .name = slice_str("w") });
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, NULL));
	rig_pass(rig, 2000);
	rig_done(rig, attempt, OUTCOME_RECALLED, 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_pass(rig, 2999);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* A recalled job that was reported as started and comes back without an end counts as lost. */
TEST recalled_job_that_had_started_counts_as_lost(void)
{
	static const enum exec_mode modes[] = { EXEC_RETRY, EXEC_ONCE };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;

		rig_hello(rig, "w", 1);
		submit_one(rig, modes[i]);
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_RECALLED, 0);
		ASSERT_EQ(i == 0 ? STATE_DELAYED : STATE_UNKNOWN, rig_state(rig, attempt.job));
		ASSERT_EQ(i == 0 ? 1 : 0, rig_job(rig, attempt.job).crashes);
		ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, rig_job(rig, attempt.job).outcome);
		rig_free(rig);
	}
	PASS();
}

SUITE(reports)
{
	static const int64_t wild[] = { INT64_MAX, INT64_MAX / 2 + 1, INT64_MIN, -1 };

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		RUN_TESTp(wild_clock_of_a_worker_stops_no_load, wild[i]);
	RUN_TEST(late_result_keeps_its_end_time);
	RUN_TESTp(returning_job_keeps_its_start_time, false);
	RUN_TESTp(returning_job_keeps_its_start_time, true);
	RUN_TEST(history_names_the_worker_of_each_attempt);
	RUN_TEST(recalled_job_has_its_whole_dispatch_timeout);
	RUN_TEST(recalled_job_that_had_started_counts_as_lost);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(reports);
	GREATEST_MAIN_END();
}
