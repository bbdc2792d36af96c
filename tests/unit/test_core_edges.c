/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The edges of what workers and people say: words that nobody else may say, things said at the last moment or
 * twice, and acts that must leave alone what they don't name.
 */
#include "tests/unit/core_rig.h"

static uint64_t submit_one(struct rig *rig, enum exec_mode mode)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->mode = mode;
	return rig_submit(rig, &graph);
}

static uint64_t submit_names(struct rig *rig, const char *const *names, size_t count)
{
	struct graph graph = { 0 };

	for (size_t i = 0; i < count; i++)
		graph_job(&graph, names[i], "");
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

static uint64_t hello_life(struct rig *rig, const char *instance)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){
		.name = slice_str("w"), .instance = slice_str(instance), .slots = 1, .pid = 9 };
	rig_step(rig, &input);
	return input.conn;
}

static uint64_t hello_pool(struct rig *rig, const char *name, const char *pool)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){ .name = slice_str(name), .slots = 1, .pid = 9, .pool = slice_str(pool) };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	return input.conn;
}

static struct row_job *job_row(struct rig *rig, uint64_t job)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == (int64_t)job)
			return &rig->tables[TABLE_job].at[i].row.job;
	CHECK(!"a row of that job");
	return NULL;
}

static struct rec_worker_row worker_row(struct rig *rig, uint64_t number)
{
	struct rec_worker_row row = { 0 };

	CHECK(view_worker(rig->core, number, &rig->arena, &row));
	return row;
}

/* --- attempts --- */

TEST an_unstarted_attempt_that_is_stopped_was_no_try(void)
{
	static const enum exec_mode modes[] = { EXEC_RETRY, EXEC_ONCE };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;

		rig_hello(rig, "w", 1);
		submit_one(rig, modes[i]);
		attempt = rig_must_take(rig);
		say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_STOPPED, .ended_ms = 9 });
		ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
		ASSERT_EQ(1, rig_must_take(rig).try_no);
		ASSERT_EQ(0, rig_job(rig, attempt.job).crashes);
		rig_free(rig);
	}
	PASS();
}

/* Starts that a worker ended are tries that use up no retry; those that are too many to count are none. */
TEST interrupted_starts_are_counted_and_use_up_no_retry(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt = { 0 };

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_EXCLUSIVE);
	for (int i = 1; i <= LIMIT_INTERRUPTED_MAX + 3; i++) {
		const int counted = i < LIMIT_INTERRUPTED_MAX ? i : LIMIT_INTERRUPTED_MAX;

		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_STOPPED, 137);
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
		ASSERT_EQ(counted, (int)rig_job(rig, attempt.job).tries);
		ASSERT_EQ(counted, (int)rig_job(rig, attempt.job).interrupted);
		ASSERT_EQ(0, rig_job(rig, attempt.job).crashes);
		rig_pass(rig, 2000);
	}
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_EQ(STATE_FAILED, rig_state(rig, attempt.job));
	ASSERT_EQ(LIMIT_INTERRUPTED_MAX + 1, (int)rig_job(rig, attempt.job).tries);
	rig_free(rig);
	PASS();
}

/* Its worker never said that it had, but the result does. */
TEST a_result_tells_that_it_had_started(void)
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

TEST an_end_without_a_time_has_ended_now(void)
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

TEST only_who_has_an_attempt_can_end_it(void)
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
	other.job = attempt.job + 1;             /* there is no such job, and none before the first */
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

/* An unknown job: what its worker says at last, and what comes of it. */
TEST late_words_of_an_unknown_job(void)
{
	static const struct {
		enum outcome outcome;
		int64_t started_ms;
		enum job_state state;
	} cases[] = {
		{ OUTCOME_RECALLED, 0, STATE_ASSIGNED }, { OUTCOME_STOPPED, 0, STATE_ASSIGNED },
		{ OUTCOME_REFUSED, 0, STATE_ASSIGNED }, { OUTCOME_REFUSED, 5, STATE_UNKNOWN },
		{ OUTCOME_RECALLED, 5, STATE_UNKNOWN }, { OUTCOME_STOPPED, 5, STATE_UNKNOWN },
		{ OUTCOME_SPAWN, 5, STATE_FAILED }, { OUTCOME_EXIT, 5, STATE_SUCCEEDED },
		{ OUTCOME_EXIT_UNKNOWN, 0, STATE_UNKNOWN }, { OUTCOME_EXIT_UNKNOWN, 5, STATE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt, other;
		struct rec_held held;

		rig_hello(rig, "w", 1);
		submit_one(rig, EXEC_ONCE);
		attempt = rig_must_take(rig);
		rig_gone(rig, attempt.conn);
		rig_pass(rig, LIMIT_GRACE_MS);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		held = (struct rec_held){ attempt.job, attempt.epoch, PHASE_ENDED };
		attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
		other = attempt;
		other.conn = rig_hello(rig, "other", 1);
		rig_done(rig, other, OUTCOME_EXIT, 0);
		other = attempt;
		other.epoch++;
		rig_done(rig, other, OUTCOME_EXIT, 0);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		say_done(rig, attempt, (struct rec_done){ .outcome = cases[i].outcome, .started_ms = cases[i].started_ms });
		ASSERT_EQ_FMT((int)cases[i].state, (int)rig_state(rig, attempt.job), "%d");
		rig_free(rig);
	}
	PASS();
}

/* Also when it was to be stopped, and nobody minds how it ended. */
TEST an_outcome_that_no_worker_can_know_is_unknown(void)
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

/* How many jobs are sent ahead to a worker of one slot after eight results of 10 ms and another one? */
static uint64_t ahead_after(enum outcome outcome, uint64_t last_ms)
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
	ahead = worker_row(rig, 1).ahead;
	rig_free(rig);
	return ahead;
}

TEST what_ran_is_measured_and_newer_results_count_more(void)
{
	ASSERT_EQ_FMT(25UL, (unsigned long)ahead_after(OUTCOME_EXIT, 0), "%lu");
	ASSERT_EQ_FMT(25UL, (unsigned long)ahead_after(OUTCOME_SIGNAL, 0), "%lu");
	ASSERT_EQ_FMT(0UL, (unsigned long)ahead_after(OUTCOME_SPAWN, 0), "%lu");
	ASSERT_EQ_FMT(2UL, (unsigned long)ahead_after(OUTCOME_EXIT, 650), "%lu");
	PASS();
}

TEST tries_have_a_top(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row_job *row;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = 1;
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	row = job_row(rig, 1);
	row->tries = UINT16_MAX;
	row->epoch = (INT64_C(1) << 32) + UINT16_MAX;
	rig_restart(rig);
	rig_pass(rig, 2000);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(UINT16_MAX, rig_must_take(rig).try_no);
	rig_free(rig);
	PASS();
}

/* --- coming back --- */

/* Of a job that starts once: only its own keeper, in the same life, knows that it never started. */
TEST another_life_knows_nothing_of_the_first(void)
{
	static const struct {
		const char *before, *after;
		enum job_state state;
	} cases[] = {
		{ "life", "life", STATE_ASSIGNED }, { "life", "more", STATE_UNKNOWN }, { "", "", STATE_UNKNOWN },
		{ "life", "lif", STATE_UNKNOWN }, { "life", "", STATE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;

		hello_life(rig, cases[i].before);
		submit_one(rig, EXEC_ONCE);
		attempt = rig_must_take(rig);
		hello_life(rig, cases[i].after);
		ASSERT_EQ_FMT((int)cases[i].state, (int)rig_state(rig, attempt.job), "%d");
		rig_free(rig);
	}
	PASS();
}

TEST what_ran_and_is_gone_did_start(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_one(rig, EXEC_ONCE);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_hello(rig, "w", 1);          /* the same life, and it hasn't the job any more */
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

TEST an_unknown_job_that_is_queued_is_stopped(void)
{
	static const enum attempt_phase phases[] = { PHASE_QUEUED, PHASE_ENDED };

	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;
		struct rec_held held;

		rig_hello(rig, "w", 1);
		submit_one(rig, EXEC_ONCE);
		attempt = rig_must_take(rig);
		rig_gone(rig, attempt.conn);
		rig_pass(rig, LIMIT_GRACE_MS);
		held = (struct rec_held){ attempt.job, attempt.epoch, phases[i] };
		rig_hello_held(rig, "w", 1, &held, 1);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		ASSERT_EQ(phases[i] == PHASE_QUEUED ? 1 : 0, rig_frames(rig, OP_STOP, NULL));
		rig_free(rig);
	}
	PASS();
}

/* A run is held while one of its jobs runs, one is queued at the worker, and one has ended there. */
TEST who_comes_back_is_asked_for_what_it_has_not_begun(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt at[3];
	struct rec_held held[3];
	struct outgoing recall = { 0 };
	static const char *const names[] = { "a", "b", "c" };
	uint64_t run;

	rig_hello(rig, "w", 3);
	run = submit_names(rig, names, 3);
	for (int i = 0; i < 3; i++)
		at[i] = rig_must_take(rig);
	rig_started(rig, at[0]);
	held[0] = (struct rec_held){ at[0].job, at[0].epoch, PHASE_RUNNING };
	held[1] = (struct rec_held){ at[1].job, at[1].epoch, PHASE_QUEUED };
	held[2] = (struct rec_held){ at[2].job, at[2].epoch, PHASE_ENDED };
	rig_hello_held(rig, "w", 3, held, 3);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_EQ(2, rig_frames(rig, OP_RECALL, NULL));
	rig_hello_held(rig, "w", 3, held, 3);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &recall));
	ASSERT_EQ(at[1].job, recall.recall.job);
	ASSERT_EQ(0, rig_frames(rig, OP_STOP, NULL));
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "a"));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* --- workers --- */

TEST a_hello_names_a_pool_and_is_said_once(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_WORKER_HELLO };

	hello_pool(rig, "a", "bad pool");
	ASSERT(rig_error_says(rig, ERR_INVALID, "a pool's name has"));
	hello_pool(rig, "a", "gpu");
	ASSERT_EQ(0, rig->error.code);
	hello_pool(rig, "b", "");
	ASSERT_EQ(0, rig->error.code);
	ASSERT(slice_eq(slice_str("gpu"), worker_row(rig, 1).pool));
	ASSERT(slice_eq(slice_str("default"), worker_row(rig, 2).pool));
	input.conn = rig->conn;
	input.hello = (struct input_hello){ .name = slice_str("c"), .slots = 1, .pid = 9 };
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_NOT_EXPECTED, "said it already"));
	ASSERT_EQ(0, view_worker_after(rig->core, 2));
	rig_free(rig);
	PASS();
}

/* For how long is it passed over whose connection was lost so often, so far apart? */
static uint64_t rest_after(int drops, int64_t apart_ms, bool quitting)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	uint64_t rest_ms;

	for (int i = 0; i < drops; i++) {
		uint64_t conn = rig_hello(rig, "w", 1);

		if (quitting)
			rig_step(rig, &quit);
		rig_gone(rig, conn);
		if (i + 1 < drops)
			rig_pass(rig, apart_ms);
	}
	rest_ms = worker_row(rig, 1).rest_ms;
	rig_free(rig);
	return rest_ms;
}

TEST a_worker_that_flaps_rests(void)
{
	const int64_t apart_ms = LIMIT_FLAP_WINDOW_MS / (LIMIT_FLAP_DROPS - 1);

	ASSERT_EQ(0, rest_after(1, 0, false));
	ASSERT_EQ(0, rest_after(LIMIT_FLAP_DROPS - 1, 1, false));
	ASSERT_EQ(LIMIT_FLAP_REST_MS, rest_after(LIMIT_FLAP_DROPS, 1, false));
	ASSERT_EQ(LIMIT_FLAP_REST_MS, rest_after(LIMIT_FLAP_DROPS, apart_ms - 1, false));
	ASSERT_EQ(0, rest_after(LIMIT_FLAP_DROPS, apart_ms, false));
	ASSERT_EQ(0, rest_after(LIMIT_FLAP_DROPS, 1, true));
	PASS();
}

TEST workers_are_found_behind_one_that_was_forgotten(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_worker_row row;

	rig_gone(rig, rig_hello(rig, "first", 1));
	rig_hello(rig, "second", 1);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("first") });
	ASSERT_EQ(1, rig->ok.count);
	rig_hello(rig, "third", 1);
	ASSERT(!view_worker(rig->core, 1, &rig->arena, &row));
	ASSERT(!view_worker(rig->core, 4, &rig->arena, &row));
	ASSERT(slice_eq(slice_str("second"), worker_row(rig, 2).name));
	ASSERT(slice_eq(slice_str("third"), worker_row(rig, 3).name));
	submit_one(rig, EXEC_RETRY);
	submit_one(rig, EXEC_RETRY);
	while (rig_take(rig, &attempt))
		rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 1));
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

TEST who_was_deaf_brings_back_nobody(void)
{
	struct rig *rig = rig_new();

	rig_gone(rig, rig_hello(rig, "w", 1));
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_free(rig);
	PASS();
}

/* Its connection stands, but nothing comes: it is told why it is closed, and may come again. */
TEST a_silent_worker_may_come_again(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);
	struct outgoing error;

	rig_pass(rig, LIMIT_LEASE_MS);
	rig_pass(rig, LIMIT_GRACE_MS - LIMIT_LEASE_MS);
	ASSERT_EQ(1, rig_frames(rig, OP_ERROR, &error));
	ASSERT_EQ(conn, error.conn);
	rig_heartbeat(rig, conn);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_gone(rig, conn);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	rig_free(rig);
	PASS();
}

static size_t told_of_worker(const struct rig *rig, uint64_t number)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == CHANGED_WORKER && rig->out.changes[i].id == number;
	return count;
}

TEST who_watches_is_told_of_a_worker_once_a_turn(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	rig_hello(rig, "first", 1);
	ASSERT_EQ(1, told_of_worker(rig, 1));
	conn = rig_hello(rig, "second", 1);
	ASSERT_EQ(0, told_of_worker(rig, 1));
	ASSERT_EQ(1, told_of_worker(rig, 2));
	rig_gone(rig, conn);
	ASSERT_EQ(1, told_of_worker(rig, 2));
	submit_one(rig, EXEC_RETRY);
	ASSERT_EQ(1, told_of_worker(rig, 1));
	rig_heartbeat(rig, rig->conn);
	ASSERT_EQ(0, told_of_worker(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(attempts)
{
	RUN_TEST(an_unstarted_attempt_that_is_stopped_was_no_try);
	RUN_TEST(interrupted_starts_are_counted_and_use_up_no_retry);
	RUN_TEST(a_result_tells_that_it_had_started);
	RUN_TEST(an_end_without_a_time_has_ended_now);
	RUN_TEST(only_who_has_an_attempt_can_end_it);
	RUN_TEST(late_words_of_an_unknown_job);
	RUN_TEST(an_outcome_that_no_worker_can_know_is_unknown);
	RUN_TEST(what_ran_is_measured_and_newer_results_count_more);
	RUN_TEST(tries_have_a_top);
}

SUITE(workers)
{
	RUN_TEST(another_life_knows_nothing_of_the_first);
	RUN_TEST(what_ran_and_is_gone_did_start);
	RUN_TEST(an_unknown_job_that_is_queued_is_stopped);
	RUN_TEST(who_comes_back_is_asked_for_what_it_has_not_begun);
	RUN_TEST(a_hello_names_a_pool_and_is_said_once);
	RUN_TEST(a_worker_that_flaps_rests);
	RUN_TEST(workers_are_found_behind_one_that_was_forgotten);
	RUN_TEST(who_watches_is_told_of_a_worker_once_a_turn);
	RUN_TEST(who_was_deaf_brings_back_nobody);
	RUN_TEST(a_silent_worker_may_come_again);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(attempts);
	RUN_SUITE(workers);
	GREATEST_MAIN_END();
}
