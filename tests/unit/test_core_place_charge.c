/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which jobs are charged a worker's resources. */
#include "tests/unit/core_place.h"

/* The worker starts its jobs in order, so the newest is recalled for another tape. */
TEST prefetched_jobs_are_charged_in_order(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct outgoing last = { 0 };
	uint64_t newest;

	join(rig, "w", 3, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(3, (int)out_of(rig, 3, tape));
	done_after(rig, rig_must_take(rig), 2);
	ASSERT_EQ(1, (int)worker(rig, "w").prefetched);
	ASSERT_EQ(1, (int)worker(rig, "w").used.at[0]);
	rig_must_take(rig);
	newest = rig_must_take(rig).job;
	join(rig, "v", 1, "", "tape=1", "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(newest, last.recall.job);
	rig_free(rig);
	PASS();
}

static uint64_t used(struct rig *rig, const char *name)
{
	return worker(rig, name).used.at[0];
}

/* The worker reconnects and reports which of these attempts it has queued. */
static void back(struct rig *rig, const char *name, uint64_t slots, const char *offers, const struct rig_attempt *queued,
		 size_t n)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
	struct rec_held *held = arena_alloc(&rig->arena, (n + 1) * sizeof(*held));

	for (size_t i = 0; i < n; i++)
		held[i] = (struct rec_held){ .job = queued[i].job, .epoch = queued[i].epoch, .phase = PHASE_QUEUED };
	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.offers = words(rig, offers), .held = held, .held_count = n };
	rig_step(rig, &input);
}

TEST queued_jobs_are_charged_in_order_after_a_reconnect(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt first, queued[2];

	graph_job(&graph, "x", "")->asks = words(rig, "tape=1");
	graph_job(&graph, "a", "")->asks = words(rig, "tape=3");
	graph_job(&graph, "b", "")->asks = words(rig, "tape=2");
	join(rig, "w", 8, "", "tape=6", "");
	rig_submit(rig, &graph);
	first = rig_must_take(rig);
	queued[0] = rig_must_take(rig);
	queued[1] = rig_must_take(rig);
	rig_started(rig, first);
	rig_done(rig, first, OUTCOME_EXIT, 0);
	back(rig, "w", 8, "tape=4", queued, 2);
	ASSERT_EQ(3, used(rig, "w"));
	rig_free(rig);
	PASS();
}

/* The attempt that the worker has lost changes nothing in how the others are charged. */
TEST lost_job_is_not_charged(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt queued[4];

	graph_job(&graph, "lost", "")->asks = words(rig, "tape=3");
	graph_job(&graph, "kept", "")->asks = words(rig, "tape=4");
	graph_job(&graph, "less", "")->asks = words(rig, "tape=2");
	graph_job(&graph, "gone", "")->asks = words(rig, "tape=1");
	join(rig, "w", 8, "", "tape=10", "");
	rig_submit(rig, &graph);
	for (size_t i = 0; i < 4; i++)
		queued[i] = rig_must_take(rig);
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	back(rig, "w", 8, "tape=5", queued + 1, 2);
	ASSERT_EQ(4, used(rig, "w"));
	rig_free(rig);
	PASS();
}

/* A stopping job may still run, so it is charged although its worker came back with fewer resources than it uses. */
TEST stopping_job_is_charged_beyond_the_offer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct core_input input = { .kind = INPUT_WORKER_HELLO };
	struct rig_attempt attempt;
	struct rec_held held;
	uint64_t run;

	graph_job(&graph, "a", "")->asks = words(rig, "tape=3");
	join(rig, "w", 8, "", "tape=4", "");
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	held = (struct rec_held){ .job = attempt.job, .epoch = attempt.epoch, .phase = PHASE_RUNNING };
	input.conn = ++rig->conn;
	input.hello = (struct input_hello){
		.name = slice_str("w"), .instance = slice_str("0123456789abcdef"), .slots = 8, .pid = 9,
		.offers = words(rig, "tape=1"), .held = &held, .held_count = 1 };
	rig_step(rig, &input);
	ASSERT_EQ(3, used(rig, "w"));
	rig_free(rig);
	PASS();
}

/* A worker that starts a job beyond the room that the master knows is believed; the counts follow. */
TEST job_started_beyond_the_known_room_is_charged(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct rig_attempt first, second;

	join(rig, "w", 1, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(2, (int)out_of(rig, 2, tape));
	first = rig_must_take(rig);
	second = rig_must_take(rig);
	rig_started(rig, second);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, second.job));
	rig_done(rig, first, OUTCOME_EXIT, 0);
	rig_done(rig, second, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("w", given(rig, tape));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(prefetched_jobs_are_charged_in_order);
	RUN_TEST(queued_jobs_are_charged_in_order_after_a_reconnect);
	RUN_TEST(lost_job_is_not_charged);
	RUN_TEST(stopping_job_is_charged_beyond_the_offer);
	RUN_TEST(job_started_beyond_the_known_room_is_charged);
	GREATEST_MAIN_END();
}
