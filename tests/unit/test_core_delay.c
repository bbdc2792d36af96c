/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delays, dates and dispatch time-outs: when a job is due, and in which order jobs start. */
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

/* A job with both a date and a delay is due at the later of the two. */
TEST job_with_delay_and_date_is_due_at_later(uint64_t delay_ms, int64_t date_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rec_job_row row;

	job->delay_ms = delay_ms;
	job->not_before_ms = rig->now.wall_ms + date_ms;
	row = rig_job(rig, rig_named(rig, rig_submit(rig, &graph), "a"));
	ASSERT_EQ(rig->now.wall_ms + 60000, row.due_ms);
	rig_free(rig);
	PASS();
}

/*
 * For a job that is both delayed and held, explain names the hold, because the job won't start when the delay is over.
 */
TEST explain_says_held_of_delayed_and_held_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->delay_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT(view_explain(rig->core, rig_named(rig, run, "a"), &rig->arena, &row));
	ASSERT_EQ(REASON_HELD, (int)row.why_code);
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *graph_gate(struct graph *graph, const char *name, const char *needs, uint64_t count,
				       bool command)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->gate_message = slice_str("Ship it?");
	if (!command)
		job->argv.n = 0;
	return job;
}

TEST jobs_wait_for_delays_and_dates(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a")->delay_ms = 3000;
	graph_job(&graph, "c", "")->not_before_ms = rig->now.wall_ms + 10000;
	graph_gate(&graph, "d", "", 1, true)->delay_ms = 100;
	rig_hello(rig, "w", 4);
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig->now.wall_ms + 10000, rig_job(rig, 3).due_ms);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "b"));
	rig_pass(rig, 100);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "d"));
	rig_pass(rig, 2899);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "b"));
	rig_restart(rig);
	rig_hello(rig, "w", 4);
	rig_pass(rig, 1);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	rig_pass(rig, 6999);
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_pass(rig, 1);
	ASSERT_EQ(3, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

static uint64_t entered(const struct rig *rig, enum job_state state)
{
	struct core_totals totals;

	view_totals(rig->core, &totals);
	return totals.entered[state];
}

/* A gate without a delay, or a job whose date has passed, is never in state delayed, not even within a turn. */
TEST due_job_is_never_delayed(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_gate(&graph, "ok", "", 1, false);
	graph_job(&graph, "now", "")->not_before_ms = rig->now.wall_ms;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "now"));
	ASSERT_EQ(1, entered(rig, STATE_APPROVAL));
	ASSERT_EQ(0, entered(rig, STATE_DELAYED));
	graph_job(&graph, "later", "")->not_before_ms = rig->now.wall_ms + 1;
	rig_submit(rig, &graph);
	ASSERT_EQ(1, entered(rig, STATE_DELAYED));
	rig_free(rig);
	PASS();
}

/* Submit one job whose specification has this field set. */
#define SUBMIT_ONE(rig, field, value) \
	do { \
		struct graph one = { 0 }; \
		graph_job(&one, "a", "")->field = (value); \
		rig_submit(rig, &one); \
	} while (0)

TEST dispatch_timeout_ends_queued_job(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	SUBMIT_ONE(rig, dispatch_timeout_ms, 3000);
	SUBMIT_ONE(rig, dispatch_timeout_ms, 3000);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 2000);
	rig_restart(rig);
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING }, 1);
	rig_pass(rig, 999);
	ASSERT_EQ(STATE_READY, rig_state(rig, 2));
	ASSERT_EQ(rig->now.wall_ms + 1, rig_job(rig, 2).give_up_ms);
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 2));
	ASSERT_EQ(EVENT_DISPATCH_TIMEOUT, rig_job(rig, 2).stop_cause);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST delay_and_date_wait_for_later(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->delay_ms = 10000;
	graph.jobs[0].not_before_ms = rig->now.wall_ms + 5000;
	graph_job(&graph, "b", "")->delay_ms = 10000;
	graph.jobs[1].not_before_ms = rig->now.wall_ms + 15000;
	rig_submit(rig, &graph);
	rig_pass(rig, 9999);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_restart(rig);
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 4999);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 2));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

/*
 * With one slot: first the running job, then the job with priority, then the older job that had to wait for its delay.
 */
TEST delayed_job_comes_after_priority_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t order[4] = { 0 };

	rig_hello(rig, "w", 1);
	graph_job(&graph, "blocker", "");
	graph_job(&graph, "delayed", "")->delay_ms = 1000;
	graph_job(&graph, "plain", "");
	graph_job(&graph, "urgent", "")->priority = 91;
	graph.jobs[0].priority = 101;
	rig_submit(rig, &graph);
	for (size_t i = 0; i < 4; i++) {
		order[i] = rig_run_one(rig, 0);
		if (i == 2)
			rig_pass(rig, 1000);
	}
	ASSERT_EQ(1U, order[0]);
	ASSERT_EQ(4U, order[1]);
	ASSERT_EQ(3U, order[2]);
	ASSERT_EQ(2U, order[3]);
	rig_free(rig);
	PASS();
}

TEST explain_names_dispatch_timeout_and_deadline(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row;

	SUBMIT_ONE(rig, dispatch_timeout_ms, 3000);
	row = rig_job(rig, 1);
	ASSERT(view_explain(rig->core, 1, &rig->arena, &row));
	ASSERT(memmem(row.why.data, row.why.len, "times out unless a worker takes it within 3.0", 45));
	SUBMIT_ONE(rig, deadline_ms, 4000);
	ASSERT(view_explain(rig->core, 2, &rig->arena, &row));
	ASSERT(memmem(row.why.data, row.why.len, "the job's deadline is in 4.0", 28));
	rig_free(rig);
	PASS();
}

#define JOBS 200

/* Job 199 is due among the jobs that are cancelled last; the others are due in the order of their index. */
static int64_t due_ms(int i)
{
	return i == JOBS - 1 ? 150500 : (i + 1) * INT64_C(1000);
}

static const char *name_of(struct rig *rig, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "j%d", i);
	return arena_strdup(&rig->arena, slice_str(name));
}

TEST each_delay_left_after_cancels_ends_once(void)
{
	static const int left[] = { 1, 2, 39, JOBS - 1, 190, 198 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t begun_ms = rig->now.wall_ms;
	uint64_t run;

	for (int i = 0; i < JOBS; i++)
		graph_job(&graph, name_of(rig, i), "")->delay_ms = (uint64_t)due_ms(i);
	run = rig_submit(rig, &graph);
	rig_pass(rig, due_ms(0));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "j0"));
	/* The next due job stays in the queue: cancelling others must not drop it. */
	for (int i = 40; i < 190; i++)
		rig_cancel(rig, run, name_of(rig, i));
	for (size_t at = 0; at < sizeof(left) / sizeof(left[0]); at++) {
		ASSERT_STR_EQ("delayed", rig_state_named(rig, run, name_of(rig, left[at])));
		rig_pass(rig, begun_ms + due_ms(left[at]) - rig->now.wall_ms);
		ASSERT_STR_EQ("ready", rig_state_named(rig, run, name_of(rig, left[at])));
	}
	ASSERT_EQ(TIME_NEVER, core_next_due(rig->core));
	rig_free(rig);
	PASS();
}

SUITE(delay)
{
	RUN_TESTp(job_with_delay_and_date_is_due_at_later, 60000, 5000);
	RUN_TESTp(job_with_delay_and_date_is_due_at_later, 5000, 60000);
	RUN_TEST(explain_says_held_of_delayed_and_held_job);
	RUN_TEST(jobs_wait_for_delays_and_dates);
	RUN_TEST(due_job_is_never_delayed);
	RUN_TEST(dispatch_timeout_ends_queued_job);
	RUN_TEST(delay_and_date_wait_for_later);
	RUN_TEST(delayed_job_comes_after_priority_job);
	RUN_TEST(explain_names_dispatch_timeout_and_deadline);
	RUN_TEST(each_delay_left_after_cancels_ends_once);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(delay);
	GREATEST_MAIN_END();
}
