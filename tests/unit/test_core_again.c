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

/* A worker that was told to end takes its jobs along: that is no failure of theirs, and the wait is the shortest. */
TEST a_worker_that_ends_makes_no_wait_longer(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_one(rig, (struct rec_job_spec){ .retry_max = 5, .backoff_ms = 1000, .backoff_exact = true });
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

/* A failure that counts as a good end does so for the job whose sub-run it is in, and in the row of that run. */
TEST what_is_forgiven_below_is_a_good_end_above(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w", 1);
	graph_job(&inner, "x", "")->continue_on = CONTINUE_FAILED;
	sub_job(&graph, "build", "", &inner);
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_FAILED, named(rig, child, "x"));
	ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "build"));
	ASSERT_EQ(RUN_SUCCEEDED, (enum run_state)rig_run_row(rig, (int64_t)child)->run.state);
	ASSERT_EQ(1, rig_run_row(rig, (int64_t)child)->run.forgiven);
	rig_free(rig);
	PASS();
}

/* From the lowest to the highest, also those that it began with. */
TEST jobs_of_a_sub_run_have_the_priority_of_theirs(void)
{
	static const uint64_t priorities[] = { 0, 1, 50, 100 };

	for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run, child;

		sub_plain(&graph, "build", "")->priority = priorities[i] + 1;
		run = rig_submit(rig, &graph);
		child = child_of(rig, run, "build");
		ASSERT_EQ(priorities[i] + 1, rig_job(rig, rig_named(rig, child, "y")).priority);
		rig_act(rig, ACT_PRIORITY, run, "build", 100 - priorities[i]);
		ASSERT_EQ(101 - priorities[i], rig_job(rig, rig_named(rig, child, "y")).priority);
		rig_free(rig);
	}
	PASS();
}

/* What needs a cancelled job isn't skipped for it: who cancels a run cancels each of its jobs. */
TEST a_cancelled_run_skips_nothing(void)
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

/* A run whose letter was discarded is in memory until that is durable: its rows in the store would be older. */
TEST a_discarded_letter_keeps_its_run_for_a_turn(void)
{
	struct rig *rig = rig_new();
	struct rec_run_row row;
	uint64_t run;

	rig_hello(rig, "w", 1);
	run = submit_one(rig, (struct rec_job_spec){ 0 });
	rig_run_one(rig, 1);
	rig_act(rig, ACT_DISCARD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	core_sweep(rig->core, rig->out.turn - 1);
	ASSERT(view_run(rig->core, run, &rig->arena, &row) && row.dead == 0);
	core_sweep(rig->core, rig->out.turn);
	ASSERT_FALSE(view_run(rig->core, run, &rig->arena, &row));
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

/* Who holds a run back is told of how many jobs: what has ended isn't. */
TEST what_has_ended_is_not_counted_as_held_back(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	rig_free(rig);
	PASS();
}

SUITE(again)
{
	RUN_TEST(a_loss_is_told_as_one);
	RUN_TEST(what_has_ended_is_not_counted_as_held_back);
	RUN_TEST(an_attempt_begins_with_nothing);
	RUN_TEST(a_round_begins_with_nothing);
	RUN_TEST(a_worker_that_ends_makes_no_wait_longer);
	RUN_TEST(an_attempt_is_told_which_try_it_is);
	RUN_TEST(one_that_queues_again_tells_that_it_was_lost);
	RUN_TESTp(a_pass_that_is_what_the_loop_waits_for_is_not_retried, STATE_TIMED_OUT);
	RUN_TESTp(a_pass_that_is_what_the_loop_waits_for_is_not_retried, STATE_FAILED);
	RUN_TEST(a_loop_that_cannot_be_spawned_says_so);
	RUN_TEST(what_is_forgiven_below_is_a_good_end_above);
	RUN_TEST(jobs_of_a_sub_run_have_the_priority_of_theirs);
	RUN_TEST(a_cancelled_run_skips_nothing);
	RUN_TEST(a_discarded_letter_keeps_its_run_for_a_turn);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(again);
	GREATEST_MAIN_END();
}
