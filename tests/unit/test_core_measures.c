/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Things of different measures that are compared: resources, latency and slots; silence and grace. */
#include "tests/unit/core_place.h"

/* Who has what of a job that asks for both, and is told which worker is kept for it. */
static const char *kept_for_large(struct rig *rig, const char *on_a, const char *on_b, const char *large)
{
	struct graph graph = { 0 };
	uint64_t run;

	graph_on(&graph, "on_a", "a")->asks = words(rig, on_a);
	graph_on(&graph, "on_b", "b")->asks = words(rig, on_b);
	graph_job(&graph, "large", "")->asks = words(rig, large);
	graph.jobs[2].priority = 1;
	run = rig_submit(rig, &graph);
	return worker(rig, "a").reserved == rig_named(rig, run, "large") ? "a" :
	       worker(rig, "b").reserved == rig_named(rig, run, "large") ? "b" : "";
}

/* Half of the gpus is more than a tenth of the memory, though that is more bytes; and the other way round. */
TEST what_is_lacking_is_a_share_of_what_is_asked_for(const char *on_a, const char *on_b, const char *kept)
{
	struct rig *rig = rig_new();

	join(rig, "a", 9, "", "gpus=4 memory=1000000 hugely=1152921504606846976", "");
	join(rig, "b", 9, "", "gpus=4 memory=1000000 hugely=1152921504606846976", "");
	ASSERT_STR_EQ(kept, kept_for_large(rig, on_a, on_b, "gpus=4 memory=1000000 hugely=1152921504606846976"));
	rig_free(rig);
	PASS();
}

/* 200 ms to start a job are less than a slot of twenty that is taken. */
TEST a_slow_start_is_little(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_HEARTBEAT };
	struct graph graph = { 0 };

	input.conn = join(rig, "slow", 20, "", "", "");
	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 7, .start_us = 200000 };
	rig_step(rig, &input);
	join(rig, "busy", 20, "", "", "");
	graph_on(&graph, "p", "busy");
	rig_submit(rig, &graph);
	ASSERT_STR_EQ("slow", given(rig, (struct rec_job_spec){ 0 }));
	rig_free(rig);
	PASS();
}

/* Once only equals are there, they are sent ahead again. */
TEST a_mixture_that_has_gone_is_forgotten(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") }, disk = { .asks = words(rig, "disk=1") };

	join(rig, "w", 2, "", "tape=2 disk=1", "");
	run_short(rig, 8, 2, tape);
	given(rig, tape);
	given(rig, disk);
	ASSERT_EQ(2, worker(rig, "w").busy);
	done_after(rig, rig_must_take(rig), 2);
	done_after(rig, rig_must_take(rig), 2);
	ASSERT_EQ(4, out_of(rig, 6, tape));
	rig_free(rig);
	PASS();
}

/* In use are slots; what was sent ahead has none. */
TEST what_was_sent_ahead_is_not_busy(void)
{
	struct rig *rig = rig_new();
	struct core_totals totals;
	struct rec_pool_row pool;

	join(rig, "w", 2, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(10, out_of(rig, 10, (struct rec_job_spec){ 0 }));
	view_totals(rig->core, &totals);
	ASSERT(totals.workers == 1 && totals.slots == 2 && totals.busy == 2);
	ASSERT(view_pool(rig->core, 0, &pool));
	ASSERT(pool.slots == 2 && pool.busy == 2);
	ASSERT_EQ(8, worker(rig, "w").ahead);
	rig_free(rig);
	PASS();
}

/* What is sent ahead is as much of a tenant's share as what starts at once. */
/* Two slots: full with 8 ahead of each, and one lost or lacking worker decides. */
TEST workers_are_full_with_enough_ahead_of_all(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	ASSERT(!view_workers_full(rig->core) && view_workers_idle(rig->core));
	join(rig, "w", 2, "", "", "");
	ASSERT(!view_workers_full(rig->core) && view_workers_idle(rig->core));
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT(view_workers_idle(rig->core));
	for (int i = 0; i < 2 + 2 * VIEW_AHEAD_ENOUGH; i++) {
		ASSERT(!view_workers_full(rig->core));
		given(rig, (struct rec_job_spec){ 0 });
		ASSERT(!view_workers_idle(rig->core));
	}
	ASSERT(view_workers_full(rig->core));
	conn = join(rig, "new", 1, "", "", "");
	ASSERT(!view_workers_full(rig->core));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	rig_heartbeat(rig, conn - 1);
	ASSERT(!view_workers_full(rig->core));
	rig_pass(rig, LIMIT_GRACE_MS / 2 + 1000);
	ASSERT_EQ(WORKER_LOST, worker(rig, "new").state);
	ASSERT(view_workers_full(rig->core));
	rig_free(rig);
	PASS();
}

TEST tenants_share_what_is_sent_ahead(void)
{
	struct rig *rig = rig_new();
	size_t out[2] = { 0 };
	uint64_t runs[2];

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	for (int at = 0; at < 2; at++) {
		struct graph graph = { 0 };

		for (unsigned i = 0; i < 40; i++) {
			char name[24];

			snprintf(name, sizeof(name), "j%u", i);
			graph_job(&graph, name, "");
		}
		rig->tenant = at ? "one" : "other";
		runs[at] = rig_submit(rig, &graph);
	}
	set(rig, OBJECT_WORKER, SET_RESUME, "w");
	for (int at = 0; at < 2; at++)
		for (uint64_t i = 0; i < 40; i++)
			out[at] += rig_state(rig, view_job_at(rig->core, runs[at], i)) == STATE_ASSIGNED;
	ASSERT_EQ(LIMIT_PREFETCH_MAX + 1, out[0] + out[1]);
	ASSERT(out[0] >= out[1] ? out[0] - out[1] <= 1 : out[1] - out[0] <= 1);
	rig_free(rig);
	PASS();
}

/* They would go to the same worker again: asking them back would move nothing. */
TEST what_must_stay_is_not_asked_back(void)
{
	struct rec_job_spec *job;
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	for (unsigned i = 0; i < 5; i++) {
		char name[24];

		snprintf(name, sizeof(name), "j%u", i);
		job = graph_job(&graph, name, "");
		job->affinity = AFFINITY_STICKY;
		job->affinity_hard = true;
	}
	rig_submit(rig, &graph);
	ASSERT_EQ(4, worker(rig, "w").ahead);
	join(rig, "v", 1, "", "", "");
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* --- silence --- */

/* A lease counts from the last word, not from when somebody looked. */
TEST a_silence_is_noticed_after_one_lease(void)
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

TEST when_it_was_seen_is_known_after_a_restart(void)
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

/* Connections that were given up for silence were lost like any other. */
TEST who_falls_silent_again_and_again_flaps(void)
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

/* It goes in the turn in which its connection went: who watches is told once, and nothing of it is left. */
TEST who_is_forgotten_in_the_turn_in_which_it_left(void)
{
	struct rig *rig = rig_new();
	struct core_input gone = { .kind = INPUT_WORKER_GONE, .conn = rig_hello(rig, "w", 1) };
	struct core_input forget = { .kind = INPUT_SET, .conn = 1000000, .request = 1 };
	size_t told = 0;

	forget.set.set = (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("w") };
	rig_turn_begin(rig);
	core_step(rig->core, &gone);
	core_step(rig->core, &forget);
	rig_turn_end(rig);
	for (size_t i = 0; i < rig->out.change_count; i++)
		told += rig->out.changes[i].kind == CHANGED_WORKER;
	ASSERT_EQ(1, told);
	ASSERT_EQ(0, view_worker_after(rig->core, 0));
	rig_free(rig);
	PASS();
}

/* One that came back with fewer slots may have more processes that live on than it has slots now. */
TEST all_that_lives_on_is_shown(void)
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

SUITE(measures)
{
	RUN_TESTp(what_is_lacking_is_a_share_of_what_is_asked_for, "gpus=2", "memory=100000", "b");
	RUN_TESTp(what_is_lacking_is_a_share_of_what_is_asked_for, "gpus=1", "memory=300000", "a");
	RUN_TESTp(what_is_lacking_is_a_share_of_what_is_asked_for, "gpus=2", "hugely=461168601842738790", "b");
	RUN_TESTp(what_is_lacking_is_a_share_of_what_is_asked_for, "gpus=1", "hugely=461168601842738790", "a");
	RUN_TEST(a_slow_start_is_little);
	RUN_TEST(a_mixture_that_has_gone_is_forgotten);
	RUN_TEST(what_was_sent_ahead_is_not_busy);
	RUN_TEST(workers_are_full_with_enough_ahead_of_all);
	RUN_TEST(tenants_share_what_is_sent_ahead);
	RUN_TEST(what_must_stay_is_not_asked_back);
	RUN_TEST(a_silence_is_noticed_after_one_lease);
	RUN_TEST(when_it_was_seen_is_known_after_a_restart);
	RUN_TEST(who_falls_silent_again_and_again_flaps);
	RUN_TEST(who_is_forgotten_in_the_turn_in_which_it_left);
	RUN_TEST(all_that_lives_on_is_shown);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(measures);
	GREATEST_MAIN_END();
}
