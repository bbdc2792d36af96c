/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deadlines together with cancels, dates, retries and holds; the earlier of two deadlines counts. */
#include "base/sha256.h"
#include "proto/expr.h"
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

/* A job that is being stopped by its deadline and is then cancelled ends as cancelled. */
TEST cancel_of_job_stopped_by_deadline_cancels_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_ms = 1000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 2000);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a"));
	for (uint64_t changed = 1; changed < 2; changed--) {
		rig_cancel(rig, run, "a");
		ASSERT_EQ(changed, rig->ok.count);
		rig_restart(rig);
	}
	attempt.conn = rig_hello_held(rig, "w", 1, &(struct rec_held){ .job = attempt.job, .epoch = attempt.epoch,
		.phase = PHASE_RUNNING }, 1);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* A job that was cancelled first stays cancelled, though its deadline passes while the process ends. */
TEST cancelled_job_stays_cancelled_past_deadline(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->deadline_ms = 2000;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	rig_pass(rig, 2500);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST deadline_keeps_cancel_as_stop_cause(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_ms = 5000;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	rig_pass(rig, 6000);
	ASSERT_EQ(EVENT_CANCEL, rig_job(rig, attempt.job).stop_cause);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* A job is late in one round but not in the next, because somebody set the clock right. */
TEST retry_before_deadline_date_has_that_deadline(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t date = rig->now.wall_ms + 10000;
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_at_ms = date;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 3);
	rig->now.wall_ms += 20000;
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(0, rig_job(rig, 1).deadline_ms);
	rig_run_one(rig, 3);
	rig->now.wall_ms -= 20000;
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(date, rig_job(rig, 1).deadline_ms);
	rig_restart(rig);
	rig_pass(rig, 10000);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* A retry at exactly the deadline's date: the date has passed, so the new round has no deadline. */
TEST retry_at_deadline_date_has_no_deadline(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_at_ms = rig->now.wall_ms + 5000;
	graph_job(&graph, "open", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "a");
	rig_wait(rig, 5000);
	rig_act(rig, ACT_RETRY, run, "a", 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST earlier_of_two_deadlines_ends_job(void)
{
	for (int dated = 0; dated < 2; dated++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };

		graph_job(&graph, "a", "")->deadline_ms = dated ? 9000 : 2000;
		graph.jobs[0].deadline_at_ms = rig->now.wall_ms + (dated ? 2000 : 9000);
		rig_submit(rig, &graph);
		rig_pass(rig, 1999);
		ASSERT_EQ(STATE_READY, rig_state(rig, 1));
		rig_pass(rig, 1);
		ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
		rig_free(rig);
	}
	PASS();
}

/* Of two deadlines the earlier one is shown, in the row and in titan explain. */
TEST earlier_of_two_deadlines_is_shown(int64_t span_ms, int64_t date_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rec_job_row row;

	job->deadline_ms = (uint64_t)span_ms;
	job->deadline_at_ms = rig->now.wall_ms + date_ms;
	row = rig_job(rig, rig_named(rig, rig_submit(rig, &graph), "a"));
	ASSERT_EQ(rig->now.wall_ms + 5000, row.deadline_ms);
	ASSERT(view_explain(rig->core, row.job, &rig->arena, &row));
	ASSERT(memmem(row.why.data, row.why.len, "; the job's deadline is in 5", 28));
	rig_free(rig);
	PASS();
}

/* A round after the deadline's date has no deadline; when the wall clock is set back, the next round has it again. */
TEST deadline_date_ahead_again_is_shown_again(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t date_ms = rig->now.wall_ms + 5000;
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_at_ms = date_ms;
	graph_job(&graph, "open", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "a");
	rig_wait(rig, 6000);
	rig_act(rig, ACT_RETRY, run, "a", 0);
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "a")).deadline_ms);
	rig_cancel(rig, run, "a");
	rig->now.wall_ms -= 5000;
	rig_act(rig, ACT_RETRY, run, "a", 0);
	ASSERT_EQ(date_ms, rig_job(rig, rig_named(rig, run, "a")).deadline_ms);
	rig_free(rig);
	PASS();
}

TEST deadline_ends_held_job(bool all)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->deadline_ms = 1000;
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, all ? "" : "a", 0);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST held_run_has_no_dispatch_timeout(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->dispatch_timeout_ms = 2000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	rig_pass(rig, 1999);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST settle_retry_past_deadline_times_out(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "once", "")->mode = EXEC_ONCE;
	graph.jobs[0].deadline_ms = 2 * LIMIT_GRACE_MS;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, 1));
	rig_act(rig, ACT_SETTLE, run, "once", SETTLE_RETRY);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(deadline)
{
	RUN_TEST(cancel_of_job_stopped_by_deadline_cancels_it);
	RUN_TEST(cancelled_job_stays_cancelled_past_deadline);
	RUN_TEST(deadline_keeps_cancel_as_stop_cause);
	RUN_TEST(retry_before_deadline_date_has_that_deadline);
	RUN_TEST(retry_at_deadline_date_has_no_deadline);
	RUN_TEST(earlier_of_two_deadlines_ends_job);
	RUN_TESTp(earlier_of_two_deadlines_is_shown, 5000, 60000);
	RUN_TESTp(earlier_of_two_deadlines_is_shown, 60000, 5000);
	RUN_TEST(deadline_date_ahead_again_is_shown_again);
	RUN_TESTp(deadline_ends_held_job, false);
	RUN_TESTp(deadline_ends_held_job, true);
	RUN_TEST(held_run_has_no_dispatch_timeout);
	RUN_TEST(settle_retry_past_deadline_times_out);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(deadline);
	GREATEST_MAIN_END();
}
