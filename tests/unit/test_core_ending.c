/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that run in any case (always) after their run was told to end by a cancel, a deadline or in a sub-run; and for
 * how long.
 */
#include "tests/unit/core_sub.h"

#define MINUTE_MS 60000
#define SUB_TIMEOUT_MS (60 * MINUTE_MS)

/* Make a rig whose workers may be silent for long. */
static struct rig *patient_rig(void)
{
	struct rig *rig = rig_new();

	rig->config.lease_ms = rig->config.grace_ms = 600 * MINUTE_MS;
	rig_restart(rig);
	return rig;
}

static struct rec_job_spec *always(struct rec_job_spec *job)
{
	job->always = ALWAYS_RUN;
	return job;
}

/* Submit work -> clean, where clean runs in any case, and start work. */
static uint64_t begun(struct rig *rig, uint64_t timeout_ms)
{
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 4);
	graph_job(&graph, "work", "");
	always(graph_job(&graph, "clean", "work*"))->timeout_ms = timeout_ms;
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	return run;
}

static int64_t deadline_ms(struct rig *rig, uint64_t run, const char *name)
{
	int64_t at_ms = rig_job(rig, rig_named(rig, run, name)).deadline_ms;

	return at_ms ? at_ms - rig->now.wall_ms : 0;
}

/* End a stopped attempt; its worker is on the newest connection. */
static void end_stopped(struct rig *rig, uint64_t run, const char *name)
{
	struct rec_job_row row = rig_job(rig, rig_named(rig, run, name));

	rig_done(rig, (struct rig_attempt){ .job = row.job, .epoch = row.epoch, .conn = rig->conn }, OUTCOME_SIGNAL, 15);
}

/* Restart the master; the worker reconnects with its running attempt. */
static void restart_holding(struct rig *rig, uint64_t run, const char *name, uint64_t slots)
{
	struct rec_job_row row = rig_job(rig, rig_named(rig, run, name));

	rig_restart(rig);
	rig_hello_held(rig, "w1", slots, &(struct rec_held){ .job = row.job, .epoch = row.epoch, .phase = PHASE_RUNNING }, 1);
}

TEST cancel_leaves_always_job(void)
{
	struct rig *rig = patient_rig();
	uint64_t run = begun(rig, 0);

	rig_cancel(rig, run, "");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(1, rig->ok.left);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "work"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "clean"));
	restart_holding(rig, run, "work", 4);
	end_stopped(rig, run, "work");
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "work"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "clean"));
	ASSERT_EQ(10 * MINUTE_MS, deadline_ms(rig, run, "clean"));
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "clean"));
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST final_jobs_run_in_any_case(void)
{
	struct rig *rig = patient_rig();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "work", "");
	graph_job(&graph, "other", "work");
	graph_job(&graph, "last", "work* other*")->final = true;
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "");
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(1, rig->ok.left);
	rig_hello(rig, "w1", 4);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "last"));
	rig_run_all(rig);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST always_job_ends_by_second_cancel_scope_or_name(void)
{
	for (int way = 0; way < 3; way++) {
		struct rig *rig = patient_rig();
		uint64_t run = begun(rig, 0);

		rig_cancel_scope(rig, run, "", way == 1 ? CANCEL_ALL : CANCEL_FIRST);
		ASSERT_EQ(way == 1 ? 0 : 1, rig->ok.left);
		if (way != 1)
			rig_cancel(rig, run, way == 0 ? "" : "clean");
		ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "clean"));
		end_stopped(rig, run, "work");
		ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
		rig_free(rig);
	}
	PASS();
}

TEST unknown_scope_is_refused(void)
{
	struct rig *rig = patient_rig();
	uint64_t run = begun(rig, 0);

	rig_cancel_scope(rig, run, "", CANCEL_ALL + 1);
	ASSERT_EQ(ERR_INVALID, rig->error.code);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "work"));
	rig_free(rig);
	PASS();
}

TEST time_of_always_job_begins_when_it_may_begin(void)
{
	struct rig *rig = patient_rig();
	uint64_t run = begun(rig, 0);

	rig_cancel(rig, run, "");
	rig_pass(rig, 20 * MINUTE_MS);
	restart_holding(rig, run, "work", 1);
	end_stopped(rig, run, "work");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "clean"));
	ASSERT_EQ(10 * MINUTE_MS, deadline_ms(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

TEST time_of_always_job_covers_queue_and_restarts(void)
{
	struct rig *rig = patient_rig();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "work", "");
	always(graph_job(&graph, "clean", "work*"));
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "");
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "clean"));
	rig_pass(rig, 5 * MINUTE_MS);
	rig_restart(rig);
	ASSERT_EQ(5 * MINUTE_MS, deadline_ms(rig, run, "clean"));
	rig_pass(rig, 5 * MINUTE_MS - 1);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "clean"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

TEST time_of_always_job_is_its_longer_timeout(void)
{
	for (int longer = 0; longer < 2; longer++) {
		struct rig *rig = patient_rig();
		uint64_t run = begun(rig, longer ? 30 * MINUTE_MS : MINUTE_MS);

		rig_cancel(rig, run, "");
		end_stopped(rig, run, "work");
		ASSERT_EQ((longer ? 30 : 10) * MINUTE_MS, deadline_ms(rig, run, "clean"));
		rig_free(rig);
	}
	PASS();
}

TEST running_always_job_has_its_time_from_cancel_on(void)
{
	struct rig *rig = patient_rig();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 4);
	always(graph_job(&graph, "clean", ""));
	graph_job(&graph, "after", "clean");
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_wait(rig, 60 * MINUTE_MS);
	rig_cancel(rig, run, "");
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "after"));
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "clean"));
	rig_pass(rig, 10 * MINUTE_MS - 1);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "clean"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "clean"));
	end_stopped(rig, run, "clean");
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

TEST cancel_releases_held_always_job(void)
{
	struct rig *rig = patient_rig();
	uint64_t run = begun(rig, 0);

	rig_act(rig, ACT_HOLD, run, "", 0);
	rig_cancel(rig, run, "");
	end_stopped(rig, run, "work");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

TEST retry_gives_a_run_its_time_back(void)
{
	struct rig *rig = patient_rig();
	uint64_t run = begun(rig, 0);

	rig_cancel(rig, run, "");
	end_stopped(rig, run, "work");
	rig_run_all(rig);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "clean"));
	ASSERT_EQ(0, deadline_ms(rig, run, "clean"));
	rig_cancel(rig, run, "");
	ASSERT_EQ(10 * MINUTE_MS, deadline_ms(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

TEST deadline_of_run_begins_time_of_always_job(void)
{
	struct rig *rig = patient_rig();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w1", 1);
	graph_job(&graph, "work", "")->deadline_ms = MINUTE_MS;
	job = graph_job(&graph, "clean", "work*");
	job->always = ALWAYS_PAST_DEADLINE;
	job->deadline_ms = MINUTE_MS;
	job = always(graph_job(&graph, "strict", "work*"));
	job->deadline_ms = MINUTE_MS;
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_pass(rig, MINUTE_MS);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "work"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "clean"));
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "strict"));
	restart_holding(rig, run, "work", 1);
	rig_pass(rig, MINUTE_MS);
	end_stopped(rig, run, "work");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "clean"));
	ASSERT_EQ(10 * MINUTE_MS, deadline_ms(rig, run, "clean"));
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

TEST deadline_of_run_keeps_always_job_running(void)
{
	struct rig *rig = patient_rig();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w1", 1);
	job = graph_job(&graph, "clean", "");
	job->always = ALWAYS_PAST_DEADLINE;
	job->deadline_ms = MINUTE_MS;
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	ASSERT_EQ(0, deadline_ms(rig, run, "clean"));
	rig_pass(rig, MINUTE_MS);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "clean"));
	ASSERT_EQ(10 * MINUTE_MS, deadline_ms(rig, run, "clean"));
	rig_pass(rig, 10 * MINUTE_MS);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

/* Submit sub -> last. sub is a sub-run of x -> tidy, where tidy runs in any case; last is a final job. */
static uint64_t sub_begun(struct rig *rig, bool sub_always)
{
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *sub;
	uint64_t run;

	rig_hello(rig, "w1", 4);
	graph_job(&inner, "x", "");
	always(graph_job(&inner, "tidy", "x*"));
	sub = sub_job(&graph, "sub", "", &inner);
	sub->always = sub_always ? ALWAYS_RUN : ALWAYS_NO;
	sub->timeout_ms = sub_always ? 0 : SUB_TIMEOUT_MS;
	graph_job(&graph, "last", "sub*")->final = true;
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	return run;
}

TEST cancel_leaves_always_job_of_sub_run(void)
{
	for (int named_it = 0; named_it < 2; named_it++) {
		struct rig *rig = patient_rig();
		uint64_t run = sub_begun(rig, false), child = child_of(rig, run, "sub");

		rig_cancel(rig, run, named_it ? "sub" : "");
		ASSERT_EQ(STATE_STOPPING, named(rig, run, "sub"));
		ASSERT_EQ(STATE_STOPPING, named(rig, child, "x"));
		end_stopped(rig, child, "x");
		ASSERT_EQ(STATE_ASSIGNED, named(rig, child, "tidy"));
		ASSERT_EQ(10 * MINUTE_MS, deadline_ms(rig, child, "tidy"));
		rig_run_one(rig, 0);
		ASSERT_EQ(STATE_CANCELLED, named(rig, run, "sub"));
		ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "last"));
		rig_run_all(rig);
		ASSERT_EQ(STATE_SUCCEEDED, named(rig, run, "last"));
		rig_free(rig);
	}
	PASS();
}

TEST second_cancel_ends_always_job_of_sub_run(void)
{
	for (int named_it = 0; named_it < 2; named_it++) {
		struct rig *rig = patient_rig();
		uint64_t run = sub_begun(rig, false), child = child_of(rig, run, "sub");

		rig_cancel(rig, run, named_it ? "sub" : "");
		end_stopped(rig, child, "x");
		rig_cancel(rig, run, named_it ? "sub" : "");
		ASSERT_EQ(STATE_STOPPING, named(rig, child, "tidy"));
		end_stopped(rig, child, "tidy");
		ASSERT_EQ(STATE_CANCELLED, named(rig, run, "sub"));
		ASSERT_EQ(named_it ? STATE_ASSIGNED : STATE_CANCELLED, named(rig, run, "last"));
		rig_free(rig);
	}
	PASS();
}

TEST one_cancel_ends_a_sub_run_that_its_time_out_stopped(void)
{
	for (int named_it = 0; named_it < 2; named_it++) {
		struct rig *rig = patient_rig();
		uint64_t run = sub_begun(rig, false), child = child_of(rig, run, "sub");

		rig_pass(rig, SUB_TIMEOUT_MS);
		ASSERT_EQ(STATE_STOPPING, named(rig, run, "sub"));
		end_stopped(rig, child, "x");
		ASSERT_EQ(STATE_ASSIGNED, named(rig, child, "tidy"));
		if (named_it)
			rig_cancel(rig, run, "sub");
		else
			rig_cancel(rig, child, "");
		ASSERT_EQ(STATE_STOPPING, named(rig, child, "tidy"));
		rig_free(rig);
	}
	PASS();
}

TEST sub_run_that_runs_in_any_case_ends_whole_with_its_time(void)
{
	struct rig *rig = patient_rig();
	uint64_t run = sub_begun(rig, true), child = child_of(rig, run, "sub");

	rig_cancel(rig, run, "");
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "sub"));
	ASSERT_EQ(STATE_RUNNING, named(rig, child, "x"));
	rig_pass(rig, 10 * MINUTE_MS);
	ASSERT_EQ(STATE_STOPPING, named(rig, run, "sub"));
	ASSERT_EQ(STATE_CANCELLED, named(rig, child, "tidy"));
	end_stopped(rig, child, "x");
	ASSERT_EQ(STATE_TIMED_OUT, named(rig, run, "sub"));
	ASSERT_EQ(STATE_ASSIGNED, named(rig, run, "last"));
	rig_free(rig);
	PASS();
}

TEST unknown_always_job_has_its_time_when_it_returns(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_held held = { .phase = PHASE_RUNNING };
	struct rig_attempt attempt;
	uint64_t run, conn = rig_hello(rig, "w1", 4);

	always(graph_job(&graph, "clean", ""))->mode = EXEC_ONCE;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	held.job = attempt.job;
	held.epoch = attempt.epoch;
	rig_started(rig, attempt);
	rig_cancel(rig, run, "");
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS + LIMIT_LEASE_MS);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "clean"));
	rig_pass(rig, 20 * MINUTE_MS);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "clean"));
	rig_hello_held(rig, "w1", 4, &held, 1);
	rig_pass(rig, 1);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "clean"));
	rig_free(rig);
	PASS();
}

SUITE(ending)
{
	RUN_TEST(cancel_leaves_always_job);
	RUN_TEST(final_jobs_run_in_any_case);
	RUN_TEST(always_job_ends_by_second_cancel_scope_or_name);
	RUN_TEST(unknown_scope_is_refused);
	RUN_TEST(time_of_always_job_begins_when_it_may_begin);
	RUN_TEST(time_of_always_job_covers_queue_and_restarts);
	RUN_TEST(time_of_always_job_is_its_longer_timeout);
	RUN_TEST(running_always_job_has_its_time_from_cancel_on);
	RUN_TEST(cancel_releases_held_always_job);
	RUN_TEST(retry_gives_a_run_its_time_back);
	RUN_TEST(deadline_of_run_begins_time_of_always_job);
	RUN_TEST(deadline_of_run_keeps_always_job_running);
	RUN_TEST(cancel_leaves_always_job_of_sub_run);
	RUN_TEST(second_cancel_ends_always_job_of_sub_run);
	RUN_TEST(one_cancel_ends_a_sub_run_that_its_time_out_stopped);
	RUN_TEST(sub_run_that_runs_in_any_case_ends_whole_with_its_time);
	RUN_TEST(unknown_always_job_has_its_time_when_it_returns);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ending);
	GREATEST_MAIN_END();
}
