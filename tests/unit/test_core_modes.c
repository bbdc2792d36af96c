/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs whose worker was lost, by mode: a job with mode once waits until a person or late evidence says whether it ran.
 */
#include "tests/unit/core_rig.h"

static struct rig *rig;
static struct rig_attempt attempt;
static uint64_t conn;

/* Assign one job of this mode to a worker with one slot. */
static void begin(enum exec_mode mode)
{
	struct graph graph = { 0 };

	rig = rig_new();
	conn = rig_hello(rig, "w", 1);
	graph_job(&graph, "j", "")->mode = mode;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
}

static void lose_worker(void)
{
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
}

static void come_back(enum attempt_phase phase)
{
	struct rec_held held = { .job = attempt.job, .epoch = attempt.epoch, .phase = phase };

	attempt.conn = rig_hello_held(rig, "w", 1, &held, 1);
}

TEST once_job_lost_while_running_is_unknown(void)
{
	begin(EXEC_ONCE);
	rig_started(rig, attempt);
	lose_worker();
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_hello(rig, "other", 4);
	ASSERT_EQ(0, rig->assigned_count - rig->assigned_first);
	rig_restart(rig);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

TEST once_job_lost_while_assigned_is_unknown(void)
{
	begin(EXEC_ONCE);
	lose_worker();
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

TEST once_job_that_keeper_never_had_is_assigned_again(void)
{
	begin(EXEC_ONCE);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, attempt.job));
	ASSERT_EQ(attempt.epoch + 1, rig_must_take(rig).epoch);
	rig_free(rig);
	PASS();
}

TEST unknown_job_runs_on_when_worker_returns(void)
{
	begin(EXEC_ONCE);
	rig_started(rig, attempt);
	lose_worker();
	come_back(PHASE_RUNNING);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, attempt.job));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

/*
 * A job that its returning worker still runs gets a whole time-out from that moment; the one from before the loss is
 * void.
 */
TEST returned_job_has_its_whole_timeout_again(void)
{
	struct graph graph = { 0 };
	uint64_t other, job;

	rig = rig_new();
	other = rig_hello(rig, "other", 1);
	graph_job(&graph, "k", "")->timeout_ms = 2 * (uint64_t)LIMIT_GRACE_MS;
	rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));   /* the timer of this job is due before the other job's */
	conn = rig_hello(rig, "w", 1);
	graph_job(&graph, "j", "")->mode = EXEC_ONCE;
	graph.jobs[0].timeout_ms = 3 * (uint64_t)LIMIT_GRACE_MS;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	job = attempt.job;
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	for (int64_t ms = 0; ms < LIMIT_GRACE_MS; ms += LIMIT_HEARTBEAT_MS) {
		rig_pass(rig, LIMIT_HEARTBEAT_MS);
		rig_heartbeat(rig, other);
	}
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, job));
	come_back(PHASE_RUNNING);
	for (int64_t ms = LIMIT_HEARTBEAT_MS; ms < 3 * LIMIT_GRACE_MS; ms += LIMIT_HEARTBEAT_MS) {
		rig_pass(rig, LIMIT_HEARTBEAT_MS);
		rig_heartbeat(rig, other);
		rig_heartbeat(rig, attempt.conn);
		ASSERT_EQ(STATE_RUNNING, rig_state(rig, job));
	}
	rig_pass(rig, LIMIT_HEARTBEAT_MS);
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, job));
	rig_free(rig);
	PASS();
}

/* Make a fan-out in which a failed member ends the others, and one of those is in state unknown: it keeps its lock. */
static void fan_out_fails(void)
{
	struct graph graph = { 0 };
	struct slice lock = slice_str("db");
	struct rig_attempt other;

	rig = rig_new();
	conn = rig_hello(rig, "w", 1);
	for (int i = 0; i < 2; i++) {
		struct rec_job_spec *spec = graph_job(&graph, i ? "f[1]" : "f[0]", "");

		spec->group = 1;
		spec->group_fail_fast = true;
		spec->mode = EXEC_ONCE;
	}
	graph.jobs[0].locks = (struct slice_list){ .at = &lock, .n = 1 };
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	lose_worker();
	rig_hello(rig, "other", 1);
	other = rig_must_take(rig);
	rig_started(rig, other);
	rig_done(rig, other, OUTCOME_EXIT, 1);
}

TEST unknown_member_of_failed_fan_out_waits_for_evidence(void)
{
	static const struct rec_done ends[] = {
		{ .outcome = OUTCOME_EXIT, .started_ms = 7, .ended_ms = 9 },
		{ .outcome = OUTCOME_RECALLED },
	};

	for (int i = 0; i < 4; i++) {
		struct rec_done done = ends[i % 2];
		struct core_input input = { .kind = INPUT_DONE, .done = { .at = &done, .n = 1 } };

		fan_out_fails();
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("db") });
		ASSERT(rig_error_says(rig, ERR_BUSY, "db"));
		if (i > 1)
			rig_restart(rig);
		come_back(PHASE_ENDED);
		done.job = attempt.job;
		done.epoch = attempt.epoch;
		input.conn = attempt.conn;
		rig_step(rig, &input);
		ASSERT_EQ(i % 2 ? STATE_CANCELLED : STATE_SUCCEEDED, rig_state(rig, attempt.job));
		/* Only members that were stopped have a cause; those that ended by themselves have none. */
		ASSERT_EQ(i % 2 ? rig_named(rig, 1, "f[1]") + 1 : 0, rig_job(rig, attempt.job).cause);
		rig_free(rig);
	}
	PASS();
}

TEST unknown_member_of_failed_fan_out_is_stopped_on_return(void)
{
	struct outgoing frame = { 0 };

	for (int restarts = 0; restarts < 2; restarts++) {
		fan_out_fails();
		if (restarts)
			rig_restart(rig);
		come_back(PHASE_RUNNING);
		ASSERT_EQ(1, rig_frames(rig, OP_STOP, &frame));
		ASSERT_EQ(attempt.job, frame.stop.job);
		ASSERT_EQ(STATE_STOPPING, rig_state(rig, attempt.job));
		rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
		ASSERT_EQ(STATE_CANCELLED, rig_state(rig, attempt.job));
		rig_free(rig);
	}
	PASS();
}

TEST unknown_member_of_failed_fan_out_can_be_settled(void)
{
	for (uint64_t word = SETTLE_DONE; word <= SETTLE_RETRY; word++) {
		fan_out_fails();
		rig_act(rig, ACT_SETTLE, 1, "f[0]", word);
		ASSERT_EQ(0, rig_job(rig, attempt.job).cause);
		ASSERT_EQ(word == SETTLE_DONE ? EVENT_PERSON_DONE : word == SETTLE_FAILED ? EVENT_PERSON_FAILED : 0,
			  rig_job(rig, attempt.job).ended_by);
		ASSERT_EQ(word == SETTLE_DONE ? STATE_SUCCEEDED : word == SETTLE_FAILED ? STATE_FAILED : STATE_ASSIGNED,
			  rig_state(rig, attempt.job));
		rig_free(rig);
	}
	fan_out_fails();
	rig_cancel(rig, 1, "f[0]");
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

/* A worker with a job in state unknown isn't forgotten: under another number its job would be killed at its return. */
TEST worker_of_unknown_job_is_not_forgotten(void)
{
	const struct msg_set forget = { .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("w") };

	begin(EXEC_ONCE);
	rig_started(rig, attempt);
	lose_worker();
	rig_set(rig, forget);
	ASSERT(rig_error_says(rig, ERR_BUSY, "may still run job 1/j, "));
	come_back(PHASE_RUNNING);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, attempt.job));
	rig_gone(rig, attempt.conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	rig_act(rig, ACT_SETTLE, 1, "j", SETTLE_DONE);
	rig_set(rig, forget);
	ASSERT_EQ(1, rig->ok.count);
	rig_free(rig);
	PASS();
}

/* A worker that has no unknown job is forgotten. */
TEST worker_without_unknown_job_is_forgotten(void)
{
	begin(EXEC_ONCE);
	rig_started(rig, attempt);
	lose_worker();
	rig_gone(rig, rig_hello(rig, "other", 1));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("other") });
	ASSERT_EQ(1, rig->ok.count);
	rig_free(rig);
	PASS();
}

/* A job was lost and came back at once, so both time-outs are due together; only one of them may act. */
TEST job_returned_at_once_has_one_timeout(void)
{
	struct graph graph = { 0 };
	uint64_t other, job;

	rig = rig_new();
	other = rig_hello(rig, "other", 1);
	graph_job(&graph, "k", "")->timeout_ms = LIMIT_HEARTBEAT_MS;
	rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));   /* the timer of this job is due before the other jobs' */
	conn = rig_hello(rig, "w", 1);
	graph_job(&graph, "j", "")->mode = EXEC_ONCE;
	graph.jobs[0].timeout_ms = 2 * (uint64_t)LIMIT_HEARTBEAT_MS;
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	job = attempt.job;
	rig_started(rig, attempt);
	conn = rig_hello(rig, "w", 1);          /* and has nothing */
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, job));
	come_back(PHASE_RUNNING);
	core_check(rig->core);
	for (int64_t ms = 0; ms < 2 * LIMIT_HEARTBEAT_MS; ms += LIMIT_HEARTBEAT_MS) {
		ASSERT_EQ(STATE_RUNNING, rig_state(rig, job));
		rig_pass(rig, LIMIT_HEARTBEAT_MS);
		rig_heartbeat(rig, other);
		rig_heartbeat(rig, attempt.conn);
	}
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, job));
	rig_free(rig);
	PASS();
}

TEST late_result_ends_unknown_job(void)
{
	static const struct {
		enum outcome outcome;
		uint64_t code;
		enum job_state state;
	} cases[] = {
		{ OUTCOME_EXIT, 0, STATE_SUCCEEDED }, { OUTCOME_EXIT, 3, STATE_FAILED },
		{ OUTCOME_SIGNAL, 9, STATE_FAILED }, { OUTCOME_EXIT_UNKNOWN, 0, STATE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(EXEC_ONCE);
		rig_started(rig, attempt);
		lose_worker();
		come_back(PHASE_ENDED);
		ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
		rig_done(rig, attempt, cases[i].outcome, cases[i].code);
		ASSERT_EQ_FMT((int)cases[i].state, (int)rig_state(rig, attempt.job), "%d");
		rig_free(rig);
	}
	PASS();
}

/* A late result has the time at which the job really ended, not when the master heard of it. */
TEST late_result_keeps_its_times(void)
{
	struct rec_done done = { .outcome = OUTCOME_EXIT, .started_ms = 5000, .ended_ms = 7000 };
	struct core_input input = { .kind = INPUT_DONE, .done = { .at = &done, .n = 1 } };

	begin(EXEC_ONCE);
	rig_started(rig, attempt);
	lose_worker();
	come_back(PHASE_ENDED);
	done.job = attempt.job;
	done.epoch = attempt.epoch;
	input.conn = attempt.conn;
	rig_step(rig, &input);
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, attempt.job));
	ASSERT_EQ(5000, rig_job(rig, attempt.job).started_ms);
	ASSERT_EQ(7000, rig_job(rig, attempt.job).ended_ms);
	rig_free(rig);
	PASS();
}

TEST once_job_with_unseen_exit_is_unknown(void)
{
	begin(EXEC_ONCE);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT_UNKNOWN, 0);
	ASSERT_EQ(STATE_UNKNOWN, rig_state(rig, attempt.job));
	rig_cancel(rig, 1, "");
	ASSERT_EQ(0, rig->errors);
	rig_free(rig);
	PASS();
}

TEST once_excludes_retries(void)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job;

	rig = rig_new();
	job = graph_job(&graph, "j", "");
	job->mode = EXEC_ONCE;
	job->retry_max = 1;
	rig_submit(rig, &graph);
	ASSERT_EQ(1, rig->errors);
	ASSERT_EQ(ERR_INVALID, rig->error.code);
	rig_free(rig);
	PASS();
}

TEST exclusive_is_given_again_after_the_grace(void)
{
	begin(EXEC_EXCLUSIVE);
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_hello(rig, "other", 1);
	rig_pass(rig, LIMIT_GRACE_MS - 1);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, attempt.job));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, attempt.job));
	rig_free(rig);
	PASS();
}

SUITE(modes)
{
	RUN_TEST(once_job_lost_while_running_is_unknown);
	RUN_TEST(once_job_lost_while_assigned_is_unknown);
	RUN_TEST(once_job_that_keeper_never_had_is_assigned_again);
	RUN_TEST(unknown_job_runs_on_when_worker_returns);
	RUN_TEST(returned_job_has_its_whole_timeout_again);
	RUN_TEST(unknown_member_of_failed_fan_out_waits_for_evidence);
	RUN_TEST(unknown_member_of_failed_fan_out_is_stopped_on_return);
	RUN_TEST(unknown_member_of_failed_fan_out_can_be_settled);
	RUN_TEST(worker_of_unknown_job_is_not_forgotten);
	RUN_TEST(worker_without_unknown_job_is_forgotten);
	RUN_TEST(job_returned_at_once_has_one_timeout);
	RUN_TEST(late_result_ends_unknown_job);
	RUN_TEST(late_result_keeps_its_times);
	RUN_TEST(once_job_with_unseen_exit_is_unknown);
	RUN_TEST(once_excludes_retries);
	RUN_TEST(exclusive_is_given_again_after_the_grace);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(modes);
	GREATEST_MAIN_END();
}
