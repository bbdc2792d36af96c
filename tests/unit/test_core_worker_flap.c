/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers that flap, are silent, or can't end a job. */
#include "proto/reasons.h"
#include "tests/unit/core_place.h"

TEST flapping_worker_rests_exactly_its_time(void)
{
	struct rig *rig = rig_new();
	uint64_t flaps, steady;

	for (int i = 0; i < LIMIT_FLAP_DROPS + 1; i++)
		rig_gone(rig, join(rig, "flaps", 2, "", "", ""));
	flaps = join(rig, "flaps", 2, "", "", "");
	steady = join(rig, "steady", 4, "", "", "");
	rig_wait(rig, LIMIT_FLAP_REST_MS - 1);
	load(rig, flaps, 0, 0);
	load(rig, steady, 500, 0);
	ASSERT_STR_EQ("steady", given(rig, (struct rec_job_spec){ 0 }));
	rig_wait(rig, 1);
	ASSERT_STR_EQ("flaps", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(0, worker(rig, "flaps").rest_ms);
	rig_free(rig);
	PASS();
}

/* The rest counts from the latest lost connection. */
TEST flapping_again_renews_the_rest(void)
{
	struct rig *rig = rig_new();

	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, rig_hello(rig, "w", 1));
	rig_hello(rig, "w", 1);
	ASSERT_EQ(LIMIT_FLAP_REST_MS, (int)worker(rig, "w").rest_ms);
	rig_pass(rig, LIMIT_FLAP_REST_MS / 2);
	rig_gone(rig, rig->conn);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(LIMIT_FLAP_REST_MS, (int)worker(rig, "w").rest_ms);
	rig_free(rig);
	PASS();
}

/* A worker whose keeper restarts each time flaps like any other. */
TEST worker_that_restarts_repeatedly_flaps(void)
{
	struct rig *rig = rig_new();

	for (int i = 0; i <= LIMIT_FLAP_DROPS; i++) {
		struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
		char instance[] = { 'n', (char)('0' + i), '\0' };

		input.hello = (struct input_hello){ .name = slice_str("w"), .instance = slice_str(instance), .slots = 1 };
		if (i > 0)
			rig_gone(rig, rig->conn - 1);
		rig_step(rig, &input);
	}
	ASSERT(worker(rig, "w").rest_ms > 0);
	rig_free(rig);
	PASS();
}

/* Connections that the master closed because of silence count as lost. */
TEST worker_that_is_silent_repeatedly_flaps(void)
{
	struct rig *rig = rig_new();

	rig->config.lease_ms = 1000;
	rig->config.grace_ms = 2000;
	rig_restart(rig);
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++) {
		rig_hello(rig, "w", 1);
		ASSERT_EQ(0, worker(rig, "w").rest_ms);
		rig_pass(rig, 1000);
		rig_pass(rig, 1000);
		ASSERT_EQ(WORKER_LOST, worker(rig, "w").state);
	}
	rig_hello(rig, "w", 1);
	ASSERT(worker(rig, "w").rest_ms > 0);
	rig_free(rig);
	PASS();
}

static enum reason reason_of(struct rig *rig, uint64_t job)
{
	struct rec_job_row row = { 0 };

	CHECK(view_explain(rig->core, job, &rig->arena, &row));
	return (enum reason)row.why_code;
}

/*
 * Of two jobs of a worker, only one has processes that can't be killed; the other's explanation doesn't mention that.
 */
TEST stuck_job_is_told_of_no_other_job(void)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT };
	struct rig *rig = rig_new();
	uint64_t jobs[2];

	input.conn = rig_hello(rig, "w", 2);
	ASSERT_EQ(2, (int)out_of(rig, 2, (struct rec_job_spec){ 0 }));
	for (int i = 0; i < 2; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		rig_started(rig, attempt);
		jobs[i] = attempt.job;
	}
	for (int i = 0; i < 2; i++) {
		input.heartbeat.stuck = (struct u64_list){ &jobs[i], 1 };
		rig_step(rig, &input);
		ASSERT_EQ(REASON_STUCK, reason_of(rig, jobs[i]));
		ASSERT_EQ(REASON_RUNNING, reason_of(rig, jobs[1 - i]));
	}
	rig_free(rig);
	PASS();
}

/* A silent worker is told to quit, because it may still receive what the master sends. */
TEST silent_worker_is_told_to_quit(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };

	rig_hello(rig, "w", 1);
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_step(rig, &quit);
	ASSERT_EQ(1, (int)rig_frames(rig, OP_QUIT, NULL));
	rig_free(rig);
	PASS();
}

/* The master itself was stopped for a while and heard nothing: silent workers get their whole grace again. */
TEST silent_worker_has_its_grace_again_after_a_deaf_master(bool connected)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	if (!connected)
		rig_gone(rig, rig->conn);
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_wait(rig, LIMIT_GRACE_MS);
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	rig_pass(rig, LIMIT_GRACE_MS - 1);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "a"));
	rig_pass(rig, 1);
	ASSERT(strcmp("running", rig_state_named(rig, run, "a")) != 0);
	rig_free(rig);
	PASS();
}

/* Silence while the master was stopped doesn't count when the worker is silent later. */
TEST connected_worker_has_lease_and_grace_after_a_deaf_master(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_wait(rig, 2 * LIMIT_GRACE_MS);
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	rig_pass(rig, LIMIT_LEASE_MS);
	rig_pass(rig, LIMIT_GRACE_MS - LIMIT_LEASE_MS - 1);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST heartbeat_of_a_closed_connection_is_ignored(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	rig_heartbeat(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

/* A lease counts from the worker's last message, not from the time of the check. */
TEST silence_is_noticed_after_one_lease(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);

	rig_pass(rig, LIMIT_LEASE_MS / 2);
	rig_heartbeat(rig, conn);
	ASSERT_EQ(rig->now.wall_ms, worker(rig, "w").seen_ms);
	rig_pass(rig, LIMIT_LEASE_MS / 2);
	rig_pass(rig, LIMIT_LEASE_MS / 2 - 1);
	ASSERT_EQ(WORKER_UP, worker(rig, "w").state);
	rig_pass(rig, 1);
	ASSERT_EQ(WORKER_UNREACHABLE, worker(rig, "w").state);
	rig_free(rig);
	PASS();
}

TEST last_seen_time_survives_a_restart(void)
{
	struct rig *rig = rig_new();
	int64_t seen_ms;

	rig_hello(rig, "w", 1);
	seen_ms = rig->now.wall_ms;
	rig_pass(rig, 1000);
	rig_restart(rig);
	ASSERT_EQ(seen_ms, worker(rig, "w").seen_ms);
	rig_free(rig);
	PASS();
}

/* A worker that came back with fewer slots may have more unkillable processes than slots. */
TEST jobs_that_outlive_their_worker_are_shown(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_HEARTBEAT };
	uint64_t stuck[] = { 1, 2, 3 };

	rig_hello(rig, "w", 4);
	input.conn = rig_hello(rig, "w", 1);
	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 5, .stuck = { stuck, 3 } };
	rig_step(rig, &input);
	ASSERT_EQ(3, worker(rig, "w").stuck);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(flapping_worker_rests_exactly_its_time);
	RUN_TEST(flapping_again_renews_the_rest);
	RUN_TEST(worker_that_restarts_repeatedly_flaps);
	RUN_TEST(worker_that_is_silent_repeatedly_flaps);
	RUN_TEST(stuck_job_is_told_of_no_other_job);
	RUN_TEST(silent_worker_is_told_to_quit);
	RUN_TESTp(silent_worker_has_its_grace_again_after_a_deaf_master, true);
	RUN_TESTp(silent_worker_has_its_grace_again_after_a_deaf_master, false);
	RUN_TEST(connected_worker_has_lease_and_grace_after_a_deaf_master);
	RUN_TEST(heartbeat_of_a_closed_connection_is_ignored);
	RUN_TEST(silence_is_noticed_after_one_lease);
	RUN_TEST(last_seen_time_survives_a_restart);
	RUN_TEST(jobs_that_outlive_their_worker_are_shown);
	GREATEST_MAIN_END();
}
