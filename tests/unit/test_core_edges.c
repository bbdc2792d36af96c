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

SUITE(attempts)
{
	RUN_TEST(an_unstarted_attempt_that_is_stopped_was_no_try);
	RUN_TEST(interrupted_starts_are_counted_and_use_up_no_retry);
	RUN_TEST(late_words_of_an_unknown_job);
	RUN_TEST(what_ran_is_measured_and_newer_results_count_more);
	RUN_TEST(tries_have_a_top);
}

SUITE(workers)
{
	RUN_TEST(another_life_knows_nothing_of_the_first);
	RUN_TEST(what_ran_and_is_gone_did_start);
	RUN_TEST(an_unknown_job_that_is_queued_is_stopped);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(attempts);
	RUN_SUITE(workers);
	GREATEST_MAIN_END();
}
