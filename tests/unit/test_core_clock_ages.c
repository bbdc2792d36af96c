/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall clocks that are set while jobs live: the ages of jobs are the time that passed. */
#include "tests/unit/core_rig.h"

#define TEN_YEARS_MS INT64_C(315576000000)

#define RIG_WALL_MS  INT64_C(1800000000000)

static struct rig *begin(uint64_t *ret_run)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig->now.wall_ms = RIG_WALL_MS;
	rig_pass(rig, 0);
	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = 1;
	*ret_run = rig_submit(rig, &graph);
	return rig;
}

static void set_clock(struct rig *rig, int64_t by_ms)
{
	rig->now.wall_ms += by_ms;
	rig_pass(rig, 0);
}

static int64_t run_age(struct rig *rig, uint64_t run)
{
	struct rec_run_row row;

	CHECK(view_run(rig->core, run, &rig->arena, &row));
	return (row.ended_ms ? row.ended_ms : rig->now.wall_ms) - row.submitted_ms;
}

static int64_t job_age(struct rig *rig, uint64_t job)
{
	struct rec_job_row row = rig_job(rig, job);

	return (row.ended_ms ? row.ended_ms : rig->now.wall_ms) - row.started_ms;
}

/* A worker reports an end, with both times by the present wall clock. */
static void end(struct rig *rig, struct rig_attempt attempt, int64_t took_ms, uint64_t code)
{
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_EXIT, .code = code,
		.started_ms = rig->now.wall_ms - took_ms, .ended_ms = rig->now.wall_ms,
		.run_ns = (uint64_t)(took_ms * NS_PER_MS) };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

TEST ages_of_live_jobs_follow_passed_time(void)
{
	static const int64_t steps[] = { TEN_YEARS_MS, -TEN_YEARS_MS, -3600000, 100, -5000 };
	uint64_t run;
	struct rig *rig = begin(&run);
	struct rig_attempt attempt;
	int64_t age_ms = 2000;

	rig_pass(rig, 2000);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		set_clock(rig, steps[i]);
		ASSERT_EQ_FMT((long long)age_ms, (long long)run_age(rig, run), "%lld");
		ASSERT_EQ_FMT((long long)(age_ms - 2000), (long long)job_age(rig, attempt.job), "%lld");
		rig_pass(rig, 1000);
		age_ms += 1000;
	}
	end(rig, attempt, age_ms - 2000, 0);
	ASSERT_EQ(age_ms, run_age(rig, run));
	ASSERT_EQ(age_ms - 2000, job_age(rig, attempt.job));
	/* An ended job's times don't move with the clock. */
	set_clock(rig, TEN_YEARS_MS);
	ASSERT_EQ(age_ms, run_age(rig, run));
	ASSERT_EQ(age_ms - 2000, job_age(rig, attempt.job));
	rig_free(rig);
	PASS();
}

TEST clock_step_between_masters_adds_no_age(void)
{
	uint64_t run;
	struct rig *rig = begin(&run);
	struct rig_attempt attempt = rig_must_take(rig);

	rig_started(rig, attempt);
	rig_pass(rig, 3000);
	rig->now.wall_ms -= TEN_YEARS_MS;
	rig_restart(rig);
	rig_pass(rig, 500);
	ASSERT_EQ(3500, job_age(rig, attempt.job));
	ASSERT_EQ(3500, run_age(rig, run));
	rig_restart(rig);                /* the step was recorded durably, so it isn't applied twice */
	rig_pass(rig, 500);
	ASSERT_EQ(4000, job_age(rig, attempt.job));
	ASSERT_EQ(4000, run_age(rig, run));
	rig_free(rig);
	PASS();
}

TEST watchers_see_all_times_after_clock_step(void)
{
	uint64_t run;
	struct rig *rig = begin(&run);
	struct rig_attempt attempt = rig_must_take(rig);
	size_t jobs = 0, runs = 0;

	rig_started(rig, attempt);
	rig->now.wall_ms -= 3600000;
	rig_turn_begin(rig);
	core_turn_end(rig->core);
	for (size_t i = 0; i < rig->out.change_count; i++) {
		jobs += rig->out.changes[i].kind == CHANGED_JOB;
		runs += rig->out.changes[i].kind == CHANGED_RUN;
	}
	ASSERT_EQ(1, jobs);
	ASSERT_EQ(1, runs);
	rig_free(rig);
	PASS();
}

TEST age_of_lost_job_follows_passed_time(void)
{
	uint64_t run;
	struct rig *rig = begin(&run);
	struct graph graph = { 0 };
	struct rig_attempt attempt = rig_must_take(rig);
	int64_t took_ms;

	rig_started(rig, attempt);
	end(rig, attempt, 1, 0);
	graph_job(&graph, "once", "")->mode = EXEC_ONCE;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, rig->conn);
	set_clock(rig, TEN_YEARS_MS);
	rig_pass(rig, LIMIT_GRACE_MS + 1000);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "once"));
	set_clock(rig, -TEN_YEARS_MS);
	/* The worker reconnects with the running attempt. */
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING }, 1);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "once"));
	took_ms = job_age(rig, attempt.job);
	ASSERT(took_ms >= LIMIT_GRACE_MS && took_ms <= LIMIT_GRACE_MS + 5000);
	rig_free(rig);
	PASS();
}

TEST age_of_retried_run_follows_passed_time(void)
{
	uint64_t run;
	struct rig *rig = begin(&run);
	struct rig_attempt attempt = rig_must_take(rig);

	rig_started(rig, attempt);
	rig_pass(rig, 1000);
	end(rig, attempt, 1000, 0);
	ASSERT_EQ(1000, run_age(rig, run));
	set_clock(rig, -TEN_YEARS_MS);
	rig_act(rig, ACT_RETRY, run, "a", 0);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	ASSERT_EQ(2000, run_age(rig, run));
	rig_free(rig);
	PASS();
}

SUITE(clock_ages)
{
	RUN_TEST(ages_of_live_jobs_follow_passed_time);
	RUN_TEST(clock_step_between_masters_adds_no_age);
	RUN_TEST(watchers_see_all_times_after_clock_step);
	RUN_TEST(age_of_lost_job_follows_passed_time);
	RUN_TEST(age_of_retried_run_follows_passed_time);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(clock_ages);
	GREATEST_MAIN_END();
}
