/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results from workers: impossible numbers, times and outcomes; stale results; repeated ones. */
#include "proto/dead.h"
#include "tests/unit/core_rig.h"

static uint64_t submit_one(struct rig *rig, enum exec_mode mode)
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

/* The start was never reported, but the result has a start time: it counts as a try. */
TEST result_with_start_time_counts_as_try(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_RETRY);
	attempt = rig_must_take(rig);
	say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_STOPPED, .started_ms = 5, .ended_ms = 9 });
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(1, rig_job(rig, attempt.job).tries);
	ASSERT_EQ(1, rig_job(rig, attempt.job).interrupted);
	rig_free(rig);

	rig = rig_new();
	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_ONCE);
	attempt = rig_must_take(rig);
	say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_STOPPED, .started_ms = 5, .ended_ms = 9 });
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
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

TEST result_without_end_time_ends_now(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_RETRY);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_EXIT });
	ASSERT_EQ(rig->now.wall_ms, job_row(rig, attempt.job)->ended_ms);
	rig_free(rig);
	PASS();
}

TEST result_from_another_worker_changes_nothing(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt, other;
	uint64_t second;

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_RETRY);
	attempt = rig_must_take(rig);
	second = rig_hello(rig, "other", 1);
	other = (struct rig_attempt){ .job = attempt.job, .epoch = attempt.epoch, .conn = second };
	rig_started(rig, other);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
	other = attempt;
	other.epoch++;
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
	other.job = attempt.job + 1;             /* a job number that was never given, and later the number 0 */
	rig_started(rig, other);
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, NULL));
	other.job = 0;
	rig_done(rig, other, OUTCOME_EXIT, 0);
	rig_started(rig, attempt);
	rig_wait(rig, 1000);
	rig_started(rig, attempt);
	ASSERT_EQ(rig->now.wall_ms - 1000, job_row(rig, attempt.job)->started_ms);
	rig_free(rig);
	PASS();
}

/* An impossible outcome of a job that is being stopped is recorded as "exit unknown". */
TEST impossible_outcome_of_stopped_job_is_exit_unknown(void)
{
	static const enum outcome outcomes[] = { OUTCOME_NONE, OUTCOME_LOST, OUTCOME_COUNT, OUTCOME_COUNT + 7 };

	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;
		uint64_t run;

		rig_hello(rig, "w", 1);
		run = submit_one(rig, EXEC_RETRY);
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		rig_cancel(rig, run, "");
		say_done(rig, attempt, (struct rec_done){ .outcome = outcomes[i], .started_ms = 5, .ended_ms = 6 });
		ASSERT_EQ(STATE_CANCELLED, rig_state(rig, attempt.job));
		ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, job_row(rig, attempt.job)->outcome);
		rig_free(rig);
	}
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

TEST numbers_of_result_are_clamped(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 0);
	struct row_job *row;

	say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_EXIT, .code = UINT64_MAX, .started_ms = -5, .ended_ms = -5,
						  .cpu_us = UINT64_MAX, .rss_kib = UINT64_MAX, .out_bytes = UINT64_MAX });
	row = &rig->tables[TABLE_job].at[0].row.job;
	ASSERT_EQ(STATE_FAILED, row->state);
	ASSERT_EQ(UINT32_MAX, row->code);
	ASSERT_EQ(UINT32_MAX, row->rss_kib);
	ASSERT_EQ(INT64_MAX, row->cpu_us);
	ASSERT_EQ(INT64_MAX, row->out_bytes);
	ASSERT_EQ(0, row->started_ms);
	ASSERT(row->ended_ms > 0);
	rig_free(rig);
	PASS();
}

/*
 * Times that are impossible, because of a worker's clock or a faulty worker, must not produce rows that a master
 * refuses to load.
 */
TEST impossible_times_are_dropped(void)
{
	static const int64_t times[] = { INT64_MIN, -1, INT64_MAX / 2 + 1, INT64_MAX };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_started begun = { .wall_ms = times[i], .pid = 5 };
		struct core_input input = { .kind = INPUT_STARTED, .started = { .at = &begun, .n = 1 } };
		struct rig_attempt attempt;

		input.conn = rig_hello(rig, "w", 1);
		graph_job(&graph, "a", "")->timeout_ms = 60000;
		graph_job(&graph, "b", "");
		rig_submit(rig, &graph);
		attempt = rig_must_take(rig);
		begun.job = attempt.job;
		begun.epoch = attempt.epoch;
		rig_step(rig, &input);
		ASSERT_EQ(0, rig_job(rig, attempt.job).started_ms);
		say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_EXIT, .started_ms = times[i], .ended_ms = times[i] });
		ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, attempt.job));
		ASSERT_EQ(0, rig_job(rig, attempt.job).started_ms);
		ASSERT_EQ(rig->now.wall_ms, rig_job(rig, attempt.job).ended_ms);
		rig_restart(rig);
		ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, attempt.job));
		rig_free(rig);
	}
	PASS();
}

/* An outcome that a worker can't report counts as a crash. */
TEST impossible_outcome_counts_as_crash(void)
{
	static const enum outcome outcomes[] = { OUTCOME_NONE, OUTCOME_LOST, OUTCOME_COUNT, OUTCOME_COUNT + 7 };

	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		struct rig_attempt attempt;
		struct rig *rig = rig_running(&attempt, 0);

		say_done(rig, attempt, (struct rec_done){ .outcome = outcomes[i], .started_ms = 5, .ended_ms = 6 });
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
		ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, rig->tables[TABLE_job].at[0].row.job.outcome);
		ASSERT_EQ(1, rig->tables[TABLE_job].at[0].row.job.crashes);
		rig_free(rig);
	}
	PASS();
}

TEST repeated_result_counts_once(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 1);
	struct rec_worker_row worker;
	struct core_totals totals;

	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, NULL));
	view_totals(rig->core, &totals);
	ASSERT_EQ_FMT((uint64_t)1, totals.stale_results, "%lu");
	ASSERT(view_worker(rig->core, 1, &rig->arena, &worker));
	ASSERT_EQ(1, worker.done);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(1, rig->tables[TABLE_job].at[0].row.job.tries);
	rig_free(rig);
	PASS();
}

static uint64_t submit_retried(struct rig *rig, uint64_t retry_max, uint64_t timeout_ms, uint64_t backoff_ms)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	job->retry_max = retry_max;
	job->timeout_ms = timeout_ms;
	job->backoff_ms = backoff_ms;
	return rig_submit(rig, &graph);
}

TEST stale_results_are_acknowledged_not_applied(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt, wrong;
	struct core_totals totals;
	struct outgoing ack;
	uint64_t other;

	other = rig_hello(rig, "other", 1);
	rig_gone(rig, other);
	rig_hello(rig, "w", 1);
	submit_retried(rig, 0, 0, 0);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);

	wrong = attempt;
	wrong.epoch++;
	rig_done(rig, wrong, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, &ack));
	ASSERT_EQ(wrong.epoch, ack.ack.epoch);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));

	wrong = attempt;
	wrong.job = 12345;
	rig_done(rig, wrong, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, NULL));

	wrong = attempt;
	wrong.conn = rig_hello(rig, "other", 1);
	rig_done(rig, wrong, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, NULL));
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));

	/*
	 * A result from a connection that isn't a worker's is refused; if it were acknowledged, its sender would drop
	 * it.
	 */
	wrong.conn = other;
	rig_done(rig, wrong, OUTCOME_EXIT, 0);
	ASSERT_EQ(0, rig_frames(rig, OP_ACK, NULL));

	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 1));
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, NULL));
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 1));
	ASSERT_EQ(0, rig->out.row_count);
	view_totals(rig->core, &totals);
	ASSERT_EQ(4, totals.stale_results);
	rig_free(rig);
	PASS();
}

/* A frame may report attempts that were lost and assigned again; the reports behind them still count. */
TEST reports_behind_stale_one_count(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_started started[2] = { 0 };
	struct rec_done done[2] = { 0 };
	struct core_input input = { .kind = INPUT_STARTED };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 2);
	rig_submit(rig, &graph);
	for (size_t i = 0; i < 2; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		started[i] = (struct rec_started){ .job = attempt.job, .epoch = attempt.epoch - (i == 0), .wall_ms = 7 };
		done[i] = (struct rec_done){ .job = attempt.job, .epoch = attempt.epoch - (i == 0), .outcome = OUTCOME_EXIT,
					     .started_ms = 7 };
	}
	input.conn = rig->conn;
	input.started.at = started;
	input.started.n = 2;
	rig_step(rig, &input);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 2));
	ASSERT_EQ(7, rig_job(rig, 2).started_ms);        /* the worker's time, not the time at which the report came */
	input = (struct core_input){ .kind = INPUT_DONE, .conn = rig->conn };
	input.done.at = done;
	input.done.n = 2;
	rig_step(rig, &input);
	ASSERT_EQ(2, rig_frames(rig, OP_ACK, NULL));
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

SUITE(result)
{
	RUN_TEST(result_with_start_time_counts_as_try);
	RUN_TEST(result_without_end_time_ends_now);
	RUN_TEST(result_from_another_worker_changes_nothing);
	RUN_TEST(impossible_outcome_of_stopped_job_is_exit_unknown);
	RUN_TEST(numbers_of_result_are_clamped);
	RUN_TEST(impossible_times_are_dropped);
	RUN_TEST(impossible_outcome_counts_as_crash);
	RUN_TEST(repeated_result_counts_once);
	RUN_TEST(stale_results_are_acknowledged_not_applied);
	RUN_TEST(reports_behind_stale_one_count);
}

static struct rec_worker_row worker_row(struct rig *rig, uint64_t number)
{
	struct rec_worker_row row = { 0 };

	CHECK(view_worker(rig->core, number, &rig->arena, &row));
	return row;
}

/* Number of jobs prefetched to a worker with one slot after eight results of 10 ms and one more result. */
static uint64_t prefetched_after(enum outcome outcome, uint64_t last_ms)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t ahead;

	rig_hello(rig, "w", 1);
	for (int i = 0; i < 8 + (last_ms > 0); i++) {
		submit_one(rig, EXEC_RETRY);
		CHECK(rig_take(rig, &attempt));
		rig_started(rig, attempt);
		say_done(rig, attempt, (struct rec_done){ .outcome = outcome, .started_ms = 5, .ended_ms = 6,
			.run_ns = (i == 8 ? last_ms : 10) * NS_PER_MS });
	}
	for (int i = 0; i < 100; i++)
		submit_one(rig, EXEC_RETRY);
	ahead = worker_row(rig, 1).prefetched;
	rig_free(rig);
	return ahead;
}

TEST recent_run_times_set_prefetch(void)
{
	ASSERT_EQ_FMT(25UL, (unsigned long)prefetched_after(OUTCOME_EXIT, 0), "%lu");
	ASSERT_EQ_FMT(25UL, (unsigned long)prefetched_after(OUTCOME_SIGNAL, 0), "%lu");
	ASSERT_EQ_FMT(0UL, (unsigned long)prefetched_after(OUTCOME_SPAWN, 0), "%lu");
	ASSERT_EQ_FMT(2UL, (unsigned long)prefetched_after(OUTCOME_EXIT, 650), "%lu");
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(result);
	RUN_TEST(recent_run_times_set_prefetch);
	GREATEST_MAIN_END();
}
