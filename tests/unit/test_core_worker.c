/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers: joining, leaving, reconnecting with attempts; sharing of jobs, prefetch, recall. */
#include "tests/unit/core_rig.h"

#include "proto/reasons.h"

static uint64_t submit_jobs(struct rig *rig, int count)
{
	struct graph graph = { 0 };
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "");
	}
	return rig_submit(rig, &graph);
}

static struct rec_worker_row worker_row(struct rig *rig, uint64_t number)
{
	struct rec_worker_row row = { 0 };

	CHECK(view_worker(rig->core, number, &rig->arena, &row));
	return row;
}

TEST seen_time_survives_a_restart(void)
{
	struct rig *rig = rig_new();
	int64_t came_ms = rig->now.wall_ms;

	rig_hello(rig, "w", 1);
	rig_wait(rig, 5);
	rig_restart(rig);
	ASSERT_EQ(came_ms, worker_row(rig, 1).seen_ms);
	rig_free(rig);
	PASS();
}

TEST welcome_comes_before_other_frames(void)
{
	struct rig *rig = rig_new();

	submit_jobs(rig, 1);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(OP_WELCOME, rig->out.frames[0].op);
	ASSERT_EQ(1, rig->out.frames[0].welcome.generation);
	ASSERT_EQ(1, rig->out.frames[0].welcome.boot);
	ASSERT_EQ(LIMIT_LEASE_MS, rig->out.frames[0].welcome.lease_ms);
	ASSERT_EQ(OP_ASSIGN, rig->out.frames[1].op);
	ASSERT_EQ(UINT64_C(1) << 32 | 1, rig->out.frames[1].assign.epoch);
	rig_free(rig);
	PASS();
}

TEST bad_hello_is_refused(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "bad name", 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "name"));
	ASSERT(rig->out.frames[0].close);
	rig_hello(rig, "w", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "slots"));
	rig_hello(rig, "w", LIMIT_SLOTS_MAX + 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "slots"));
	ASSERT_EQ(0, view_worker_after(rig->core, 0));
	rig_free(rig);
	PASS();
}

TEST newer_connection_replaces_an_older_one(void)
{
	struct rig *rig = rig_new();
	struct outgoing error;
	struct rig_attempt attempt;
	struct rec_held held;
	uint64_t old = rig_hello(rig, "w", 1);

	submit_jobs(rig, 1);
	attempt = rig_must_take(rig);
	held = (struct rec_held){ .job = attempt.job, .epoch = attempt.epoch, .phase = PHASE_QUEUED };
	rig_hello_held(rig, "w", 1, &held, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_ERROR, &error));
	ASSERT_EQ(old, error.conn);
	ASSERT(error.close);
	rig_gone(rig, old);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	attempt.conn = rig->conn;
	rig_started(rig, attempt);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	ASSERT_EQ(0, view_worker_after(rig->core, 1));
	rig_free(rig);
	PASS();
}

static uint64_t hello_of(struct rig *rig, const char *instance)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){ .name = slice_str("w"), .instance = slice_str(instance), .slots = 1, .pid = 77 };
	rig_step(rig, &input);
	return input.conn;
}

/* Two processes have the name and the key of one worker: the first one keeps its jobs while its lease lives. */
TEST second_life_is_refused_while_the_lease_of_the_first_lives(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	submit_jobs(rig, 1);
	conn = hello_of(rig, "0123456789abcdef");
	rig_started(rig, rig_must_take(rig));
	hello_of(rig, "fedcba9876543210");
	ASSERT(rig_error_says(rig, ERR_BUSY, "worker w is connected already, as process 77"));
	ASSERT_EQ(conn + 1, rig->out.frames[0].conn);
	ASSERT(rig->out.frames[0].close);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	/* The first process is gone: its name is free at once. */
	rig_gone(rig, conn);
	hello_of(rig, "fedcba9876543210");
	ASSERT(rig_frames(rig, OP_WELCOME, NULL) == 1);
	rig_free(rig);
	PASS();
}

TEST second_life_is_welcome_when_the_first_was_silent_for_its_lease(void)
{
	struct rig *rig = rig_new();

	hello_of(rig, "0123456789abcdef");
	rig_wait(rig, LIMIT_LEASE_MS + 1);
	hello_of(rig, "fedcba9876543210");
	ASSERT(rig_frames(rig, OP_WELCOME, NULL) == 1);
	rig_free(rig);
	PASS();
}

TEST same_life_on_a_newer_connection_replaces_the_older_one(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = hello_of(rig, "0123456789abcdef");

	hello_of(rig, "0123456789abcdef");
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "another connection"));
	ASSERT_EQ(conn, rig->out.frames[0].conn);
	ASSERT(rig_frames(rig, OP_WELCOME, NULL) == 1);
	rig_free(rig);
	PASS();
}

/* A HELLO of an older connection that was read late is refused: it doesn't know what was assigned since. */
TEST older_connection_is_refused_behind_a_newer_one(void)
{
	struct rig *rig = rig_new();
	struct core_input late = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
	struct rig_attempt attempt;
	uint64_t conn;

	submit_jobs(rig, 1);
	conn = rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	late.hello = (struct input_hello){ .name = slice_str("w"), .instance = slice_str("0123456789abcdef"), .slots = 1 };
	rig_step(rig, &late);
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "newer connection"));
	ASSERT_EQ(late.conn, rig->out.frames[0].conn);
	ASSERT(rig->out.frames[0].close);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	/* The late HELLO is refused also if the newer connection is gone by now. */
	rig_gone(rig, conn);
	late.conn = conn - 1;
	rig_step(rig, &late);
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "newer connection"));
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST stuck_processes_are_shown_until_gone(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row = { 0 };
	struct core_input input = { .kind = INPUT_HEARTBEAT };
	uint64_t stuck[] = { 1, 77 };
	struct rig_attempt attempt;
	struct outgoing echo;

	input.conn = rig_hello(rig, "w", 2);
	submit_jobs(rig, 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, 1, "");
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, 1));
	stuck[0] = attempt.job;
	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 5, .stuck = { stuck, 2 } };
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_frames(rig, OP_HEARTBEAT, &echo));
	ASSERT_EQ(5, echo.heartbeat.sent_ns);
	ASSERT_EQ(0, echo.heartbeat.stuck.n);
	ASSERT_EQ(2, worker_row(rig, 1).stuck);
	ASSERT(slice_eq(worker_row(rig, 1).stuck_jobs.at[0], slice_str("1/j0")));
	ASSERT(slice_eq(worker_row(rig, 1).stuck_jobs.at[1], slice_str("job 77")));
	ASSERT(view_explain(rig->core, attempt.job, &rig->arena, &row));
	ASSERT_EQ(REASON_STUCK, row.why_code);
	ASSERT_EQ(1, worker_row(rig, 1).busy);
	/* A new connection reports anew which attempts the worker has. */
	rig_hello_held(rig, "w", 2, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_RUNNING }, 1);
	ASSERT_EQ(0, worker_row(rig, 1).stuck);
	input.conn = rig->conn;
	rig_step(rig, &input);
	ASSERT_EQ(2, worker_row(rig, 1).stuck);
	input.heartbeat.stuck.n = 0;
	rig_step(rig, &input);
	ASSERT_EQ(0, worker_row(rig, 1).stuck);
	ASSERT(view_explain(rig->core, attempt.job, &rig->arena, &row));
	ASSERT_EQ(REASON_STOPPING, row.why_code);
	rig_free(rig);
	PASS();
}

TEST worker_is_lost_after_the_grace(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running, stopping, queued;
	uint64_t conn = rig_hello(rig, "w", 3);

	submit_jobs(rig, 3);
	running = rig_must_take(rig);
	stopping = rig_must_take(rig);
	queued = rig_must_take(rig);
	rig_started(rig, running);
	rig_started(rig, stopping);
	rig_cancel(rig, 1, "j1");
	rig_gone(rig, conn);
	ASSERT_EQ(WORKER_UNREACHABLE, worker_row(rig, 1).state);
	rig_pass(rig, LIMIT_GRACE_MS - 1);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, running.job));
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, queued.job));
	rig_pass(rig, 1);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, running.job));
	ASSERT_EQ(1, rig_job(rig, running.job).crashes);
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, stopping.job));
	ASSERT_EQ(STATE_READY, rig_state(rig, queued.job));
	ASSERT_EQ(0, rig_job(rig, queued.job).crashes);
	ASSERT_EQ(0, rig_job(rig, queued.job).tries);

	/* The worker returns after it was lost: its attempts are stale. */
	struct rec_held held[2] = {
		{ running.job, running.epoch, PHASE_RUNNING }, { queued.job, queued.epoch, PHASE_ENDED },
	};
	struct outgoing stop;

	rig_hello_held(rig, "w", 1, held, 2);
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, &stop));
	ASSERT_EQ(running.job, stop.stop.job);
	ASSERT_EQ(0, stop.stop.grace_ms);
	ASSERT_GT(rig_job(rig, queued.job).epoch, queued.epoch);
	rig_free(rig);
	PASS();
}

TEST worker_back_within_the_grace_keeps_its_jobs(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt at[5];
	struct outgoing stop;
	uint64_t conn = rig_hello(rig, "w", 5);
	struct rec_held held[5];

	submit_jobs(rig, 5);
	for (int i = 0; i < 5; i++)
		at[i] = rig_must_take(rig);
	rig_started(rig, at[0]);
	rig_started(rig, at[1]);
	rig_cancel(rig, 1, "j1");
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	/*
	 * Attempt 0 runs on, 1 was to be stopped, 2 started, 3 ended, 4 never arrived; and one attempt is unknown to
	 * the master.
	 */
	held[0] = (struct rec_held){ at[0].job, at[0].epoch, PHASE_RUNNING };
	held[1] = (struct rec_held){ at[1].job, at[1].epoch, PHASE_RUNNING };
	held[2] = (struct rec_held){ at[2].job, at[2].epoch, PHASE_RUNNING };
	held[3] = (struct rec_held){ at[3].job, at[3].epoch, PHASE_ENDED };
	held[4] = (struct rec_held){ 999, 5, PHASE_QUEUED };
	rig_hello_held(rig, "w", 5, held, 5);
	ASSERT_EQ(2, rig_frames(rig, OP_STOP, &stop));
	ASSERT_EQ(999, stop.stop.job);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, at[0].job));
	ASSERT_EQ(STATE_STOPPING, rig_state(rig, at[1].job));
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, at[2].job));
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, at[3].job));
	ASSERT_EQ(at[3].epoch, rig_job(rig, at[3].job).epoch);
	/* the attempt was lost at once, and its job assigned again */
	ASSERT_EQ(at[4].epoch + 1, rig_job(rig, at[4].job).epoch);
	for (int i = 0; i < 4; i++) {
		at[i].conn = rig->conn;
		rig_done(rig, at[i], OUTCOME_EXIT, 0);
	}
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, at[3].job));
	ASSERT_EQ(STATE_CANCELLED, rig_state(rig, at[1].job));
	rig_pass(rig, LIMIT_GRACE_MS); /* the grace that began with the lost connection would be over by now */
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, at[0].job));
	rig_free(rig);
	PASS();
}

TEST result_of_an_older_epoch_is_ignored(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt first, second;
	struct rec_held held;
	struct outgoing stop = { 0 };

	rig_hello(rig, "w", 1);
	submit_jobs(rig, 1);
	first = rig_must_take(rig);
	rig_gone(rig, first.conn);
	rig_hello(rig, "w", 1);          /* the worker reports no attempts, so the job is assigned to it again */
	second = rig_must_take(rig);
	ASSERT_EQ(first.epoch + 1, second.epoch);
	held = (struct rec_held){ first.job, first.epoch, PHASE_RUNNING };
	rig_hello_held(rig, "w", 1, &held, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, &stop));
	ASSERT_EQ(first.epoch, stop.stop.epoch);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, first.job));
	ASSERT_EQ(second.epoch + 1, rig_job(rig, first.job).epoch);
	rig_free(rig);
	PASS();
}

TEST silent_worker_becomes_unreachable(void)
{
	struct rig *rig = rig_new();
	struct outgoing beat;
	uint64_t conn = rig_hello(rig, "w", 1);

	rig_heartbeat(rig, conn);
	ASSERT_EQ(1, rig_frames(rig, OP_HEARTBEAT, &beat));
	ASSERT_EQ(77, beat.heartbeat.sent_ns);
	ASSERT_EQ(0, rig->out.row_count);
	rig_pass(rig, LIMIT_LEASE_MS);
	ASSERT_EQ(WORKER_UNREACHABLE, worker_row(rig, 1).state);
	submit_jobs(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_heartbeat(rig, conn);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_pass(rig, LIMIT_GRACE_MS - LIMIT_LEASE_MS - 1);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	ASSERT(rig_error_says(rig, ERR_TIMEOUT, "silent"));
	rig_free(rig);
	PASS();
}

TEST restart_gives_workers_a_full_grace(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_jobs(rig, 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig->now.mono_ns = rig->now.boot_ns = 1; /* the machine was rebooted */
	rig->config.boot_id++;
	rig->now.wall_ms += 10000000;
	rig_restart(rig);
	ASSERT_EQ(WORKER_UNREACHABLE, worker_row(rig, 1).state);
	rig_pass(rig, LIMIT_GRACE_MS - 1);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, 1));
	rig_pass(rig, 1);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

static void say_end(struct rig *rig, uint64_t conn)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT, .conn = conn, .heartbeat = { .sent_ns = 5, .ending = true } };
	struct outgoing echo = { 0 };

	rig_step(rig, &input);
	rig_frames(rig, OP_HEARTBEAT, &echo);
	CHECK(echo.heartbeat.ending);
}

TEST worker_that_ended_in_order_is_ended(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);

	say_end(rig, conn);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	submit_jobs(rig, 1);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));           /* the worker gets no more jobs */
	rig_gone(rig, conn);
	ASSERT_EQ(WORKER_ENDED, worker_row(rig, 1).state);
	rig_restart(rig);
	ASSERT_EQ(WORKER_ENDED, worker_row(rig, 1).state);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(WORKER_ENDED, worker_row(rig, 1).state);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* The jobs of a worker that ended may still run, so people must see that the master can't reach them. */
TEST worker_that_ended_with_jobs_is_unreachable(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);
	struct rig_attempt attempt;

	submit_jobs(rig, 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	say_end(rig, conn);
	rig_gone(rig, conn);
	ASSERT_EQ(WORKER_UNREACHABLE, worker_row(rig, 1).state);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(1, rig_job(rig, 1).crashes);
	ASSERT_EQ(WORKER_ENDED, worker_row(rig, 1).state);
	rig_free(rig);
	PASS();
}

TEST quitting_worker_is_assigned_no_job(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	submit_jobs(rig, 1);
	attempt = rig_must_take(rig);
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_frames(rig, OP_QUIT, NULL));
	rig_done(rig, attempt, OUTCOME_STOPPED, 0);
	ASSERT_EQ(0, rig_job(rig, 1).crashes);
	ASSERT_EQ(1, rig_job(rig, 1).tries);           /* the attempt had started */
	ASSERT_EQ(1, rig_job(rig, 1).interrupted);
	rig_pass(rig, 2000);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_hello(rig, "w", 1);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST jobs_are_shared_among_workers(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "small", 2);
	rig_hello(rig, "large", 8);
	submit_jobs(rig, 5);
	ASSERT_EQ(1, worker_row(rig, 1).busy);
	ASSERT_EQ(4, worker_row(rig, 2).busy);
	submit_jobs(rig, 6);
	ASSERT_EQ(2, worker_row(rig, 1).busy);
	ASSERT_EQ(8, worker_row(rig, 2).busy);
	ASSERT_EQ(0, worker_row(rig, 2).prefetched);
	rig_free(rig);
	PASS();
}

static void warm_up(struct rig *rig, uint64_t run_ns)
{
	struct rig_attempt attempt;
	struct core_input input = { .kind = INPUT_DONE };

	while (rig_take(rig, &attempt)) {
		struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_EXIT,
			.started_ms = rig->now.wall_ms, .ended_ms = rig->now.wall_ms, .run_ns = run_ns };

		input.conn = attempt.conn;
		input.done.at = &done;
		input.done.n = 1;
		rig_step(rig, &input);
	}
}

/* Number of jobs prefetched to a worker with two slots when jobs take this long. */
static uint64_t prefetched_when(int64_t run_ns, bool off)
{
	struct rig *rig = rig_new();
	uint64_t ahead;

	rig->config.prefetch_off = off;
	rig_restart(rig);
	rig_hello(rig, "w", 2);
	submit_jobs(rig, 8);
	warm_up(rig, (uint64_t)run_ns);
	submit_jobs(rig, 200);
	ahead = worker_row(rig, 1).prefetched;
	rig_free(rig);
	return ahead;
}

TEST short_jobs_are_prefetched(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(LIMIT_PREFETCH_MAX, prefetched_when(NS_PER_MS, false));
	ASSERT_EQ(10, prefetched_when(50 * NS_PER_MS, false));
	ASSERT_EQ(2, prefetched_when(200 * NS_PER_MS, false));
	ASSERT_EQ(2, prefetched_when(250 * NS_PER_MS, false));
	ASSERT_EQ(0, prefetched_when(600 * NS_PER_MS, false));
	ASSERT_EQ(0, prefetched_when(60 * NS_PER_S, false));
	ASSERT_EQ(0, prefetched_when(NS_PER_MS, true));

	/* Nothing is known about the speed of a new worker. */
	rig_hello(rig, "w", 2);
	submit_jobs(rig, 100);
	ASSERT_EQ(0, worker_row(rig, 1).prefetched);
	rig_free(rig);
	PASS();
}

TEST prefetched_jobs_are_recalled(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt at[16], attempt;
	struct outgoing recall = { 0 };
	size_t n = 0;
	uint64_t second;

	rig_hello(rig, "w", 2);
	submit_jobs(rig, 8);
	warm_up(rig, 50 * NS_PER_MS);
	submit_jobs(rig, 12);
	while (rig_take(rig, &at[n]))
		n++;
	ASSERT_EQ(12, n);
	rig_started(rig, at[0]);
	rig_started(rig, at[1]);
	rig_done(rig, at[0], OUTCOME_EXIT, 0);
	rig_started(rig, at[2]);
	ASSERT_EQ(9, worker_row(rig, 1).prefetched);

	second = rig_hello(rig, "other", 3);
	ASSERT_EQ(3, rig_frames(rig, OP_RECALL, &recall));
	ASSERT_EQ(at[9].job, recall.recall.job);         /* the newest prefetched attempts are recalled first */
	rig_pass(rig, 1);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));  /* and only once */

	rig_done(rig, at[11], OUTCOME_RECALLED, 0);
	attempt = rig_must_take(rig);
	ASSERT_EQ(at[11].job, attempt.job);
	ASSERT_EQ(second, attempt.conn);
	ASSERT_EQ(1, attempt.try_no);
	ASSERT_GT(attempt.epoch, at[11].epoch);
	rig_started(rig, at[10]); /* the recalled job had already started, so it stays with the worker */
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, at[10].job));
	/* another prefetched job is recalled instead of the one that had started */
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &recall));
	ASSERT_EQ(at[8].job, recall.recall.job);
	rig_done(rig, at[9], OUTCOME_RECALLED, 0);
	ASSERT_EQ(second, rig_must_take(rig).conn);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST deaf_master_loses_no_worker(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	rig_hello(rig, "here", 1);
	rig_gone(rig, rig_hello(rig, "gone", 1));
	submit_jobs(rig, 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig->now.mono_ns += 2 * LIMIT_GRACE_MS * NS_PER_MS;
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	ASSERT_EQ(WORKER_UNREACHABLE, worker_row(rig, 2).state);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, attempt.job));
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 2).state);
	rig_free(rig);
	PASS();
}

SUITE(joining)
{
	RUN_TEST(seen_time_survives_a_restart);
	RUN_TEST(welcome_comes_before_other_frames);
	RUN_TEST(bad_hello_is_refused);
	RUN_TEST(newer_connection_replaces_an_older_one);
	RUN_TEST(second_life_is_refused_while_the_lease_of_the_first_lives);
	RUN_TEST(second_life_is_welcome_when_the_first_was_silent_for_its_lease);
	RUN_TEST(same_life_on_a_newer_connection_replaces_the_older_one);
	RUN_TEST(older_connection_is_refused_behind_a_newer_one);
	RUN_TEST(worker_that_ended_in_order_is_ended);
	RUN_TEST(worker_that_ended_with_jobs_is_unreachable);
	RUN_TEST(quitting_worker_is_assigned_no_job);
}

SUITE(leaving)
{
	RUN_TEST(stuck_processes_are_shown_until_gone);
	RUN_TEST(worker_is_lost_after_the_grace);
	RUN_TEST(worker_back_within_the_grace_keeps_its_jobs);
	RUN_TEST(result_of_an_older_epoch_is_ignored);
	RUN_TEST(silent_worker_becomes_unreachable);
	RUN_TEST(deaf_master_loses_no_worker);
	RUN_TEST(restart_gives_workers_a_full_grace);
}

SUITE(placing)
{
	RUN_TEST(jobs_are_shared_among_workers);
	RUN_TEST(short_jobs_are_prefetched);
	RUN_TEST(prefetched_jobs_are_recalled);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(joining);
	RUN_SUITE(leaving);
	RUN_SUITE(placing);
	GREATEST_MAIN_END();
}
