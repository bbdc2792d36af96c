/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What passes, tries and rounds keep of those before them, and what a refusal leaves behind. */
#include "proto/expr.h"
#include "tests/unit/core_grow.h"

static struct slice code_of(struct graph *graph, struct expr_step step)
{
	struct buf buf = { 0 };
	struct slice code;

	expr_put(&buf, step);
	code = arena_copy(&graph->arena, buf_slice(&buf));
	buf_free(&buf);
	return code;
}

/* One that is added and needs the first of those named, or its failure. */
static void asks(struct graph *graph, const char *name, enum job_state state)
{
	struct rec_job_spec *job = added(graph, name, 0, TRIGGER_EXPR);

	job->needs_code = code_of(graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << state });
}

TEST conditions_of_what_was_refused_decide_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	asks(&graph, "x", STATE_FAILED);
	asks(&graph, "y", STATE_FAILED);
	graph_job(&graph, "a", "");
	ASSERT_EQ(0, grow(rig, run, &graph, "a"));
	ASSERT_EQ(ERR_DUPLICATE, rig->error.code);
	asks(&graph, "x", STATE_SUCCEEDED);
	ASSERT(grow(rig, run, &graph, "a") != 0);
	ASSERT_EQ(3, rig_run_all(rig));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "x"));
	rig_free(rig);
	PASS();
}

/* Who let a loop begin has let all its passes, whether the next follows at once or after a while. */
TEST a_loop_is_approved_once(void)
{
	for (uint64_t delay_ms = 0; delay_ms <= 1000; delay_ms += 1000) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_job(&graph, "poll", "");
		uint64_t run;

		job->gate_count = 1;
		job->loop_max = 3;
		job->loop_delay_ms = delay_ms;
		job->loop_code = code_of(&graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "poll"));
		rig_act(rig, ACT_APPROVE, run, "poll", 0);
		for (int pass = 0; pass < 2; pass++) {
			ASSERT_EQ(1, rig_run_one(rig, 3));
			rig_restart(rig);
			rig_hello(rig, "w", 1);
			rig_pass(rig, (int64_t)delay_ms + 1);
		}
		ASSERT_EQ(1, rig_run_one(rig, 0));
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "poll"));
		rig_free(rig);
	}
	PASS();
}

/* What is asked to end as it is out of time, and then isn't wanted at all, is cancelled. */
TEST who_cancels_what_its_deadline_ends_has_it_cancelled(void)
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

TEST a_letter_says_where_in_its_run_the_job_is(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	const struct row_dead *letter;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_run_one(rig, 3);
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	letter = &rig->tables[TABLE_dead].at[0].row.dead;
	row = rig_job(rig, 2);
	ASSERT_EQ(1, letter->place);
	ASSERT_EQ(2, letter->job);
	ASSERT(row.epoch > 0 && letter->epoch == (int64_t)row.epoch);
	ASSERT_EQ(OUTCOME_EXIT, letter->outcome);
	rig_free(rig);
	PASS();
}

/* Another gate before it, which isn't asked about yet, is none to choose from. */
TEST a_run_alone_means_the_gate_that_is_asked(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	graph_job(&graph, "a", "");
	job = graph_job(&graph, "later", "a");
	job->gate_count = 1;
	job = graph_job(&graph, "now", "");
	job->gate_count = 1;
	run = rig_submit(rig, &graph);
	rig->shown = arena_copy(&rig->arena, rig_digest(rig, run, "now"));
	rig_act(rig, ACT_APPROVE, run, "", 0);
	ASSERT_EQ(0, rig->errors);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "now"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "later"));
	rig_free(rig);
	PASS();
}

/* Also while the last of what was cancelled is still being stopped. */
TEST what_is_run_again_of_a_cancelled_run_may_grow(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_cancel(rig, run, "");
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a"));
	graph_job(&graph, "c", "");
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "was cancelled"));
	rig_act(rig, ACT_RETRY, run, "b", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	graph_job(&graph, "c", "");
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_EQ(0, rig_run_row(rig, (int64_t)run)->run.cancelled);
	rig_free(rig);
	PASS();
}

/* Late in one round, and not in the next: somebody set the clock right. */
TEST a_round_before_its_date_ends_by_it(void)
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

/* Whom it asks was told what comes before, and its delay counts from the last of that: more would come too late. */
TEST what_asks_people_or_is_delayed_at_the_end_has_begun(void)
{
	for (int delayed = 0; delayed < 2; delayed++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job;
		uint64_t run;

		graph_job(&graph, "a", "");
		graph_job(&graph, "b", "");
		job = graph_job(&graph, "sign", "a");
		job->gate_count = 1;
		job->delay_ms = delayed ? 1000 : 0;
		job->final = 1;
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		ASSERT_STR_EQ(delayed ? "delayed" : "approval", rig_state_named(rig, run, "sign"));
		graph_job(&graph, "c", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT(rig_error_says(rig, ERR_TERMINAL, delayed ? "its final job sign is delayed" : "its final job sign is approval"));
		rig_free(rig);
	}
	PASS();
}

/* Who approved one round of a command approved that, be it delayed or not. */
TEST a_command_is_asked_about_in_each_round(void)
{
	for (uint64_t delay_ms = 0; delay_ms <= 1000; delay_ms += 1000) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_job(&graph, "deploy", "");
		uint64_t run;

		job->gate_count = 1;
		job->delay_ms = delay_ms;
		rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		for (int round = 0; round < 2; round++) {
			rig_pass(rig, (int64_t)delay_ms + 1);
			ASSERT_STR_EQ("approval", rig_state_named(rig, run, "deploy"));
			ASSERT_EQ(0, rig_job(rig, 1).gate_have);
			rig_act(rig, ACT_APPROVE, run, "deploy", 0);
			ASSERT_EQ(1, rig_run_one(rig, 3));
			rig_act(rig, ACT_RETRY, run, "deploy", RETRY_FROM);
		}
		rig_free(rig);
	}
	PASS();
}

/* However it came to be out of time: in the queue, by its deadline, as it ran too long. */
TEST every_time_out_may_count_as_a_good_end(void)
{
	for (int kind = 0; kind < 3; kind++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_job(&graph, "a", "");
		uint64_t run;

		*(kind == 0 ? &job->dispatch_timeout_ms : kind == 1 ? &job->deadline_ms : &job->timeout_ms) = 1000;
		job->continue_on = CONTINUE_TIMED_OUT;
		graph_job(&graph, "b", "a");
		if (kind == 2)
			rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		if (kind == 2) {
			struct rig_attempt attempt = rig_must_take(rig);

			rig_started(rig, attempt);
			rig_pass(rig, 1001);
			rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
		} else {
			rig_pass(rig, 1001);
			rig_hello(rig, "w", 1);
		}
		ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
		ASSERT_EQ(1, rig_run_all(rig));
		ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
		rig_free(rig);
	}
	PASS();
}

TEST a_round_has_the_priority_of_the_one_before(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->priority = 81;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_PRIORITY, run, "b", 70);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 3);
	rig_run_one(rig, 3);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(81, rig_job(rig, 1).priority);
	ASSERT_EQ(71, rig_job(rig, 2).priority);
	rig_free(rig);
	PASS();
}

/* It has begun on the old result, be it that it is only delayed by now: between two tries, or before the first. */
TEST what_is_delayed_waits_for_the_new_result(void)
{
	for (int tried = 0; tried < 2; tried++) {
		for (uint64_t scope = RETRY_FROM; scope <= RETRY_ONLY; scope++) {
			struct rig *rig = rig_new();
			struct graph graph = { 0 };
			struct rec_job_spec *job;
			uint64_t run;

			graph_job(&graph, "a", "");
			job = graph_job(&graph, "b", "a");
			job->delay_ms = tried ? 0 : 60000;
			job->retry_max = 1;
			job->backoff_ms = 60000;
			rig_hello(rig, "w", 1);
			run = rig_submit(rig, &graph);
			rig_run_one(rig, 0);
			if (tried)
				rig_run_one(rig, 3);
			ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "b"));
			rig_act(rig, ACT_RETRY, run, "a", scope);
			ASSERT_EQ(2, rig->ok.count);
			ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
			ASSERT_EQ(1, rig_job(rig, 2).round);
			rig_free(rig);
		}
	}
	PASS();
}

TEST a_decision_says_whose_it_is_and_since_when(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	const struct row_decision *decision;
	struct rec_job_spec *job = graph_job(&graph, "ok", "");
	uint64_t run;

	job->gate_count = 1;
	job->argv.n = 0;
	run = rig_submit(rig, &graph);
	rig_pass(rig, 5000);
	rig_act_as(rig, "ben", 2, ACT_REJECT, run, "ok", 0);
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	decision = &rig->tables[TABLE_decision].at[0].row.decision;
	ASSERT(slice_eq(decision->name, slice_str("ben")) && decision->person == 2);
	ASSERT_EQ(rig->now.wall_ms, decision->wall_ms);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(0, rig_job(rig, 1).settled_by);
	rig_free(rig);
	PASS();
}

SUITE(planted_again)
{
	RUN_TEST(conditions_of_what_was_refused_decide_nothing);
	RUN_TEST(a_loop_is_approved_once);
	RUN_TEST(who_cancels_what_its_deadline_ends_has_it_cancelled);
	RUN_TEST(a_letter_says_where_in_its_run_the_job_is);
	RUN_TEST(a_run_alone_means_the_gate_that_is_asked);
	RUN_TEST(what_is_run_again_of_a_cancelled_run_may_grow);
	RUN_TEST(a_round_before_its_date_ends_by_it);
	RUN_TEST(what_asks_people_or_is_delayed_at_the_end_has_begun);
	RUN_TEST(a_command_is_asked_about_in_each_round);
	RUN_TEST(every_time_out_may_count_as_a_good_end);
	RUN_TEST(a_round_has_the_priority_of_the_one_before);
	RUN_TEST(what_is_delayed_waits_for_the_new_result);
	RUN_TEST(a_decision_says_whose_it_is_and_since_when);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_again);
	GREATEST_MAIN_END();
}
