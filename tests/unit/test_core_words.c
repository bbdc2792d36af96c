/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a worker says at the edges: its HELLO, times and numbers that can't be, words twice or too late. */
#include "tests/unit/core_rig.h"

struct hello {
	const char *name;
	uint64_t slots;
	size_t instance_len, labels;
};

/* ERR_NONE if it was welcomed. */
static enum err hello(struct rig *rig, struct hello hello)
{
	static char names[LIMIT_LABELS_MAX + 1][8];
	struct slice labels[LIMIT_LABELS_MAX + 1];
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	for (size_t i = 0; i < hello.labels; i++) {
		snprintf(names[i], sizeof(names[i]), "l%u", (unsigned)i);
		labels[i] = slice_str(names[i]);
	}
	input.hello = (struct input_hello){ .name = slice_str(hello.name), .slots = hello.slots, .pid = 9,
		.instance = slice_make("0123456789abcdefg", hello.instance_len), .labels = { .at = labels, .n = hello.labels } };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	return rig_frames(rig, OP_WELCOME, NULL) ? ERR_NONE : (enum err)rig->error.code;
}

TEST hello_has_edges(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(ERR_NONE, hello(rig, (struct hello){ "a", 1, 16, 0 }));
	ASSERT_EQ(ERR_NONE, hello(rig, (struct hello){ "b", LIMIT_SLOTS_MAX, 0, LIMIT_LABELS_MAX }));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c", 0, 16, 0 }));
	ASSERT(rig_error_says(rig, ERR_INVALID, "slots: 0 is not within"));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c", LIMIT_SLOTS_MAX + 1, 16, 0 }));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c", 1, 17, 0 }));
	ASSERT(rig_error_says(rig, ERR_INVALID, "instance: over 16 bytes"));
	ASSERT_EQ(ERR_TOO_LARGE, hello(rig, (struct hello){ "c", 1, 16, LIMIT_LABELS_MAX + 1 }));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c d", 1, 16, 0 }));
	rig_free(rig);
	PASS();
}

static struct rig *rig_running(struct rig_attempt *ret_attempt, uint64_t retry_max)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = retry_max;
	rig_submit(rig, &graph);
	*ret_attempt = rig_must_take(rig);
	return rig;
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

TEST numbers_are_clamped(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 0);
	struct row_job *row;

	say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_EXIT, .code = UINT64_MAX, .started_ms = -5, .ended_ms = -5,
						  .cpu_us = UINT64_MAX, .rss_kib = UINT64_MAX, .out_bytes = UINT64_MAX });
	row = &rig->tables[TABLE_job].at[0].row.job;
	ASSERT_EQ(STATE_FAILED, row->state);
	ASSERT_EQ(UINT32_MAX, row->code);
	ASSERT_EQ(UINT32_MAX, row->rss_kib);
	ASSERT_EQ(INT64_MAX, row->cpu_us);
	ASSERT_EQ(INT64_MAX, row->out_bytes);
	ASSERT_EQ(0, row->started_ms);
	ASSERT(row->ended_ms > 0);
	rig_free(rig);
	PASS();
}

/* A worker whose clock is nonsense, or that says so, doesn't make rows that no master could load. */
TEST times_that_cannot_be_are_none(void)
{
	static const int64_t times[] = { INT64_MIN, -1, INT64_MAX / 2 + 1, INT64_MAX };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_started begun = { .wall_ms = times[i], .pid = 5 };
		struct core_input input = { .kind = INPUT_STARTED, .started = { .at = &begun, .n = 1 } };
		struct rig_attempt attempt;

		input.conn = rig_hello(rig, "w", 1);
		graph_job(&graph, "a", "")->timeout_ms = 60000;
		graph_job(&graph, "b", "");
		rig_submit(rig, &graph);
		attempt = rig_must_take(rig);
		begun.job = attempt.job;
		begun.epoch = attempt.epoch;
		rig_step(rig, &input);
		ASSERT_EQ(0, rig_job(rig, attempt.job).started_ms);
		say_done(rig, attempt, (struct rec_done){ .outcome = OUTCOME_EXIT, .started_ms = times[i], .ended_ms = times[i] });
		ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, attempt.job));
		ASSERT_EQ(0, rig_job(rig, attempt.job).started_ms);
		ASSERT_EQ(rig->now.wall_ms, rig_job(rig, attempt.job).ended_ms);
		rig_restart(rig);
		ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, attempt.job));
		rig_free(rig);
	}
	PASS();
}

/* What isn't an outcome that a worker can know is one that nobody saw. */
TEST unknown_outcomes(void)
{
	static const enum outcome outcomes[] = { OUTCOME_NONE, OUTCOME_LOST, OUTCOME_COUNT, OUTCOME_COUNT + 7 };

	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		struct rig_attempt attempt;
		struct rig *rig = rig_running(&attempt, 0);

		say_done(rig, attempt, (struct rec_done){ .outcome = outcomes[i], .started_ms = 5, .ended_ms = 6 });
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
		ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, rig->tables[TABLE_job].at[0].row.job.outcome);
		ASSERT_EQ(1, rig->tables[TABLE_job].at[0].row.job.crashes);
		rig_free(rig);
	}
	PASS();
}

TEST a_result_twice_counts_once(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 1);
	struct rec_worker_row worker;
	struct core_totals totals;

	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	ASSERT_EQ(1, rig_frames(rig, OP_ACK, NULL));
	view_totals(rig->core, &totals);
	ASSERT_EQ_FMT((uint64_t)1, totals.stale_results, "%lu");
	ASSERT(view_worker(rig->core, 1, &rig->arena, &worker));
	ASSERT_EQ(1, worker.done);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(1, rig->tables[TABLE_job].at[0].row.job.tries);
	rig_free(rig);
	PASS();
}

/* Of an attempt that just began nothing is known, whatever the one before it came to. */
TEST facts_are_of_one_attempt(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 1);
	struct rec_job_row row;

	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 7);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_DELAYED, row.state);
	ASSERT(row.started_ms > 0 && row.code == 7 && row.cpu_us == 11 && row.rss_kib == 22 && row.out_bytes == 33);
	rig_pass(rig, 2000);
	row = rig_job(rig, attempt.job);
	ASSERT_EQ(STATE_ASSIGNED, row.state);
	ASSERT_EQ(OUTCOME_NONE, row.outcome);
	ASSERT(row.started_ms == 0 && row.code == 0 && row.cpu_us == 0 && row.rss_kib == 0 && row.out_bytes == 0);
	rig_free(rig);
	PASS();
}

/* Nobody's fault: it waits as after a first failure, however often it was lost before. */
TEST one_whose_worker_was_told_to_end_waits_briefly(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	struct rig_attempt attempt;
	uint64_t conn = rig_hello(rig, "w", 1);

	job->backoff_ms = 1000;
	job->backoff_exact = true;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(OUTCOME_LOST, rig_job(rig, attempt.job).outcome);
	ASSERT_EQ(rig->now.wall_ms + 1000, rig_job(rig, attempt.job).due_ms);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 1000);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_STOPPED, 15);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	ASSERT_EQ(1, rig_job(rig, attempt.job).crashes);
	ASSERT_EQ(rig->now.wall_ms + 1000, rig_job(rig, attempt.job).due_ms);
	rig_free(rig);
	PASS();
}

/* Who asks for a first wait that is longer than others ever are has it, also over a restart. */
TEST a_first_wait_may_be_the_longest(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	int64_t due_ms;

	job->retry_max = 3;
	job->backoff_ms = 4 * LIMIT_RETRY_BACKOFF_MAX_MS;
	job->backoff_exact = true;
	rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	due_ms = rig->now.wall_ms + 4 * LIMIT_RETRY_BACKOFF_MAX_MS;
	ASSERT_EQ(due_ms, rig_job(rig, 1).due_ms);
	rig_restart(rig);
	ASSERT_EQ(due_ms, rig_job(rig, 1).due_ms);
	rig_free(rig);
	PASS();
}

/* Exact: one retry waits for at least a second, and not for longer than a quarter more. */
TEST backoff_is_within_its_bounds(void)
{
	struct rig_attempt attempt;
	struct rig *rig = rig_running(&attempt, 40);

	for (unsigned failures = 1; failures <= 9; failures++) {
		int64_t least = failures > 5 ? LIMIT_RETRY_BACKOFF_MAX_MS : LIMIT_RETRY_BACKOFF_MS << (failures - 1);

		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_EXIT, 1);
		rig_heartbeat(rig, attempt.conn);
		for (int64_t left = least - 1; left > 0; left -= 5000) {
			rig_pass(rig, left < 5000 ? left : 5000);
			rig_heartbeat(rig, attempt.conn);
		}
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
		for (int64_t left = least / 4 + 2; left > 0; left -= 5000) {
			rig_pass(rig, left < 5000 ? left : 5000);
			rig_heartbeat(rig, attempt.conn);
		}
		ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
		attempt = rig_must_take(rig);
	}
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(hello_has_edges);
	RUN_TEST(numbers_are_clamped);
	RUN_TEST(times_that_cannot_be_are_none);
	RUN_TEST(unknown_outcomes);
	RUN_TEST(a_result_twice_counts_once);
	RUN_TEST(facts_are_of_one_attempt);
	RUN_TEST(one_whose_worker_was_told_to_end_waits_briefly);
	RUN_TEST(a_first_wait_may_be_the_longest);
	RUN_TEST(backoff_is_within_its_bounds);
	GREATEST_MAIN_END();
}
