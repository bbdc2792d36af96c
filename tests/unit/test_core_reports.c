/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers say of times and ends, and what is kept of it. */
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
		.started_ms = started_ms, .ended_ms = ended_ms };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

/* Its rows are loaded again, whatever a clock said: the rig does so after each turn. */
TEST a_clock_that_runs_wild_keeps_no_master_from_starting(int64_t wild_ms)
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

/* One that nobody knew about ended when its worker says, not when that came back. */
TEST what_comes_back_late_ended_when_it_did(void)
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
	rig_free(rig);
	PASS();
}

SUITE(reports)
{
	static const int64_t wild[] = { INT64_MAX, INT64_MAX / 2 + 1, INT64_MIN, -1 };

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		RUN_TESTp(a_clock_that_runs_wild_keeps_no_master_from_starting, wild[i]);
	RUN_TEST(what_comes_back_late_ended_when_it_did);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(reports);
	GREATEST_MAIN_END();
}
