/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cancelling jobs in every state and whole runs: what is counted, and what is recorded as the cause of the end. */
#include "base/sha256.h"
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

TEST cancel_of_job_without_attempt_ends_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "ready", "");
	graph_job(&graph, "waiting", "ready");
	graph_job(&graph, "behind", "waiting");
	graph_job(&graph, "always", "waiting*");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "waiting");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "waiting"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "behind"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "always"));
	rig_cancel(rig, run, "waiting");
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "cancelled"));
	rig_cancel(rig, run, "nobody");
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "nobody"));
	rig_cancel(rig, run, "ready");
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "ready"));
	rig_cancel(rig, 77, "");
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "run 77 is not live"));
	rig_hello(rig, "w", 4);
	ASSERT_EQ(4, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_cancel(rig, run, "");
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "already ended"));
	rig_free(rig);
	PASS();
}

static uint64_t submit_one(struct rig *rig, uint64_t retry_max, uint64_t timeout_ms, uint64_t backoff_ms)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	job->retry_max = retry_max;
	job->timeout_ms = timeout_ms;
	job->backoff_ms = backoff_ms;
	return rig_submit(rig, &graph);
}

TEST cancel_ends_delayed_job(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	submit_one(rig, 5, 0, 0);
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_cancel(rig, 1, "a");
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	rig_pass(rig, 100000);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

static bool cancel_with_attempt(bool started, enum outcome outcome, uint64_t code)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct outgoing stop = { 0 };
	bool fine;

	rig_hello(rig, "w", 1);
	submit_one(rig, 5, 0, 0);
	attempt = rig_must_take(rig);
	if (started)
		rig_started(rig, attempt);
	rig_cancel(rig, 1, "");
	fine = rig->ok.count == 1 && rig_state(rig, 1) == STATE_STOPPING &&
	       rig_frames(rig, OP_STOP, &stop) == 1 &&
	       stop.stop.job == 1 && stop.stop.epoch == attempt.epoch && stop.conn == attempt.conn;
	rig_cancel(rig, 1, "");
	fine = fine && rig->error.code == 0 && rig->ok.count == 0 && rig_state(rig, 1) == STATE_STOPPING;
	if (!started)
		rig_started(rig, attempt);       /* the start report crossed the request to stop */
	rig_done(rig, attempt, outcome, code);
	fine = fine && rig_state(rig, 1) == STATE_CANCELLED && rig_job(rig, 1).code == code &&
	       rig_run_state(rig, 1) == RUN_CANCELLED;
	rig_free(rig);
	return fine;
}

TEST cancel_stops_job_with_attempt(void)
{
	for (int started = 0; started <= 1; started++) {
		ASSERT(cancel_with_attempt(started, OUTCOME_STOPPED, 143));
		ASSERT(cancel_with_attempt(started, OUTCOME_EXIT, 0));
		ASSERT(cancel_with_attempt(started, OUTCOME_EXIT, 7));
		ASSERT(cancel_with_attempt(started, OUTCOME_RECALLED, 0));
		ASSERT(cancel_with_attempt(started, OUTCOME_EXIT_UNKNOWN, 0));
	}
	PASS();
}

TEST cancel_takes_over_timeout(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, 0, 1000, 0);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	rig_cancel(rig, 1, "a");
	ASSERT_EQ(1, rig->ok.count);
	rig_done(rig, attempt, OUTCOME_STOPPED, 143);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST cancel_of_run_skips_no_child(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "b*");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "");
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "c"));
	rig_done(rig, rig_must_take(rig), OUTCOME_STOPPED, 143);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* A cancel of a whole run cancels its final jobs too, instead of skipping them because their parents were cancelled. */
TEST cancel_of_all_ends_final_jobs_too(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "a*")->final = true;
	run = rig_submit(rig, &graph);
	rig_cancel_scope(rig, run, "", CANCEL_ALL);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "c"));
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

static const struct row_run *run_row(const struct rig *rig, uint64_t run)
{
	return &rig_run_row(rig, (int64_t)run)->run;
}

TEST cancel_counts_changed_jobs(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "b");
	ASSERT_EQ(1, rig->ok.count);
	/* the cancel was of a job, so the run isn't recorded as cancelled */
	ASSERT_EQ(0, run_row(rig, run)->cancelled);
	rig_cancel(rig, run, "a");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, NULL));
	rig_cancel(rig, run, "a");
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(0, rig_frames(rig, OP_STOP, NULL));
	rig_cancel(rig, run, "");                /* no job is left to cancel, but the run now refuses added jobs */
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(1, run_row(rig, run)->cancelled);
	rig_done(rig, attempt, OUTCOME_STOPPED, 0);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST cancelled_run_says_so(void)
{
	static const char *const names[] = { "a", "b" };
	struct rig *rig = rig_new();
	uint64_t run = submit_names(rig, names, 2);
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "");
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(1, run_row(rig, run)->cancelled);
	rig_done(rig, attempt, OUTCOME_STOPPED, 0);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

static uint64_t hello_with(struct rig *rig, struct rig_attempt attempt, enum attempt_phase phase)
{
	struct rec_held held = { .job = attempt.job, .epoch = attempt.epoch, .phase = phase };

	return rig_hello_held(rig, "w", 1, &held, 1);
}

/*
 * A job cancelled while its worker is disconnected must be stopped when the worker is back, whether it is queued or
 * runs there.
 */
TEST job_cancelled_while_worker_was_away_is_stopped(void)
{
	const enum attempt_phase phases[] = { PHASE_QUEUED, PHASE_RUNNING };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rig_attempt attempt;
		struct outgoing stop;

		rig_hello(rig, "w", 1);
		graph_job(&graph, "a", "");
		rig_submit(rig, &graph);
		attempt = rig_must_take(rig);
		rig_gone(rig, rig->conn);
		rig_cancel(rig, 1, "a");
		ASSERT_EQ(0, rig_frames(rig, OP_STOP, NULL));
		hello_with(rig, attempt, phases[i]);
		ASSERT_EQ(1, rig_frames(rig, OP_STOP, &stop));
		ASSERT_EQ(attempt.epoch, stop.stop.epoch);
		ASSERT_EQ(LIMIT_STOP_GRACE_MS, stop.stop.grace_ms);
		rig_free(rig);
	}
	PASS();
}

TEST cancelled_job_is_ended_by_nothing_else(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "slow", "")->timeout_ms = 1000;
	graph.jobs[0].retry_max = 1;
	graph.jobs[0].retry_on = RETRY_ON_TIMEOUT;
	job = graph_job(&graph, "gated", "");
	job->gate_count = 1;
	job->gate_timeout_ms = 500;
	job->gate_expiry = GATE_APPROVE;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "slow"));
	rig_gone(rig, rig->conn);
	rig_cancel(rig, run, "slow");
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, 1));
	ASSERT_EQ(0, rig_job(rig, 1).ended_by);
	rig_restart(rig);
	ASSERT_EQ(0, rig_job(rig, 1).ended_by);
	rig_free(rig);

	rig = rig_new();
	graph = (struct graph){ 0 };
	job = graph_job(&graph, "gated", "");
	job->gate_count = 1;
	job->gate_timeout_ms = 500;
	job->gate_expiry = GATE_APPROVE;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 500);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_cancel(rig, run, "gated");
	ASSERT_EQ(0, rig_job(rig, 1).ended_by);
	rig_free(rig);
	PASS();
}

SUITE(cancel)
{
	RUN_TEST(cancel_of_job_without_attempt_ends_it);
	RUN_TEST(cancel_ends_delayed_job);
	RUN_TEST(cancel_stops_job_with_attempt);
	RUN_TEST(cancel_takes_over_timeout);
	RUN_TEST(cancel_of_run_skips_no_child);
	RUN_TEST(cancel_of_all_ends_final_jobs_too);
	RUN_TEST(cancel_counts_changed_jobs);
	RUN_TEST(cancelled_run_says_so);
	RUN_TEST(job_cancelled_while_worker_was_away_is_stopped);
	RUN_TEST(cancelled_job_is_ended_by_nothing_else);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cancel);
	GREATEST_MAIN_END();
}
