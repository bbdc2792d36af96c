/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is done again: how long it waits, what it is told, what of the attempt before is left, what follows it. */
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

#include "proto/dead.h"
#include "proto/expr.h"

static uint64_t submit_one(struct rig *rig, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	wanted.name = job->name;
	wanted.argv = job->argv;
	*job = wanted;
	return rig_submit(rig, &graph);
}

/* The facts of an attempt are its own. */
TEST an_attempt_begins_with_nothing(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row;

	rig_hello(rig, "w", 1);
	submit_one(rig, (struct rec_job_spec){ .retry_max = 1 });
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

/* Neither is a round: also what hasn't begun in it. */
TEST a_round_begins_with_nothing(void)
{
	struct rig *rig = rig_new();
	uint64_t run, conn = rig_hello(rig, "w", 1);
	struct rec_job_row row;

	run = submit_one(rig, (struct rec_job_spec){ 0 });
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

/* Attempts that were lost are tries like any other: a job can tell that it is not the first. */
TEST an_attempt_is_told_which_try_it_is(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, (struct rec_job_spec){ 0 });
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

/* While it queues again it is known that its last attempt was lost, though that never began. */
TEST one_that_queues_again_tells_that_it_was_lost(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);

	submit_one(rig, (struct rec_job_spec){ 0 });
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT_EQ(OUTCOME_LOST, rig_job(rig, 1).outcome);
	rig_free(rig);
	PASS();
}

/* What a loop waits for is asked before retries are, also of a pass that was out of time. */
TEST a_pass_that_is_what_the_loop_waits_for_is_not_retried(enum job_state until)
{
	struct rec_job_spec wanted = { .timeout_ms = 1000, .retry_max = 3, .retry_on = RETRY_ON_TIMEOUT, .loop_max = 3,
				       .loop_until = slice_str("it") };
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct buf code = { 0 };

	rig_hello(rig, "w", 1);
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << until });
	wanted.loop_code = buf_slice(&code);
	submit_one(rig, wanted);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(until == STATE_TIMED_OUT ? STATE_SUCCEEDED : STATE_DELAYED, rig_state(rig, 1));
	ASSERT_EQ(1, rig_job(rig, 1).pass);
	buf_free(&code);
	rig_free(rig);
	PASS();
}

TEST a_loop_that_cannot_be_spawned_says_so(void)
{
	struct rec_job_spec wanted = { .loop_max = 1, .loop_until = slice_str("it"), .retry_on = RETRY_ON_EXIT };
	struct rig *rig = rig_new();
	struct buf code = { 0 };

	rig_hello(rig, "w", 1);
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
	wanted.loop_code = buf_slice(&code);
	submit_one(rig, wanted);
	rig_done(rig, rig_must_take(rig), OUTCOME_SPAWN, 2);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	ASSERT_EQ(DEAD_SPAWN_FAILED, rig->tables[TABLE_dead].at[0].row.dead.reason);
	buf_free(&code);
	rig_free(rig);
	PASS();
}

/* What was lost with its worker didn't fail. */
TEST a_loss_is_told_as_one(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_one(rig, (struct rec_job_spec){ .retry_max = 4 });
	rig_started(rig, rig_must_take(rig));
	rig_hello(rig, "w", 1);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
	ASSERT(strstr(why(rig, run, "a"), "1 attempt lost") != NULL);
	ASSERT(strstr(why(rig, run, "a"), "failure") == NULL);
	rig_free(rig);
	PASS();
}

SUITE(again)
{
	RUN_TEST(a_loss_is_told_as_one);
	RUN_TEST(an_attempt_begins_with_nothing);
	RUN_TEST(a_round_begins_with_nothing);
	RUN_TEST(an_attempt_is_told_which_try_it_is);
	RUN_TEST(one_that_queues_again_tells_that_it_was_lost);
	RUN_TESTp(a_pass_that_is_what_the_loop_waits_for_is_not_retried, STATE_TIMED_OUT);
	RUN_TESTp(a_pass_that_is_what_the_loop_waits_for_is_not_retried, STATE_FAILED);
	RUN_TEST(a_loop_that_cannot_be_spawned_says_so);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(again);
	GREATEST_MAIN_END();
}
