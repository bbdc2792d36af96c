/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prefetch: how many jobs a worker is sent beyond its free slots, which ones, and what they are charged. */
#include "tests/unit/core_place.h"

TEST prefetch_grows_with_short_jobs(void)
{
	static const struct {
		size_t results;
		uint64_t run_ms, slots;
		size_t out;
	} cases[] = {
		{ 7, 2, 1, 1 }, { 8, 2, 1, 65 }, { 8, 0, 1, 65 }, { 8, 50, 1, 6 }, { 8, 250, 2, 4 }, { 8, 200, 2, 4 },
		{ 8, 400, 4, 6 }, { 8, 1001, 4, 4 }, { 8, 50, 20, 84 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();

		size_t out;

		rig->reload_every = 0;
		join(rig, "w", cases[i].slots, "", "", "");
		run_short(rig, cases[i].results, cases[i].run_ms, (struct rec_job_spec){ 0 });
		out = out_of(rig, 90, (struct rec_job_spec){ 0 });
		ASSERT_EQ_FMT(cases[i].out, out, "%zu");
		ASSERT_EQ_FMT((uint64_t)(cases[i].out - cases[i].slots), worker(rig, "w").prefetched, "%lu");
		rig_free(rig);
	}
	PASS();
}

TEST prefetched_jobs_ask_for_equal_resources(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") }, disk = { .asks = words(rig, "disk=1") };
	size_t out;

	join(rig, "w", 2, "", "tape=2 disk=1", "");
	run_short(rig, 8, 2, tape);
	out = out_of(rig, 6, tape);      /* at most as many of these jobs are prefetched as the worker has slots */
	ASSERT_EQ(4, out);
	ASSERT_EQ(2, worker(rig, "w").prefetched);
	ASSERT_EQ(2, worker(rig, "w").used.at[1]);
	ASSERT_EQ(0, out_of(rig, 3, disk));
	rig_free(rig);
	PASS();
}

TEST job_with_resources_is_not_prefetched_behind_plain_jobs(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", 1, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(1, out_of(rig, 1, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(0, out_of(rig, 2, tape));
	rig_free(rig);
	PASS();
}

/* The job was prefetched while jobs were short and waits for a tape; any other job may have the second slot. */
TEST prefetched_job_waiting_for_a_resource_takes_no_slot(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", 2, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(3, (int)out_of(rig, 3, tape));
	done_after(rig, rig_must_take(rig), 60000); /* after a job that took long, nothing is prefetched any more */
	ASSERT_EQ(1, (int)worker(rig, "w").prefetched);
	ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_STR_EQ("", given(rig, (struct rec_job_spec){ 0 }));
	rig_free(rig);
	PASS();
}

static uint64_t used(struct rig *rig, const char *name)
{
	return worker(rig, name).used.at[0];
}

TEST prefetched_jobs_use_no_resources(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", 1, "", "tape=4", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(2, out_of(rig, 4, tape));
	ASSERT_EQ(1, used(rig, "w"));
	ASSERT_EQ(1, worker(rig, "w").prefetched);
	rig_free(rig);
	PASS();
}

/* Jobs that require only labels ask for no resources, so they can be prefetched together with others. */
TEST job_with_labels_alone_stops_no_prefetch(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", 2, "big", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ .labels = words(rig, "big") }));
	ASSERT_EQ(3, out_of(rig, 5, tape));
	rig_free(rig);
	PASS();
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

/* The worker reconnected with fewer slots and resources, and has as many queued jobs as its limit allows. */
TEST worker_at_its_prefetch_limit_is_sent_no_more(void)
{
	enum { QUEUED = 1 + LIMIT_PREFETCH_MAX };
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct rig_attempt queued[QUEUED];

	join(rig, "w", 100, "", "tape=100", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(QUEUED, out_of(rig, QUEUED, tape));
	for (size_t i = 0; i < QUEUED; i++)
		queued[i] = rig_must_take(rig);
	back(rig, "w", 2, "tape=0", queued, QUEUED);
	ASSERT_EQ(1, out_of(rig, 2, (struct rec_job_spec){ 0 }));
	rig_free(rig);
	PASS();
}

/* A worker of an inactive pool is prefetched nothing, even if it runs many short jobs. */
TEST worker_of_an_inactive_pool_is_prefetched_no_jobs(enum set_verb verb)
{
	struct rig *rig = rig_new();

	join(rig, "w", 4, "", "", "night");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(4, (int)out_of(rig, 4, (struct rec_job_spec){ 0 }));
	for (int i = 0; i < 4; i++)
		rig_started(rig, rig_must_take(rig));
	set(rig, OBJECT_POOL, verb, "night");
	ASSERT_STR_EQ("", given(rig, (struct rec_job_spec){ 0 }));
	rig_free(rig);
	PASS();
}

TEST prefetched_jobs_are_spread_over_workers(void)
{
	struct rig *rig = rig_new();

	for (int k = 0; k < 2; k++) {
		join(rig, k ? "v" : "w", 1, "", "", "");
		run_short(rig, 8, 2, (struct rec_job_spec){ .only_worker = slice_str(k ? "v" : "w") });
	}
	ASSERT_EQ(22, (int)out_of(rig, 22, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(10, (int)worker(rig, "w").prefetched);
	ASSERT_EQ(10, (int)worker(rig, "v").prefetched);
	rig_free(rig);
	PASS();
}

/* A job with soft affinity isn't prefetched to its parent's worker to wait for a tape there. */
TEST soft_affinity_causes_no_prefetch(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "v", 4, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	graph_job(&graph, "parent", "");
	for (int k = 0; k < 2; k++) {
		struct rec_job_spec *job = graph_job(&graph, k ? "second" : "first", "parent");

		job->affinity = AFFINITY_PARENT;
		job->asks = tape.asks;
	}
	run = rig_submit(rig, &graph);
	join(rig, "w", 4, "", "tape=1", "");
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("v", holder(rig, run, "first"));
	ASSERT_STR_EQ("w", holder(rig, run, "second"));
	rig_free(rig);
	PASS();
}

/* Once only jobs with equal resources are left, they are prefetched again. */
TEST prefetch_resumes_after_mixed_resources_have_ended(void)
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

/* The number of slots in use doesn't include prefetched jobs. */
TEST prefetched_jobs_keep_no_slot_busy(void)
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
	ASSERT_EQ(8, worker(rig, "w").prefetched);
	rig_free(rig);
	PASS();
}

/* Workers are full with 8 prefetched jobs for each slot. A new worker without jobs counts until it is lost. */
TEST prefetch_is_full_with_enough_jobs_of_all_classes(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	ASSERT(!view_workers_full(rig->core) && view_workers_idle(rig->core));
	join(rig, "w", 2, "", "", "");
	ASSERT(!view_workers_full(rig->core) && view_workers_idle(rig->core));
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT(view_workers_idle(rig->core));
	for (int i = 0; i < 2 + 2 * VIEW_PREFETCHED_ENOUGH; i++) {
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

TEST tenants_share_the_prefetch(void)
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

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(prefetch_grows_with_short_jobs);
	RUN_TEST(prefetched_jobs_ask_for_equal_resources);
	RUN_TEST(job_with_resources_is_not_prefetched_behind_plain_jobs);
	RUN_TEST(prefetched_job_waiting_for_a_resource_takes_no_slot);
	RUN_TEST(prefetched_jobs_use_no_resources);
	RUN_TEST(job_with_labels_alone_stops_no_prefetch);
	RUN_TEST(worker_at_its_prefetch_limit_is_sent_no_more);
	RUN_TESTp(worker_of_an_inactive_pool_is_prefetched_no_jobs, SET_PAUSE);
	RUN_TESTp(worker_of_an_inactive_pool_is_prefetched_no_jobs, SET_DRAIN);
	RUN_TEST(prefetched_jobs_are_spread_over_workers);
	RUN_TEST(soft_affinity_causes_no_prefetch);
	RUN_TEST(prefetch_resumes_after_mixed_resources_have_ended);
	RUN_TEST(prefetched_jobs_keep_no_slot_busy);
	RUN_TEST(prefetch_is_full_with_enough_jobs_of_all_classes);
	RUN_TEST(tenants_share_the_prefetch);
	GREATEST_MAIN_END();
}
