/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attempts, waits, letters and what a person names: after losses, restarts, restores and reboots. */
#include "proto/dead.h"
#include "tests/unit/core_rig.h"

#define HOUR_MS INT64_C(3600000)

static uint64_t hello_with(struct rig *rig, struct rig_attempt attempt, enum attempt_phase phase)
{
	struct rec_held held = { .job = attempt.job, .epoch = attempt.epoch, .phase = phase };

	return rig_hello_held(rig, "w", 1, &held, 1);
}

/* Asked to end while its worker was away: it must not start when that is back, whatever it has of it. */
TEST what_was_cancelled_while_its_worker_was_away_does_not_start(void)
{
	const enum attempt_phase phases[] = { PHASE_QUEUED, PHASE_RUNNING };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rig_attempt attempt;
		struct outgoing stop;

		rig_hello(rig, "w", 1);
		graph_job(&graph, "a", "");
		rig_submit(rig, &graph);
		attempt = rig_must_take(rig);
		rig_gone(rig, rig->conn);
		rig_cancel(rig, 1, "a");
		ASSERT_EQ(0, rig_frames(rig, OP_STOP, NULL));
		hello_with(rig, attempt, phases[i]);
		ASSERT_EQ(1, rig_frames(rig, OP_STOP, &stop));
		ASSERT_EQ(attempt.epoch, stop.stop.epoch);
		ASSERT_EQ(LIMIT_STOP_GRACE_MS, stop.stop.grace_ms);
		rig_free(rig);
	}
	PASS();
}

TEST a_time_out_waits_no_longer_for_a_loss_before_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rig_attempt attempt;

	job->timeout_ms = 50;
	job->retry_max = 3;
	job->retry_on = RETRY_ON_TIMEOUT;
	job->backoff_ms = 400;
	job->backoff_exact = true;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_hello(rig, "w", 1);          /* it has nothing of it any more */
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 400);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_pass(rig, 50);
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(2, rig_job(rig, 1).tries);
	rig_pass(rig, 399);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* Some of what it says in one frame is of attempts that were lost and given out again. */
TEST words_behind_one_of_no_use_count(void)
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
	ASSERT_EQ(7, rig_job(rig, 2).started_ms);        /* as it says, not when that was heard */
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

TEST all_that_are_connected_are_told_to_end(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	struct outgoing quit;

	rig_gone(rig, rig_hello(rig, "gone", 1));
	rig_hello(rig, "here", 1);
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_frames(rig, OP_QUIT, &quit));
	ASSERT_EQ(rig->conn, quit.conn);
	rig_free(rig);
	PASS();
}

/* Its connections break and the master hears of each only when the next one comes. */
TEST who_comes_back_on_new_connections_flaps(void)
{
	struct rig *rig = rig_new();
	struct rec_worker_row row = { 0 };

	for (int drops = 0; drops <= LIMIT_FLAP_DROPS; drops++) {
		ASSERT_EQ(0, row.rest_ms);
		rig_hello(rig, "w", 1);
		ASSERT(view_worker(rig->core, 1, &rig->arena, &row));
		rig_wait(rig, 1);
	}
	ASSERT_EQ(LIMIT_FLAP_REST_MS, row.rest_ms);
	rig_free(rig);
	PASS();
}

/* Rows that were restored from a backup: what was given since may run, and no epoch may be given again. */
TEST no_epoch_of_before_a_restore_is_given_again(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;

	graph_job(&graph, "a", "")->retry_max = 1;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	ASSERT_EQ(UINT64_C(1) << 32 | 1, attempt.epoch);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		if (slice_eq(rig->tables[TABLE_meta].at[i].row.meta.name, slice_str("generation")))
			rig->tables[TABLE_meta].at[i].row.meta.value = 2;
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_pass(rig, LIMIT_RETRY_BACKOFF_MS * 2);
	ASSERT_EQ(UINT64_C(2) << 32 | 2, rig_must_take(rig).epoch);
	rig_free(rig);
	PASS();
}

static size_t rows_of_run(const struct rig *rig, struct row rows[8])
{
	size_t count = 0;

	rows[count++] = rig->tables[TABLE_run].at[0].row;
	rows[count++] = rig->tables[TABLE_spec].at[0].row;
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		rows[count++] = rig->tables[TABLE_job].at[i].row;
	return count;
}

/* It had left memory, and came up again on a machine that thinks it is an hour earlier. */
TEST a_run_that_comes_back_wasn_t_submitted_in_the_future(void)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row rows[8];

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	graph_job(&graph, "a", "")->deadline_ms = 5000;
	rig_submit(rig, &graph);
	rig_cancel(rig, 1, "");
	rig->config.boot_id++;
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms -= HOUR_MS;
	rig_restart(rig);
	input.reopen = (struct input_reopen){ .act = { .verb = ACT_RETRY, .run = 1, .value = RETRY_FAILED },
					      .rows = rows, .row_count = rows_of_run(rig, rows) };
	rig_step(rig, &input);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* Nobody says whether the machine was off: the wall clock counts what it was. */
TEST a_boot_that_has_no_name_may_be_another(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig->config.boot_id = 0;
	rig_restart(rig);
	graph_job(&graph, "a", "")->delay_ms = HOUR_MS;
	rig_submit(rig, &graph);
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms += HOUR_MS / 2;
	rig_restart(rig);
	rig_pass(rig, HOUR_MS / 2 - 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST a_letter_that_is_discarded_later_changes_nothing_else_of_its_run(void)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row rows[8];
	struct row_run before;
	const struct row_run *after;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_cancel(rig, 1, "");
	rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
	before = rig_run_row(rig, 1)->run;
	ASSERT(before.ended_ms > 0 && before.cancelled && before.dead == 1);
	core_sweep(rig->core, UINT64_MAX);
	rig_wait(rig, HOUR_MS);
	input.reopen = (struct input_reopen){ .act = { .verb = ACT_DISCARD, .run = 1 }, .rows = rows,
					      .row_count = rows_of_run(rig, rows) };
	rig_step(rig, &input);
	after = &rig_run_row(rig, 1)->run;
	ASSERT_EQ(0, after->dead);
	ASSERT_EQ(before.ended_ms, after->ended_ms);
	ASSERT_EQ(before.cancelled, after->cancelled);
	ASSERT_EQ(before.state, after->state);
	ASSERT(before.submitted_ms == after->submitted_ms && before.steady_ms == after->steady_ms);
	rig_free(rig);
	PASS();
}

/* The worker that took the job with it is the first that one asks about. */
TEST a_letter_names_the_worker_that_was_lost(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	const struct row_dead *letter;

	graph_job(&graph, "a", "")->crash_limit = 1;
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	letter = &rig->tables[TABLE_dead].at[0].row.dead;
	ASSERT_EQ(DEAD_CRASH_LIMIT, letter->reason);
	ASSERT(slice_eq(slice_str("w"), letter->worker));
	rig_free(rig);
	PASS();
}

TEST a_fan_out_that_has_begun_to_end_is_still_there(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	for (int i = 0; i < 3; i++) {
		const char *const names[] = { "e[0]", "e[1]", "e[2]" };

		graph_job(&graph, names[i], "");
	}
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_act(rig, ACT_PRIORITY, 1, "e", 70);
	ASSERT_EQ(2, rig->ok.count);
	rig_cancel(rig, 1, "e");
	ASSERT_EQ(2, rig->ok.count);
	rig_free(rig);
	PASS();
}

TEST who_discards_the_letters_of_a_run_discards_all_of_them(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	rig_run_one(rig, 0);
	rig_run_one(rig, 1);
	ASSERT_EQ(2, rig->tables[TABLE_dead].count);
	rig_act(rig, ACT_DISCARD, 1, "", 0);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(0, rig->tables[TABLE_dead].count);
	ASSERT_EQ(0, rig_run_row(rig, 1)->run.dead);
	rig_free(rig);
	PASS();
}

SUITE(planted_life)
{
	RUN_TEST(what_was_cancelled_while_its_worker_was_away_does_not_start);
	RUN_TEST(a_time_out_waits_no_longer_for_a_loss_before_it);
	RUN_TEST(words_behind_one_of_no_use_count);
	RUN_TEST(all_that_are_connected_are_told_to_end);
	RUN_TEST(who_comes_back_on_new_connections_flaps);
	RUN_TEST(no_epoch_of_before_a_restore_is_given_again);
	RUN_TEST(a_run_that_comes_back_wasn_t_submitted_in_the_future);
	RUN_TEST(a_boot_that_has_no_name_may_be_another);
	RUN_TEST(a_letter_that_is_discarded_later_changes_nothing_else_of_its_run);
	RUN_TEST(a_letter_names_the_worker_that_was_lost);
	RUN_TEST(a_fan_out_that_has_begun_to_end_is_still_there);
	RUN_TEST(who_discards_the_letters_of_a_run_discards_all_of_them);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(planted_life);
	GREATEST_MAIN_END();
}
