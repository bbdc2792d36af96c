/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people set and take back, what a new round keeps and forgets, and workers that come back. */
#include "proto/limits.h"
#include "tests/unit/core_rig.h"

static uint64_t lock_act(struct rig *rig, enum set_verb verb, const char *owner)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = verb, .name = slice_str("db"), .text = slice_str(owner),
				       .flag = true });
	return rig->ok.number;
}

TEST each_drops_its_own_of_a_lock_that_many_share(void)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[8];
	uint64_t fences[] = { lock_act(rig, SET_TAKE, "a"), lock_act(rig, SET_TAKE, "b"), lock_act(rig, SET_TAKE, "c") };
	uint64_t cursor = 0;
	size_t count = 0;

	lock_act(rig, SET_DROP, "b");
	while ((cursor = view_lock(rig->core, cursor, &rig->arena, &rows[count])))
		count++;
	ASSERT_EQ(2, count);
	for (size_t i = 0; i < count; i++)
		ASSERT(rows[i].fence == fences[0] || rows[i].fence == fences[2]);
	rig_free(rig);
	PASS();
}

static void set_group(struct rig *rig, enum set_verb verb, uint64_t number)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_GROUP, .verb = verb, .name = slice_str("g"), .number = number });
}

static size_t taken(struct rig *rig)
{
	struct rig_attempt attempt;
	size_t count = 0;

	while (rig_take(rig, &attempt))
		count++;
	return count;
}

TEST a_wider_group_lets_runs_in(void)
{
	for (int removed = 0; removed < 2; removed++) {
		struct rig *rig = rig_new();

		set_group(rig, SET_PUT, 1);
		rig_hello(rig, "w", 8);
		for (size_t i = 0; i < 3; i++) {
			struct graph graph = { 0 };

			rig->concurrency = "g=3";
			graph_job(&graph, "a", "");
			rig_submit(rig, &graph);
		}
		ASSERT_EQ(1, taken(rig));
		set_group(rig, removed ? SET_REMOVE : SET_PUT, removed ? 0 : 3);
		ASSERT_EQ(2, taken(rig));
		rig_free(rig);
	}
	PASS();
}

TEST a_tenant_that_is_removed_is_as_any_other(void)
{
	struct rig *rig = rig_new();
	struct rec_tenant_row row = { 0 };
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .weight = 7,
				       .number = 3, .most = 9 });
	ASSERT(view_tenant(rig->core, 0, &row) > 0 && row.weight == 7);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("ana") });
	row = (struct rec_tenant_row){ 0 };
	ASSERT(view_tenant(rig->core, 0, &row) > 0);
	ASSERT_EQ(1, row.weight);
	rig_free(rig);
	PASS();
}

/* --- rounds --- */

TEST what_failed_is_what_was_denied_and_cancelled_too(void)
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
	ASSERT_EQ(1, rig->ok.count);             /* the letter, and nothing that was cancelled */
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "gone"));
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 1);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "no"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "good"));
	rig_free(rig);
	PASS();
}

TEST a_run_that_is_retried_is_cancelled_no_more(void)
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

TEST a_retry_lets_nothing_go_that_a_person_holds(void)
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

/* --- fan-outs --- */

TEST who_is_stopped_for_another_says_for_whom(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt first, second;

	for (size_t i = 0; i < 2; i++) {
		struct rec_job_spec *job = graph_job(&graph, i ? "b" : "a", "");

		job->group = 1;
		job->group_fail_fast = true;
	}
	rig_hello(rig, "w", 2);
	rig_submit(rig, &graph);
	first = rig_must_take(rig);
	second = rig_must_take(rig);
	rig_started(rig, second);
	rig_done(rig, first, OUTCOME_EXIT, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, second.job));
	rig_done(rig, second, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, second.job));
	ASSERT_EQ(first.job + 1, rig_job(rig, second.job).cause);
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

TEST the_first_failure_leaves_what_nobody_knows(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (size_t i = 0; i < 2; i++) {
		struct rec_job_spec *job = graph_job(&graph, i ? "b" : "a", "");

		job->mode = EXEC_ONCE;
		job->group = 1;
		job->group_fail_fast = true;
	}
	lose(rig, &graph, &run);
	rig_hello(rig, "other", 1);
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 1);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* --- workers --- */

TEST a_person_s_retry_is_another_try(void)
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

TEST what_never_ran_was_no_try(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	struct rec_done done = { .outcome = OUTCOME_STOPPED };
	struct core_input input = { .kind = INPUT_DONE, .done = { &done, 1 } };
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

TEST a_connection_that_was_closed_keeps_nothing_alive(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	rig_heartbeat(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST a_drained_worker_that_comes_back_is_asked_again(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;

	graph_job(&graph, "a", "");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_gone(rig, rig->conn);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_DRAIN, .name = slice_str("w") });
	rig_pass(rig, 10);
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_QUEUED }, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

SUITE(planted_sets)
{
	RUN_TEST(each_drops_its_own_of_a_lock_that_many_share);
	RUN_TEST(a_wider_group_lets_runs_in);
	RUN_TEST(a_tenant_that_is_removed_is_as_any_other);
	RUN_TEST(what_failed_is_what_was_denied_and_cancelled_too);
	RUN_TEST(a_run_that_is_retried_is_cancelled_no_more);
	RUN_TEST(a_retry_lets_nothing_go_that_a_person_holds);
	RUN_TEST(who_is_stopped_for_another_says_for_whom);
	RUN_TEST(the_first_failure_leaves_what_nobody_knows);
	RUN_TEST(a_person_s_retry_is_another_try);
	RUN_TEST(what_never_ran_was_no_try);
	RUN_TEST(a_connection_that_was_closed_keeps_nothing_alive);
	RUN_TEST(a_drained_worker_that_comes_back_is_asked_again);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_sets);
	GREATEST_MAIN_END();
}
