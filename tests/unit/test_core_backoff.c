/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Backoff: how long a job waits after failures, losses, interruptions and time-outs. */
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

static uint64_t submit_retried(struct rig *rig, uint64_t retry_max, uint64_t timeout_ms, uint64_t backoff_ms)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	job->retry_max = retry_max;
	job->timeout_ms = timeout_ms;
	job->backoff_ms = backoff_ms;
	return rig_submit(rig, &graph);
}

TEST retry_waits_its_backoff(void)
{
	struct rig *rig = rig_new();
	int64_t least = 400;
	uint64_t epoch = 0;

	rig_hello(rig, "w", 1);
	submit_retried(rig, 3, 0, 400);
	for (int failure = 1; failure <= 3; failure++, least *= 2) {
		struct rig_attempt attempt = rig_must_take(rig);
		struct rec_job_row row;

		ASSERT_GT(attempt.epoch, epoch);
		ASSERT_EQ((uint64_t)failure, attempt.try_no);
		epoch = attempt.epoch;
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_EXIT, 9);
		row = rig_job(rig, 1);
		ASSERT_EQ(STATE_DELAYED, row.state);
		ASSERT_EQ(9, row.code);
		ASSERT_GTE(row.due_ms, rig->now.wall_ms + least);
		ASSERT_LTE(row.due_ms, rig->now.wall_ms + least + least / 4);
		ASSERT_EQ(rig->now.mono_ns + (row.due_ms - rig->now.wall_ms) * NS_PER_MS,
			  core_next_due(rig->core));
		rig_pass(rig, row.due_ms - rig->now.wall_ms - 1);
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
		rig_heartbeat(rig, rig->conn);
		rig_pass(rig, 1);
		ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	}
	rig_run_one(rig, 9);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
	ASSERT_EQ(4, rig_job(rig, 1).tries);
	rig_free(rig);
	PASS();
}

TEST backoff_has_a_maximum(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	submit_retried(rig, 20, 0, 0);
	for (int failure = 0; failure < 15; failure++) {
		struct rig_attempt attempt = rig_must_take(rig);
		int64_t wait;

		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_SIGNAL, 11);
		wait = rig_job(rig, 1).due_ms - rig->now.wall_ms;
		ASSERT_LTE(wait, LIMIT_RETRY_BACKOFF_MAX_MS * 5 / 4);
		if (failure > 6)
			ASSERT_GTE(wait, LIMIT_RETRY_BACKOFF_MAX_MS);
		rig_pass(rig, wait);
		rig_heartbeat(rig, rig->conn);
	}
	rig_free(rig);
	PASS();
}

static struct rig *rig_running(struct rig_attempt *ret_attempt, uint64_t retry_max)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = retry_max;
	rig_submit(rig, &graph);
	*ret_attempt = rig_must_take(rig);
	return rig;
}

/* With one retry and a backoff of one second, the wait is at least a second and at most a quarter longer. */
TEST backoff_stays_within_its_jitter(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 40);

	for (unsigned failures = 1; failures <= 9; failures++) {
		int64_t least = failures > 5 ? LIMIT_RETRY_BACKOFF_MAX_MS : LIMIT_RETRY_BACKOFF_MS << (failures - 1);

		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_EXIT, 1);
		rig_heartbeat(rig, attempt.conn);
		for (int64_t left = least - 1; left > 0; left -= 5000) {
			rig_pass(rig, left < 5000 ? left : 5000);
			rig_heartbeat(rig, attempt.conn);
		}
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
		for (int64_t left = least / 4 + 2; left > 0; left -= 5000) {
			rig_pass(rig, left < 5000 ? left : 5000);
			rig_heartbeat(rig, attempt.conn);
		}
		ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
		attempt = rig_must_take(rig);
	}
	rig_free(rig);
	PASS();
}

/* A first backoff longer than the usual maximum is kept, also after a restart. */
TEST first_backoff_may_exceed_usual_maximum(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	int64_t due_ms;

	job->retry_max = 3;
	job->backoff_ms = 4 * LIMIT_RETRY_BACKOFF_MAX_MS;
	job->backoff_exact = true;
	rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	due_ms = rig->now.wall_ms + 4 * LIMIT_RETRY_BACKOFF_MAX_MS;
	ASSERT_EQ(due_ms, rig_job(rig, 1).due_ms);
	rig_restart(rig);
	ASSERT_EQ(due_ms, rig_job(rig, 1).due_ms);
	rig_free(rig);
	PASS();
}

/* An interruption is nobody's fault: the job waits as after a first failure, however often it was lost before. */
TEST interruption_after_loss_waits_first_backoff(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rig_attempt attempt;
	uint64_t conn = rig_hello(rig, "w", 1);

	job->backoff_ms = 1000;
	job->backoff_exact = true;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(OUTCOME_LOST, rig_job(rig, attempt.job).outcome);
	ASSERT_EQ(rig->now.wall_ms + 1000, rig_job(rig, attempt.job).due_ms);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 1000);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_STOPPED, 15);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(1, rig_job(rig, attempt.job).crashes);
	ASSERT_EQ(rig->now.wall_ms + 1000, rig_job(rig, attempt.job).due_ms);
	rig_free(rig);
	PASS();
}

static uint64_t submit_like(struct rig *rig, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	wanted.name = job->name;
	wanted.argv = job->argv;
	*job = wanted;
	return rig_submit(rig, &graph);
}

/* A worker that was told to quit stops its jobs. That isn't a failure, and the job waits for the shortest backoff. */
TEST interruption_after_failures_waits_first_backoff(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_like(rig, (struct rec_job_spec){ .retry_max = 5, .backoff_ms = 1000, .backoff_exact = true });
	rig_run_one(rig, 1);
	rig_pass(rig, 1000);
	rig_run_one(rig, 1);
	rig_pass(rig, 2000);
	rig_started(rig, rig->assigned[rig->assigned_first]);
	rig_done(rig, rig_must_take(rig), OUTCOME_STOPPED, 15);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
	rig_pass(rig, 999);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST timeout_after_loss_waits_first_backoff(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rig_attempt attempt;

	job->timeout_ms = 50;
	job->retry_max = 3;
	job->retry_on = RETRY_ON_TIMEOUT;
	job->backoff_ms = 400;
	job->backoff_exact = true;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_hello(rig, "w", 1);          /* the worker comes back without the attempt */
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 400);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 50);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(2, rig_job(rig, 1).tries);
	rig_pass(rig, 399);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(backoff)
{
	RUN_TEST(retry_waits_its_backoff);
	RUN_TEST(backoff_has_a_maximum);
	RUN_TEST(backoff_stays_within_its_jitter);
	RUN_TEST(first_backoff_may_exceed_usual_maximum);
	RUN_TEST(interruption_after_loss_waits_first_backoff);
	RUN_TEST(interruption_after_failures_waits_first_backoff);
	RUN_TEST(timeout_after_loss_waits_first_backoff);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(backoff);
	GREATEST_MAIN_END();
}
