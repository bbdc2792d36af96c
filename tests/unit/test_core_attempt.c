/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attempts: which ones count as tries, what the job is told, and that facts of one attempt aren't shown for the next.
 */
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

static uint64_t submit_in_mode(struct rig *rig, enum exec_mode mode)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->mode = mode;
	return rig_submit(rig, &graph);
}

static void say_done(struct rig *rig, struct rig_attempt attempt, struct rec_done done)
{
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	done.job = attempt.job;
	done.epoch = attempt.epoch;
	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

TEST attempt_stopped_before_start_is_no_try(void)
{
	static const enum exec_mode modes[] = { EXEC_RETRY, EXEC_ONCE };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;

		rig_hello(rig, "w", 1);
		submit_in_mode(rig, modes[i]);
		attempt = rig_must_take(rig);
		say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_STOPPED, .ended_ms = 9 });
		ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
		ASSERT_EQ(1, rig_must_take(rig).try_no);
		ASSERT_EQ(0, rig_job(rig, attempt.job).crashes);
		rig_free(rig);
	}
	PASS();
}

/* A start that its worker ended is a try that uses no retry; above the limit such starts no longer count as tries. */
TEST interrupted_tries_use_no_retry(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt = { 0 };

	rig_hello(rig, "w", 1);
	submit_in_mode(rig, EXEC_EXCLUSIVE);
	for (int i = 1; i <= LIMIT_INTERRUPTED_MAX + 3; i++) {
		const int counted = i < LIMIT_INTERRUPTED_MAX ? i : LIMIT_INTERRUPTED_MAX;

		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_STOPPED, 137);
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
		ASSERT_EQ(counted, (int)rig_job(rig, attempt.job).tries);
		ASSERT_EQ(counted, (int)rig_job(rig, attempt.job).interrupted);
		ASSERT_EQ(0, rig_job(rig, attempt.job).crashes);
		rig_pass(rig, 2000);
	}
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, attempt.job));
	ASSERT_EQ(LIMIT_INTERRUPTED_MAX + 1, (int)rig_job(rig, attempt.job).tries);
	rig_free(rig);
	PASS();
}

static struct row_job *job_row(struct rig *rig, uint64_t job)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == (int64_t)job)
			return &rig->tables[TABLE_job].at[i].row.job;
	CHECK(!"a row of that job");
	return NULL;
}

TEST try_number_has_a_maximum(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row_job *row;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = 1;
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	row = job_row(rig, 1);
	row->tries = UINT16_MAX;
	row->epoch = (INT64_C(1) << 32) + UINT16_MAX;
	rig_restart(rig);
	rig_pass(rig, 2000);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(UINT16_MAX, rig_must_take(rig).try_no);
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

/* A new attempt has no exit code, signal or times of the attempt before it. */
TEST retry_begins_without_facts_of_last_attempt(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 1);
	struct rec_job_row row;

	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 7);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_DELAYED, row.state);
	ASSERT(row.started_ms > 0 && row.code == 7 && row.cpu_us == 11 && row.rss_kib == 22 && row.out_bytes == 33);
	rig_pass(rig, 2000);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_ASSIGNED, row.state);
	ASSERT_EQ(OUTCOME_NONE, row.outcome);
	ASSERT(row.started_ms == 0 && row.code == 0 && row.cpu_us == 0 && row.rss_kib == 0 && row.out_bytes == 0);
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

/* A running attempt has no exit code, signal or times of the attempt before it. */
TEST running_attempt_has_no_facts_of_last_attempt(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row;

	rig_hello(rig, "w", 1);
	submit_like(rig, (struct rec_job_spec){ .retry_max = 1 });
	rig_run_one(rig, 3);
	row = rig_job(rig, 1);
	ASSERT(row.code == 3 && row.cpu_us == 11 && row.rss_kib == 22 && row.out_bytes == 33);
	rig_pass(rig, 5000);
	rig_started(rig, rig_must_take(rig));
	row = rig_job(rig, 1);
	ASSERT_EQ(STATE_RUNNING, row.state);
	ASSERT(row.code == 0 && row.cpu_us == 0 && row.rss_kib == 0 && row.out_bytes == 0 && row.outcome == OUTCOME_NONE);
	rig_free(rig);
	PASS();
}

/* A new round begins without facts of the last attempt, even before the job starts in it. */
TEST new_round_has_no_facts_of_last_attempt(void)
{
	struct rig *rig = rig_new();
	uint64_t run, conn = rig_hello(rig, "w", 1);
	struct rec_job_row row;

	run = submit_like(rig, (struct rec_job_spec){ 0 });
	rig_run_one(rig, 3);
	rig_gone(rig, conn);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	row = rig_job(rig, 1);
	ASSERT(row.state == STATE_READY && row.round == 1);
	ASSERT(row.code == 0 && row.cpu_us == 0 && row.rss_kib == 0 && row.out_bytes == 0 && row.outcome == OUTCOME_NONE);
	ASSERT(row.started_ms == 0 && row.worker.len == 0 && row.ended_ms == 0);
	rig_free(rig);
	PASS();
}

/* A lost attempt counts as a try, so the next attempt is told a higher number. */
TEST attempt_is_told_its_try_number(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_like(rig, (struct rec_job_spec){ 0 });
	attempt = rig_must_take(rig);
	ASSERT_EQ(1, attempt.try_no);
	rig_started(rig, attempt);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(OUTCOME_LOST, rig_job(rig, 1).outcome);
	rig_pass(rig, 5000);
	ASSERT_EQ(2, rig_must_take(rig).try_no);
	rig_free(rig);
	PASS();
}

/* A job that queues again says that its last attempt was lost, even if that attempt never started. */
TEST ready_job_says_that_its_attempt_was_lost(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);

	submit_like(rig, (struct rec_job_spec){ 0 });
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT_EQ(OUTCOME_LOST, rig_job(rig, 1).outcome);
	rig_free(rig);
	PASS();
}

/* An attempt that was lost with its worker isn't counted as a failure. */
TEST explain_counts_lost_attempt_as_no_failure(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_like(rig, (struct rec_job_spec){ .retry_max = 4 });
	rig_started(rig, rig_must_take(rig));
	rig_hello(rig, "w", 1);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
	ASSERT(strstr(why(rig, run, "a"), "1 attempt lost") != NULL);
	ASSERT(strstr(why(rig, run, "a"), "failure") == NULL);
	rig_free(rig);
	PASS();
}

SUITE(attempt)
{
	RUN_TEST(attempt_stopped_before_start_is_no_try);
	RUN_TEST(interrupted_tries_use_no_retry);
	RUN_TEST(try_number_has_a_maximum);
	RUN_TEST(retry_begins_without_facts_of_last_attempt);
	RUN_TEST(running_attempt_has_no_facts_of_last_attempt);
	RUN_TEST(new_round_has_no_facts_of_last_attempt);
	RUN_TEST(attempt_is_told_its_try_number);
	RUN_TEST(ready_job_says_that_its_attempt_was_lost);
	RUN_TEST(explain_counts_lost_attempt_as_no_failure);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(attempt);
	GREATEST_MAIN_END();
}
