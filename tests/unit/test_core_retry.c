/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Retries: which jobs a retry selects, whether it gives them a new round or another try, and how holds and crashes
 * matter.
 */
#include "proto/limits.h"
#include "tests/unit/core_rig.h"

TEST retry_of_failed_jobs_takes_denied_and_cancelled_ones(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "bad", "");
	graph_job(&graph, "no", "")->gate_count = 1;
	graph_job(&graph, "gone", "")->delay_ms = 5000;
	graph_job(&graph, "good", "");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_act(rig, ACT_REJECT, run, "no", 0);
	rig_cancel(rig, run, "gone");
	for (size_t i = 0; i < 2; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		rig_done(rig, attempt, OUTCOME_EXIT, attempt.job == 1);
	}
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_act(rig, ACT_REQUEUE, run, "", 0);
	ASSERT_EQ(1, rig->ok.count); /* the job with the dead letter is requeued, but none of the cancelled jobs */
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "gone"));
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 1);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "no"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "good"));
	rig_free(rig);
	PASS();
}

TEST retried_run_is_cancelled_no_more(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_run_row row = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "");
	rig_act(rig, ACT_RETRY, run, "", RETRY_ALL);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(0, rig_run_row(rig, (int64_t)run)->run.cancelled);
	ASSERT(view_run(rig->core, run, &rig->arena, &row));
	rig_free(rig);
	PASS();
}

static size_t taken(struct rig *rig)
{
	struct rig_attempt attempt;
	size_t count = 0;

	while (rig_take(rig, &attempt))
		count++;
	return count;
}

static const struct row_attempt *kept(const struct rig *rig, size_t at)
{
	return &rig->tables[TABLE_attempt].at[at].row.attempt;
}

/* A job's row describes its last try, so each earlier try gets a row of its own. */
TEST retry_and_new_round_keep_what_became_of_the_try(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	struct rec_job_spec *job;
	uint64_t run;

	job = graph_job(&graph, "a", "");
	job->retry_max = 1;
	job->backoff_ms = 1;
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 2);
	run = rig_submit(rig, &graph);
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 5);
	ASSERT_EQ(1, rig->tables[TABLE_attempt].count);
	ASSERT_EQ(5, kept(rig, 0)->code);
	ASSERT_EQ(1, kept(rig, 0)->try);
	ASSERT_EQ(1, kept(rig, 0)->worker);
	ASSERT_EQ((int64_t)run, kept(rig, 0)->run);
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig->tables[TABLE_attempt].count);
	rig_pass(rig, 10);
	attempt = rig_must_take(rig);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 9);
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	ASSERT_EQ(1, rig->tables[TABLE_attempt].count);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(2, rig->tables[TABLE_attempt].count);
	ASSERT_EQ(9, kept(rig, 1)->code);
	ASSERT_EQ(OUTCOME_SIGNAL, kept(rig, 1)->outcome);
	ASSERT_EQ(2, kept(rig, 1)->try);
	ASSERT_EQ(0, kept(rig, 1)->round);
	rig_free(rig);
	PASS();
}

/* An attempt that a worker gave back without starting it isn't kept as a try. */
TEST try_that_never_started_is_not_kept(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->retry_max = 1;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
	ASSERT_EQ(0, rig->tables[TABLE_attempt].count);
	rig_free(rig);
	PASS();
}

/* Only the newest tries are kept, so that an endless loop doesn't fill the store. */
TEST newest_tries_alone_are_kept(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	job->retry_max = 1000;
	job->backoff_ms = job->backoff_max_ms = 1;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	for (int i = 0; i < LIMIT_TRIES_KEPT + 20; i++) {
		rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 1);
		rig_pass(rig, 10);
	}
	ASSERT_EQ(LIMIT_TRIES_KEPT, rig->tables[TABLE_attempt].count);
	rig_free(rig);
	PASS();
}

TEST retry_keeps_a_held_job_held(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "")->retry_max = 1;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 60000);
	rig_hello(rig, "other", 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT(rig_job(rig, 1).held);
	ASSERT_EQ(0, taken(rig));
	rig_free(rig);
	PASS();
}

static struct rig_attempt lose(struct rig *rig, struct graph *graph, uint64_t *ret_run)
{
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	*ret_run = rig_submit(rig, graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	CHECK(rig_state(rig, attempt.job) == STATE_UNKNOWN);
	return attempt;
}

TEST settled_retry_is_another_try(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->mode = EXEC_ONCE;
	lose(rig, &graph, &run);
	rig_act(rig, ACT_SETTLE, run, "a", SETTLE_RETRY);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(2, rig_must_take(rig).try_no);
	rig_free(rig);
	PASS();
}

TEST stopped_attempt_that_never_ran_is_no_try(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	struct rec_done done = { .outcome = OUTCOME_STOPPED };
	struct core_input input = { .kind = INPUT_DONE, .done = { .at = &done, .n = 1 } };
	uint64_t run;

	graph_job(&graph, "a", "")->mode = EXEC_ONCE;
	attempt = lose(rig, &graph, &run);
	input.conn = rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_ENDED }, 1);
	done.job = attempt.job;
	done.epoch = attempt.epoch;
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_must_take(rig).try_no);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(retry_of_failed_jobs_takes_denied_and_cancelled_ones);
	RUN_TEST(retried_run_is_cancelled_no_more);
	RUN_TEST(retry_keeps_a_held_job_held);
	RUN_TEST(retry_and_new_round_keep_what_became_of_the_try);
	RUN_TEST(try_that_never_started_is_not_kept);
	RUN_TEST(newest_tries_alone_are_kept);
	RUN_TEST(settled_retry_is_another_try);
	RUN_TEST(stopped_attempt_that_never_ran_is_no_try);
	GREATEST_MAIN_END();
}
