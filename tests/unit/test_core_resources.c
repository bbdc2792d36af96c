/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resources, scores, affinity, pools: which worker gets which job, and that a worker's jobs never use more than it
 * offers.
 */
#include "tests/unit/core_rig.h"

#include "proto/reasons.h"

static uint64_t hello(struct rig *rig, const char *name, uint64_t slots, const char *offer, const char *pool)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
	struct slice offers[] = { slice_str(offer) };

	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.offers = { offers, 1 }, .pool = slice_str(pool) };
	rig_step(rig, &input);
	return input.conn;
}

static struct rec_job_spec *graph_asks(struct graph *graph, const char *name, const char *ask)
{
	struct rec_job_spec *job = graph_job(graph, name, "");
	struct slice *asks = arena_alloc(&graph->arena, sizeof(*asks));

	asks[0] = slice_str(ask);
	job->asks = (struct slice_list){ asks, 1 };
	return job;
}

static void set(struct rig *rig, enum object_kind kind, const char *name, enum set_verb verb)
{
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = ++rig->request };

	input.set.set = (struct msg_set){ .kind = kind, .name = slice_str(name), .verb = verb };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

static void beat(struct rig *rig, uint64_t conn, uint64_t cpu_permille)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT, .conn = conn };

	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 7, .cpu_permille = cpu_permille };
	rig_step(rig, &input);
}

static void beat_gpu(struct rig *rig, uint64_t conn, uint64_t gpu_permille)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT, .conn = conn };

	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 7, .gpu_permille = gpu_permille };
	rig_step(rig, &input);
}

static enum reason why(struct rig *rig, uint64_t run, const char *name)
{
	struct rec_job_row row = { 0 };

	CHECK(view_explain(rig->core, rig_named(rig, run, name), &rig->arena, &row));
	return (enum reason)row.why_code;
}

static uint64_t used(struct rig *rig, uint64_t worker)
{
	struct rec_worker_row row = { 0 };

	CHECK(view_worker(rig->core, worker, &rig->arena, &row));
	return row.used.at[0];
}

TEST jobs_never_use_more_than_is_offered(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt first;
	uint64_t run;

	graph_asks(&graph, "a", "cpus=2500");
	graph_asks(&graph, "b", "cpus=1500");
	graph_asks(&graph, "c", "cpus=500");
	graph_asks(&graph, "d", "cpus=9000");
	run = rig_submit(rig, &graph);
	hello(rig, "w", 8, "cpus=4000", "");
	ASSERT_EQ(2, rig->assigned_count);
	ASSERT_EQ(4000, used(rig, 1));
	ASSERT_EQ(REASON_RESOURCES_BUSY, why(rig, run, "c"));
	ASSERT_EQ(REASON_NO_WORKER_RESOURCES, why(rig, run, "d"));
	first = rig_must_take(rig);
	rig_started(rig, first);
	rig_done(rig, first, OUTCOME_EXIT, 0);
	ASSERT_EQ(2000, used(rig, 1));
	rig_restart(rig);
	hello(rig, "w", 8, "cpus=1000", "");
	ASSERT(used(rig, 1) <= 1000);
	rig_free(rig);
	PASS();
}

static uint64_t hello_holding(struct rig *rig, const char *offer, struct rig_attempt attempt)
{
	struct rec_held held = { .job = attempt.job, .epoch = attempt.epoch, .phase = PHASE_RUNNING };
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
	struct slice offers[] = { slice_str(offer) };

	input.hello = (struct input_hello){
		.name = slice_str("w"), .instance = slice_str("0123456789abcdef"), .slots = 8, .pid = 9,
		.offers = { offers, 1 }, .held = &held, .held_count = 1 };
	rig_step(rig, &input);
	return input.conn;
}

/* The worker reconnects with a smaller offer; the running job goes on. */
TEST running_job_keeps_its_resources_when_the_offer_shrinks(void)
{
	for (int once = 0; once < 2; once++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rig_attempt first;
		uint64_t run;

		graph_asks(&graph, "a", "cpus=3000")->mode = once ? EXEC_ONCE : EXEC_RETRY;
		graph_asks(&graph, "b", "cpus=1000");
		run = rig_submit(rig, &graph);
		rig_act(rig, ACT_HOLD, run, "b", 0);
		first.conn = hello(rig, "w", 8, "cpus=4000", "");
		first = rig_must_take(rig);
		rig_started(rig, first);
		if (once) { /* the connection is given up, though the worker was alive all the time */
			rig_gone(rig, first.conn);
			rig_pass(rig, LIMIT_GRACE_MS);
			ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "a"));
		}
		first.conn = hello_holding(rig, "cpus=2000", first);
		ASSERT_EQ(3000, used(rig, 1));
		rig_act(rig, ACT_RELEASE, run, "b", 0);
		ASSERT_STR_EQ("ready", rig_state_named(rig, run, "b"));
		ASSERT_EQ(REASON_RESOURCES_BUSY, why(rig, run, "b"));
		rig_done(rig, first, OUTCOME_EXIT, 0);
		ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "b"));
		ASSERT_EQ(1000, used(rig, 1));
		rig_free(rig);
	}
	PASS();
}

/* A stopping job may run on for a while, so it keeps its resources, also after a restart of the master. */
TEST stopping_job_keeps_its_resources(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct core_input input = { .kind = INPUT_WORKER_HELLO };
	struct slice offers[] = { slice_str("cpus=4000") };
	struct rig_attempt first;
	struct rec_held held;
	uint64_t run;

	graph_asks(&graph, "a", "cpus=2500");
	graph_asks(&graph, "b", "cpus=2500");
	run = rig_submit(rig, &graph);
	hello(rig, "w", 8, "cpus=4000", "");
	first = rig_must_take(rig);
	rig_started(rig, first);
	rig_cancel(rig, run, "a");
	rig_restart(rig);
	held = (struct rec_held){ .job = first.job, .epoch = first.epoch, .phase = PHASE_RUNNING };
	input.conn = ++rig->conn;
	input.hello = (struct input_hello){
		.name = slice_str("w"), .instance = slice_str("0123456789abcdef"), .slots = 8, .pid = 9,
		.offers = { offers, 1 }, .held = &held, .held_count = 1 };
	rig_step(rig, &input);
	ASSERT_EQ(2500, used(rig, 1));
	ASSERT_EQ(REASON_RESOURCES_BUSY, why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

/* Let the worker connect and drop more often than it may without flapping. */
static void flap(struct rig *rig, const char *name, uint64_t slots, const char *offers)
{
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, hello(rig, name, slots, offers, ""));
}

TEST large_job_does_not_starve(bool flaps)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t large = 0, run;
	int ended = 0;

	for (int i = 0; i < 8; i++)
		graph_asks(&graph, (char[]){ 's', (char)('0' + i), 0 }, "cpus=1000");
	graph_asks(&graph, "large", "cpus=16000");
	for (int i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%d", i);
		graph_asks(&graph, name, "cpus=1000");
	}
	/* The only worker reserves room even though it flaps. */
	if (flaps)
		flap(rig, "w", 32, "cpus=16000");
	run = rig_submit(rig, &graph);
	large = rig_named(rig, run, "large");
	rig->config.prefetch_off = true;
	hello(rig, "w", 32, "cpus=16000", "");
	ASSERT_EQ(8, rig->assigned_count);
	ASSERT_EQ(REASON_RESOURCES_BUSY, why(rig, run, "large"));
	ASSERT_EQ(REASON_RESERVED, why(rig, run, "t0"));
	while (rig_state(rig, large) == STATE_READY && rig_take(rig, &attempt)) {
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_EXIT, 0);
		ended++;
	}
	ASSERT_EQ(8, ended);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, large));
	ASSERT_EQ(16000, used(rig, 1));
	rig_free(rig);
	PASS();
}

/* Jobs that need no gpu pass a job that waits for one. */
TEST plain_jobs_flow_past_a_waiting_gpu_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_asks(&graph, "g1", "gpus=1");
	graph_asks(&graph, "g2", "gpus=1");
	graph_job(&graph, "p1", "");
	graph_job(&graph, "p2", "");
	rig_submit(rig, &graph);
	hello(rig, "w", 4, "gpus=1", "");
	ASSERT_EQ(3, rig->assigned_count);
	ASSERT_EQ(1, rig->assigned[0].job);
	ASSERT_EQ(3, rig->assigned[1].job);
	ASSERT_EQ(4, rig->assigned[2].job);
	rig_free(rig);
	PASS();
}

static uint64_t one_more(struct rig *rig)
{
	struct graph graph = { 0 };

	rig->assigned_first = rig->assigned_count = 0;
	graph_job(&graph, "x", "");
	rig_submit(rig, &graph);
	CHECK(rig->assigned_count == 1);
	return rig->assigned[0].conn;
}

/* A worker's score is a sum: at 89 % of a resource the worker with fewer busy slots wins, at 90 % it is passed over. */
TEST overload_begins_at_90_percent(void)
{
	struct rig *rig = rig_new();
	uint64_t a = hello(rig, "a", 10, "cpus=1000", ""), b;

	for (int i = 0; i < 9; i++)
		ASSERT_EQ(a, one_more(rig));
	b = hello(rig, "b", 10, "cpus=1000", "");
	set(rig, OBJECT_WORKER, "a", SET_PAUSE);
	for (int i = 0; i < 8; i++)
		ASSERT_EQ(b, one_more(rig));
	set(rig, OBJECT_WORKER, "a", SET_RESUME);
	/*
	 * Worker a has 9 of 10 slots in use: it is passed over although its score is lower. When b is too, a is chosen.
	 */
	beat(rig, b, 890);
	ASSERT_EQ(b, one_more(rig));
	beat(rig, b, 900);
	ASSERT_EQ(a, one_more(rig));
	rig_free(rig);
	PASS();
}

/* The same with gpus: b has no slot in use, and is passed over once 9 of its 10 gpus are in use. */
TEST overload_of_gpus_begins_at_90_percent(void)
{
	struct rig *rig = rig_new();
	uint64_t a = hello(rig, "a", 10, "cpus=1000", ""), b;

	for (int i = 0; i < 8; i++)
		ASSERT_EQ(a, one_more(rig));
	b = hello(rig, "b", 10, "gpus=1", "");
	beat_gpu(rig, b, 899);
	set(rig, OBJECT_WORKER, "b", SET_PAUSE);
	ASSERT_EQ(a, one_more(rig));
	set(rig, OBJECT_WORKER, "b", SET_RESUME);
	/* Worker a has 9 of 10 now, which is overload; b isn't overloaded yet. */
	ASSERT_EQ(b, one_more(rig));
	beat_gpu(rig, b, 900);
	ASSERTm("both are: the lower score decides, which is that of slots alone", a == one_more(rig));
	beat_gpu(rig, b, 0);
	ASSERT_EQ(b, one_more(rig));
	rig_free(rig);
	PASS();
}

TEST second_job_goes_to_the_less_loaded_worker(void)
{
	struct rig *rig = rig_new();
	uint64_t a = hello(rig, "a", 4, "cpus=1000", ""), b = hello(rig, "b", 4, "cpus=1000", "");
	uint64_t first = one_more(rig);

	ASSERT_EQ(first == a ? b : a, one_more(rig));
	rig_free(rig);
	PASS();
}

TEST affinity_follows_the_parent(void)
{
	struct rig *rig = rig_new();

	for (int i = 0; i < 8; i++) {
		struct graph graph = { 0 };
		struct rec_job_spec *child;
		struct rig_attempt parent;

		if (i == 0) {
			hello(rig, "a", 4, "cpus=1000", "");
			hello(rig, "b", 4, "cpus=1000", "");
		}
		graph_job(&graph, "p", "");
		child = graph_job(&graph, "c", "p");
		child->affinity = AFFINITY_PARENT;
		child->affinity_hard = i % 2;
		rig_submit(rig, &graph);
		parent = rig_must_take(rig);
		rig_started(rig, parent);
		rig_done(rig, parent, OUTCOME_EXIT, 0);
		ASSERT_EQ(parent.conn, rig->assigned[rig->assigned_first].conn);
		rig_run_all(rig);
	}
	rig_free(rig);
	PASS();
}

TEST cordon_drain_and_pools_stop_new_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, conn;

	hello(rig, "w", 4, "cpus=1000", "eu");
	set(rig, OBJECT_WORKER, "w", SET_PAUSE);
	ASSERT_EQ(1, rig->ok.count);
	set(rig, OBJECT_WORKER, "w", SET_PAUSE);
	ASSERT_EQ(0, rig->ok.count);
	graph_job(&graph, "x", "");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(REASON_WORKER_CORDONED, why(rig, run, "x"));
	rig_restart(rig);
	conn = hello(rig, "w", 4, "cpus=1000", "eu");
	ASSERT_EQ(0, rig->assigned_count);
	set(rig, OBJECT_POOL, "eu", SET_DRAIN);
	set(rig, OBJECT_WORKER, "w", SET_RESUME);
	ASSERT_EQ(REASON_POOL_DRAINING, why(rig, run, "x"));
	set(rig, OBJECT_POOL, "eu", SET_PAUSE);
	ASSERT_EQ(REASON_POOL_INACTIVE, why(rig, run, "x"));
	set(rig, OBJECT_POOL, "eu", SET_RESUME);
	ASSERT_EQ(1, rig->assigned_count);
	set(rig, OBJECT_WORKER, "w", SET_DRAIN);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, NULL));
	set(rig, OBJECT_WORKER, "w", SET_REMOVE);
	ASSERT(rig_error_says(rig, ERR_BUSY, "is connected"));
	rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
	rig_gone(rig, conn);
	set(rig, OBJECT_WORKER, "w", SET_REMOVE);
	set(rig, OBJECT_WORKER, "w", SET_REMOVE);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no worker 'w'"));
	ASSERT_EQ(REASON_NO_WORKER_UP, why(rig, run, "x"));
	set(rig, OBJECT_POOL, "us", SET_DRAIN);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no pool 'us'"));
	rig_free(rig);
	PASS();
}

TEST flapping_worker_is_passed_over(void)
{
	struct rig *rig = rig_new();
	struct rec_worker_row row;
	uint64_t conn, steady;

	flap(rig, "flaps", 8, "cpus=1000");
	conn = hello(rig, "flaps", 8, "cpus=1000", "");
	ASSERT(view_worker(rig->core, 1, &rig->arena, &row));
	ASSERT(row.rest_ms > 0);
	ASSERT_EQ(conn, one_more(rig));          /* no other worker could run the job, so the overloaded one gets it */
	steady = hello(rig, "steady", 8, "cpus=1000", "");
	for (int i = 0; i < 6; i++)
		ASSERT_EQ(steady, one_more(rig));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(jobs_never_use_more_than_is_offered);
	RUN_TEST(running_job_keeps_its_resources_when_the_offer_shrinks);
	RUN_TEST(stopping_job_keeps_its_resources);
	RUN_TESTp(large_job_does_not_starve, false);
	RUN_TESTp(large_job_does_not_starve, true);
	RUN_TEST(plain_jobs_flow_past_a_waiting_gpu_job);
	RUN_TEST(overload_begins_at_90_percent);
	RUN_TEST(overload_of_gpus_begins_at_90_percent);
	RUN_TEST(second_job_goes_to_the_less_loaded_worker);
	RUN_TEST(affinity_follows_the_parent);
	RUN_TEST(cordon_drain_and_pools_stop_new_jobs);
	RUN_TEST(flapping_worker_is_passed_over);
	GREATEST_MAIN_END();
}
