/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker that lacks what a start needs: its jobs return without cost, it gets none for a while (the rest), and is
 * tried again.
 */
#include "tests/unit/core_why.h"

#include <errno.h>

GREATEST_MAIN_DEFS();

static struct rec_worker_row worker_row(struct rig *rig, uint64_t number)
{
	struct rec_worker_row row = { 0 };

	CHECK(view_worker(rig->core, number, NULL, &row));
	return row;
}

static uint64_t submit(struct rig *rig, uint64_t mode, unsigned jobs)
{
	struct graph graph = { 0 };
	char name[16];

	for (unsigned i = 0; i < jobs; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		graph_job(&graph, name, "")->mode = mode;
	}
	return rig_submit(rig, &graph);
}

static void refuse(struct rig *rig, struct rig_attempt attempt, uint64_t code)
{
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_REFUSED, .code = code,
				 .ended_ms = rig->now.wall_ms };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

TEST refused_job_goes_to_another_worker_at_no_cost(void)
{
	static const uint64_t modes[] = { EXEC_RETRY, EXEC_ONCE, EXEC_EXCLUSIVE };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct rig *rig = rig_new();
		struct rig_attempt attempt;
		uint64_t run;

		rig_hello(rig, "poor", 1);
		run = submit(rig, modes[i], 1);
		attempt = rig_must_take(rig);
		rig_hello(rig, "rich", 1);
		refuse(rig, attempt, EMFILE);
		ASSERT_STR_EQ("sent: the job was given to worker rich, which hasn't reported the job's start", why(rig, run, "j0"));
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		ASSERT_EQ(1, rig_job(rig, attempt.job).tries);
		ASSERT_EQ(0, rig_job(rig, attempt.job).crashes);
		rig_free(rig);
	}
	PASS();
}

TEST refusing_worker_rests_for_longer_each_time(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "poor", 1), run = submit(rig, EXEC_RETRY, 1);
	int64_t rest_ms = LIMIT_REFUSED_REST_MS;

	for (int i = 0; i < 9; i++) {
		refuse(rig, rig_must_take(rig), ENOSPC);
		ASSERT_EQ_FMT((long long)rest_ms, (long long)worker_row(rig, 1).refused_ms, "%lld");
		ASSERT_EQ(ENOSPC, worker_row(rig, 1).refused_code);
		ASSERT_EQ(0, (int)rig_job(rig, 1).tries);
		for (int64_t waited = 0; waited < rest_ms - 1; waited += 1000) {
			struct rig_attempt none;

			rig_pass(rig, rest_ms - 1 - waited < 1000 ? rest_ms - 1 - waited : 1000);
			rig_heartbeat(rig, conn);
			ASSERT(!rig_take(rig, &none));
		}
		rig_pass(rig, 1);
		rest_ms = rest_ms * 2 < LIMIT_REFUSED_REST_MAX_MS ? rest_ms * 2 : LIMIT_REFUSED_REST_MAX_MS;
	}
	ASSERT_EQ(60000, rest_ms);
	ASSERT_STR_EQ("sent: the job was given to worker poor, which hasn't reported the job's start", why(rig, run, "j0"));
	rig_free(rig);
	PASS();
}

TEST start_ends_the_alarm_and_the_doubling(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "poor", 1);
	submit(rig, EXEC_RETRY, 2);
	for (int i = 0; i < 3; i++) {
		refuse(rig, rig_must_take(rig), EAGAIN);
		rig_pass(rig, LIMIT_REFUSED_REST_MS << i);
	}
	ASSERT_EQ(EAGAIN, worker_row(rig, 1).refused_code);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(0, worker_row(rig, 1).refused_code);
	refuse(rig, rig_must_take(rig), EAGAIN);
	ASSERT_EQ(LIMIT_REFUSED_REST_MS, (int)worker_row(rig, 1).refused_ms);
	rig_free(rig);
	PASS();
}

/*
 * Of four jobs sent together, one starts and three are refused: that counts as one refusal, so the worker rests once.
 */
TEST refusals_of_one_wave_are_one_rest(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt wave[4];

	rig_hello(rig, "poor", 4);
	submit(rig, EXEC_RETRY, 4);
	for (int i = 0; i < 4; i++)
		wave[i] = rig_must_take(rig);
	refuse(rig, wave[0], EMFILE);
	rig_started(rig, wave[1]);
	refuse(rig, wave[2], EMFILE);
	refuse(rig, wave[3], ENFILE);
	ASSERT_EQ(ENFILE, worker_row(rig, 1).refused_code);
	ASSERT_EQ(LIMIT_REFUSED_REST_MS, (int)worker_row(rig, 1).refused_ms);
	rig_pass(rig, LIMIT_REFUSED_REST_MS);
	refuse(rig, rig_must_take(rig), EMFILE);
	ASSERT_EQ(LIMIT_REFUSED_REST_MS, (int)worker_row(rig, 1).refused_ms);
	rig_free(rig);
	PASS();
}

TEST explain_names_the_worker_and_the_next_try(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig_hello(rig, "poor", 1);
	run = submit(rig, EXEC_RETRY, 1);
	refuse(rig, rig_must_take(rig), EMFILE);
	ASSERT_STR_EQ("worker_refuses: worker poor (Too many open files) can't start jobs; the master tries it again in 1 s",
		      why(rig, run, "j0"));
	rig_free(rig);
	PASS();
}

TEST new_keeper_is_tried_at_once(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_WORKER_HELLO };
	struct rig_attempt attempt;

	rig_hello(rig, "poor", 1);
	submit(rig, EXEC_RETRY, 1);
	refuse(rig, rig_must_take(rig), EMFILE);
	rig_gone(rig, rig->conn);
	input.conn = ++rig->conn;
	input.hello = (struct input_hello){ .name = slice_str("poor"), .instance = slice_str("fedcba9876543210"),
					    .slots = 1, .pid = 7 };
	rig_step(rig, &input);
	ASSERT_EQ(0, worker_row(rig, 1).refused_code);
	ASSERT(rig_take(rig, &attempt));
	rig_pass(rig, LIMIT_REFUSED_REST_MS);
	rig_free(rig);
	PASS();
}

TEST refused_job_that_was_cancelled_ends(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "poor", 1);
	run = submit(rig, EXEC_RETRY, 1);
	attempt = rig_must_take(rig);
	rig_cancel(rig, run, "");
	refuse(rig, attempt, EMFILE);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

TEST resting_worker_may_be_forgotten(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "poor", 1);

	submit(rig, EXEC_RETRY, 1);
	for (int i = 0; i < 7; i++) {
		refuse(rig, rig_must_take(rig), EMFILE);
		rig_pass(rig, i < 6 ? LIMIT_REFUSED_REST_MS << i : 1);
		rig_heartbeat(rig, conn);
	}
	rig_gone(rig, conn);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("poor") });
	rig_pass(rig, LIMIT_REFUSED_REST_MAX_MS);
	ASSERT(!view_worker(rig->core, 1, NULL, &(struct rec_worker_row){ 0 }));
	rig_free(rig);
	PASS();
}

SUITE(refused)
{
	RUN_TEST(refused_job_goes_to_another_worker_at_no_cost);
	RUN_TEST(refusing_worker_rests_for_longer_each_time);
	RUN_TEST(start_ends_the_alarm_and_the_doubling);
	RUN_TEST(refusals_of_one_wave_are_one_rest);
	RUN_TEST(explain_names_the_worker_and_the_next_try);
	RUN_TEST(new_keeper_is_tried_at_once);
	RUN_TEST(refused_job_that_was_cancelled_ends);
	RUN_TEST(resting_worker_may_be_forgotten);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(refused);
	GREATEST_MAIN_END();
}
