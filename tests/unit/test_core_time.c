/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deadlines and wall clocks: clocks that are set, restarts and reboots in between. */
#include "core_rig.h"

#define HOUR_MS INT64_C(3600000)
#define TEN_YEARS_MS (INT64_C(87660) * HOUR_MS)

/* Submit one job whose specification has this field set. */
#define SUBMIT_ONE(rig, field, value) \
	do { \
		struct graph one = { 0 }; \
		graph_job(&one, "a", "")->field = (value); \
		rig_submit(rig, &one); \
	} while (0)

TEST a_deadline_ends_what_waits_with_its_descendants(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 4);
	graph_job(&graph, "root", "");
	graph_job(&graph, "waits", "root")->deadline_ms = 5000;
	graph_job(&graph, "after", "waits");
	graph_job(&graph, "instead", "waits-");
	graph_job(&graph, "asks", "")->deadline_ms = 5000;
	graph.jobs[4].gate_count = 1;
	graph_job(&graph, "delayed", "")->deadline_ms = 5000;
	graph.jobs[5].delay_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_pass(rig, 4999);
	rig_heartbeat(rig, rig->conn);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "waits"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "asks"));
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "delayed"));
	rig_pass(rig, 1);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "waits"));
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "asks"));
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "delayed"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "after"));
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, rig_named(rig, run, "instead")));
	ASSERT_EQ(EVENT_DEADLINE, rig_job(rig, rig_named(rig, run, "waits")).stop_cause);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "root"));
	rig_free(rig);
	PASS();
}

TEST a_deadline_ends_what_runs_when_its_process_is_gone(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	SUBMIT_ONE(rig, deadline_ms, 5000);
	SUBMIT_ONE(rig, deadline_ms, 5000);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_EQ(STATE_READY, rig_state(rig, 2));
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	ASSERT_EQ(1U, rig_frames(rig, OP_STOP, NULL));
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 2));
	rig_restart(rig);
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING }, 1);
	ASSERT_EQ(1U, rig_frames(rig, OP_STOP, NULL));
	attempt.conn = rig->conn;
	rig_done(rig, attempt, OUTCOME_STOPPED, 143);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST a_deadline_stands_beside_a_run_timeout(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->deadline_ms = 9000;
	graph.jobs[0].timeout_ms = 4000;
	graph.jobs[0].retry_max = 3;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 3000);
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1500);
	rig_heartbeat(rig, rig->conn);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_restart(rig);                /* the job's deadline as a date and as a span are both kept over a restart */
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING }, 1);
	rig_pass(rig, 3999);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	ASSERT_EQ(EVENT_RUN_TIMEOUT, rig_job(rig, 1).stop_cause);
	rig_pass(rig, 500);
	ASSERT_EQ(EVENT_DEADLINE, rig_job(rig, 1).stop_cause);
	rig_free(rig);
	PASS();
}

TEST a_deadline_may_be_a_date(void)
{
	struct rig *rig = rig_new();

	SUBMIT_ONE(rig, deadline_at_ms, rig->now.wall_ms + 8000);
	ASSERT_EQ(rig->now.wall_ms + 8000, rig_job(rig, 1).deadline_ms);
	rig_pass(rig, 2000);
	rig->now.wall_ms -= HOUR_MS;
	rig_pass(rig, 10000);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig->now.wall_ms += HOUR_MS;
	rig_pass(rig, 0);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	SUBMIT_ONE(rig, deadline_at_ms, rig->now.wall_ms - 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

TEST what_is_run_again_after_its_deadline_has_none(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->deadline_ms = 5000;
	graph_job(&graph, "b", "a")->deadline_ms = 50000;
	rig_submit(rig, &graph);
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_act(rig, ACT_RETRY, 1, "", RETRY_FAILED);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_restart(rig);
	rig_pass(rig, 10000);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT_EQ(0, rig_job(rig, 1).deadline_ms);
	rig_pass(rig, 35000);            /* the job's other deadline is still ahead, and holds */
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 2));
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST an_unknown_job_that_comes_back_is_out_of_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->mode = EXEC_ONCE;
	graph.jobs[0].deadline_ms = 2 * LIMIT_GRACE_MS;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, 1));
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, 1));
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING }, 1);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	ASSERT_EQ(EVENT_DEADLINE, rig_job(rig, 1).stop_cause);
	rig_free(rig);
	PASS();
}

/* --- clocks --- */

TEST a_wall_clock_that_is_set_moves_no_interval(void)
{
	static const int64_t steps[] = { HOUR_MS, -HOUR_MS, TEN_YEARS_MS, -TEN_YEARS_MS };

	for (size_t i = 0; i < 4; i++) {
		for (int restarts = 0; restarts < 3; restarts++) {
			struct rig *rig = rig_new();

			rig->now.wall_ms += 2 * TEN_YEARS_MS;
			SUBMIT_ONE(rig, delay_ms, 30 * 60000);
			rig_pass(rig, 60000);
			rig->now.wall_ms += steps[i];
			if (restarts > 0)
				rig_pass(rig, 0);        /* this turn notices the step of the wall clock */
			if (restarts == 2) {             /* the machine reboots without any time passing */
				rig->config.boot_id++;
				rig->now.mono_ns = 1 * NS_PER_S;
				rig->now.boot_ns = 2 * NS_PER_S;
			}
			if (restarts > 0)
				rig_restart(rig);
			rig_pass(rig, 29 * 60000 - 1);
			ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
			rig_pass(rig, 1);
			ASSERT_EQ(STATE_READY, rig_state(rig, 1));
			rig_free(rig);
		}
	}
	PASS();
}

static bool skew_put(const struct rig *rig)
{
	for (size_t i = 0; i < rig->out.row_count; i++)
		if (rig->out.rows[i].table == TABLE_meta && slice_eq(rig->out.rows[i].meta.name, slice_str("steady_skew_ms")))
			return true;
	return false;
}

TEST a_tenth_of_a_second_is_a_step_or_a_sleep(void)
{
	static const struct { int64_t ms; bool stepped; } steps[] = { { 99, false }, { -99, false }, { 100, true }, { -100, true } };

	for (size_t i = 0; i < 4; i++) {
		struct rig *rig = rig_new();

		rig_pass(rig, 0);
		rig->now.wall_ms += steps[i].ms;
		rig_pass(rig, 0);
		ASSERT_EQ(steps[i].stepped, skew_put(rig));
		rig_free(rig);
	}
	for (int64_t slept_ms = 99; slept_ms <= 100; slept_ms++) {
		struct rig *rig = rig_new();

		SUBMIT_ONE(rig, delay_ms, 1000);
		rig->now.boot_ns += slept_ms * NS_PER_MS;
		rig->now.wall_ms += slept_ms;
		rig_pass(rig, 0);
		rig_pass(rig, 900);
		ASSERT_EQ(slept_ms == 100 ? STATE_READY : STATE_DELAYED, rig_state(rig, 1));
		rig_free(rig);
	}
	PASS();
}

/* A row of an earlier version lacks the submit time on the clock of intervals. */
TEST a_run_of_an_earlier_version_began_when_it_was_submitted(void)
{
	struct rig *rig = rig_new();

	SUBMIT_ONE(rig, deadline_ms, 60000);
	rig->tables[TABLE_run].at[0].row.run.steady_ms = 0;
	rig_restart(rig);
	rig_pass(rig, 59999);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST another_boot_goes_by_the_wall_clock_within_the_interval(void)
{
	struct rig *rig = rig_new();

	SUBMIT_ONE(rig, delay_ms, 30 * 60000);
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms += 20 * 60000;  /* the machine was off for this long before it came up */
	rig->config.boot_id++;
	rig_restart(rig);
	rig_pass(rig, 10 * 60000 - 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	SUBMIT_ONE(rig, delay_ms, 30 * 60000);
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms -= 500000;      /* the machine came up with a clock that is behind */
	rig->config.boot_id++;
	rig_restart(rig);
	rig_restart(rig);
	rig_pass(rig, 15 * 60000);
	rig_restart(rig);                /* the restart of the master doesn't begin the job's wait anew */
	rig_pass(rig, 15 * 60000 - 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 2));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

TEST wall_clocks_set_back_at_many_boots_leave_rows_that_can_be_read(void)
{
	struct rig *rig = rig_new();

	rig->now.wall_ms = 2 * TEN_YEARS_MS;
	rig_pass(rig, 0);
	for (int boots = 0; boots < 4; boots++) {
		rig->config.boot_id++;
		rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
		/* the machine always comes up with a clock that is ten years behind */
		rig->now.wall_ms -= TEN_YEARS_MS;
		rig_restart(rig);
		rig->now.wall_ms += TEN_YEARS_MS;        /* the clock is set right after the machine is up */
		rig_pass(rig, 1000);
	}
	SUBMIT_ONE(rig, delay_ms, 60000);
	rig_restart(rig);
	rig_pass(rig, 59999);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST a_date_follows_the_wall_clock(void)
{
	struct rig *rig = rig_new();

	SUBMIT_ONE(rig, not_before_ms, rig->now.wall_ms + HOUR_MS);
	SUBMIT_ONE(rig, not_before_ms, rig->now.wall_ms + 3 * HOUR_MS);
	rig_pass(rig, 60000);
	rig->now.wall_ms += 2 * HOUR_MS;
	rig_pass(rig, 0);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 2));
	rig->now.wall_ms -= 2 * HOUR_MS;
	rig_pass(rig, 2 * HOUR_MS);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 2));
	rig_pass(rig, 59 * 60000 - 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 2));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

TEST time_that_a_machine_sleeps_counts(void)
{
	struct rig *rig = rig_new();

	SUBMIT_ONE(rig, delay_ms, 30 * 60000);
	rig_pass(rig, 60000);
	rig->now.boot_ns += HOUR_MS * NS_PER_MS;
	rig->now.wall_ms += HOUR_MS;
	rig_pass(rig, 0);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST past_due_timers_fire_once_after_a_restart(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "delayed", "")->delay_ms = 10000;
	graph_job(&graph, "asks", "")->gate_count = 1;
	graph.jobs[1].gate_timeout_ms = 10000;
	graph_job(&graph, "late", "")->deadline_ms = 10000;
	rig_submit(rig, &graph);
	rig_wait(rig, HOUR_MS);
	rig_restart(rig);
	rig_pass(rig, 0);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT_EQ(STATE_DENIED, rig_state(rig, 2));
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 3));
	rig_pass(rig, HOUR_MS);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(times)
{
	RUN_TEST(a_deadline_ends_what_waits_with_its_descendants);
	RUN_TEST(a_deadline_ends_what_runs_when_its_process_is_gone);
	RUN_TEST(a_deadline_stands_beside_a_run_timeout);
	RUN_TEST(a_deadline_may_be_a_date);
	RUN_TEST(what_is_run_again_after_its_deadline_has_none);
	RUN_TEST(an_unknown_job_that_comes_back_is_out_of_time);
	RUN_TEST(a_wall_clock_that_is_set_moves_no_interval);
	RUN_TEST(a_tenth_of_a_second_is_a_step_or_a_sleep);
	RUN_TEST(a_run_of_an_earlier_version_began_when_it_was_submitted);
	RUN_TEST(another_boot_goes_by_the_wall_clock_within_the_interval);
	RUN_TEST(wall_clocks_set_back_at_many_boots_leave_rows_that_can_be_read);
	RUN_TEST(a_date_follows_the_wall_clock);
	RUN_TEST(time_that_a_machine_sleeps_counts);
	RUN_TEST(past_due_timers_fire_once_after_a_restart);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(times);
	GREATEST_MAIN_END();
}
