/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reserved workers: which worker's free room is kept for a large job, and what other jobs may still use. */
#include "tests/unit/core_place.h"

TEST reserved_worker_is_the_one_that_lacks_least(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "a", 9, "", "tape=4", "");
	join(rig, "b", 9, "", "tape=4", "");
	join(rig, "c", 9, "", "tape=4", "");
	graph_on(&graph, "on_a", "a")->asks = words(rig, "tape=3");
	graph_on(&graph, "on_b", "b")->asks = words(rig, "tape=1");
	graph_on(&graph, "on_c", "c")->asks = words(rig, "tape=2");
	graph_job(&graph, "large", "")->asks = words(rig, "tape=4");
	graph.jobs[3].priority = 1;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("", holder(rig, run, "large"));
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "b").reserved);
	ASSERT(worker(rig, "a").reserved == 0 && worker(rig, "c").reserved == 0);
	set(rig, OBJECT_WORKER, SET_PAUSE, "b");
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "c").reserved);
	ASSERT_EQ(0, worker(rig, "b").reserved);
	rig_free(rig);
	PASS();
}

/* A worker that lacks a slot is nearer than one that lacks resources: any job that ends gives back a slot. */
TEST missing_slot_counts_less_than_missing_resources(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "slotless", 1, "", "tape=4", "");
	join(rig, "tapeless", 2, "", "tape=4", "");
	graph_on(&graph, "p", "slotless");
	graph_on(&graph, "q", "tapeless")->asks = words(rig, "tape=3");
	graph_job(&graph, "large", "")->asks = words(rig, "tape=4");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "slotless").reserved);
	ASSERT_EQ(0, worker(rig, "tapeless").reserved);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("slotless", holder(rig, run, "large"));
	rig_free(rig);
	PASS();
}

TEST jobs_behind_leave_the_reserved_room_free(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 5, "", "tape=3 disk=2 pen=1", "");
	graph_job(&graph, "busy", "")->asks = words(rig, "disk=1");
	graph_job(&graph, "large", "")->asks = words(rig, "disk=2 tape=1");
	graph_job(&graph, "fits", "")->asks = words(rig, "tape=2");
	graph_job(&graph, "over", "")->asks = words(rig, "tape=1");
	graph_job(&graph, "apart", "")->asks = words(rig, "pen=1");
	graph_job(&graph, "plain", "");
	graph_job(&graph, "last", "");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "w").reserved);
	ASSERT_STR_EQ("w", holder(rig, run, "fits"));
	ASSERT_STR_EQ("", holder(rig, run, "over"));
	ASSERT_STR_EQ("w", holder(rig, run, "apart"));
	ASSERT_STR_EQ("w", holder(rig, run, "plain"));
	ASSERT_STR_EQ("w", holder(rig, run, "last"));        /* the job that returns the disk also returns its slot */
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("w", holder(rig, run, "large"));
	ASSERT_EQ(0, strcmp("", holder(rig, run, "over")));
	rig_free(rig);
	PASS();
}

TEST each_class_of_large_jobs_reserves_a_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "a", 5, "", "tape=2 disk=2", "");
	join(rig, "b", 5, "", "tape=2 disk=2", "");
	graph_on(&graph, "on_a", "a")->asks = words(rig, "tape=1 disk=1");
	graph_on(&graph, "on_b", "b")->asks = words(rig, "tape=1 disk=1");
	graph_job(&graph, "tapes", "")->asks = words(rig, "tape=2");
	graph_job(&graph, "disks", "")->asks = words(rig, "disk=2");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig_named(rig, run, "tapes") + rig_named(rig, run, "disks"),
		  worker(rig, "a").reserved + worker(rig, "b").reserved);
	ASSERT(worker(rig, "a").reserved != worker(rig, "b").reserved);
	rig_free(rig);
	PASS();
}

/* Make two workers with four tapes each, two of them in use. */
static struct rig *two_half_full(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	join(rig, "a", 9, "", "tape=4", "");
	join(rig, "b", 9, "", "tape=4", "");
	graph_on(&graph, "on_a", "a")->asks = words(rig, "tape=2");
	graph_on(&graph, "on_b", "b")->asks = words(rig, "tape=2");
	rig_submit(rig, &graph);
	return rig;
}

TEST first_of_equal_workers_is_reserved_once_a_class(void)
{
	struct rig *rig = two_half_full();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "large", "")->asks = words(rig, "tape=4");
	graph_job(&graph, "another", "")->asks = words(rig, "tape=4");
	graph_job(&graph, "small", "")->asks = words(rig, "tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "a").reserved);
	ASSERT_EQ(0, worker(rig, "b").reserved);
	ASSERT_STR_EQ("b", holder(rig, run, "small"));
	rig_free(rig);
	PASS();
}

/* For a job with hard affinity the parent's worker is reserved; with soft affinity, the worker that lacks least. */
TEST job_with_hard_affinity_reserves_its_worker(void)
{
	for (int hard = 0; hard < 2; hard++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *child;
		struct rig_attempt parent;
		uint64_t run;

		join(rig, "a", 9, "", "tape=4", "");
		join(rig, "b", 9, "", "tape=4", "");
		graph_on(&graph, "parent", "b");
		graph_on(&graph, "on_a", "a")->asks = words(rig, "tape=1");
		graph_on(&graph, "on_b", "b")->asks = words(rig, "tape=2");
		child = graph_job(&graph, "child", "parent");
		child->asks = words(rig, "tape=4");
		child->affinity = AFFINITY_PARENT;
		child->affinity_hard = hard;
		run = rig_submit(rig, &graph);
		parent = rig_must_take(rig);
		rig_started(rig, parent);
		rig_done(rig, parent, OUTCOME_EXIT, 0);
		ASSERT_EQ(rig_named(rig, run, "child"), worker(rig, hard ? "b" : "a").reserved);
		ASSERT_EQ(0, worker(rig, hard ? "a" : "b").reserved);
		rig_free(rig);
	}
	PASS();
}

/* A worker is reserved only once one of its slots is free. */
TEST worker_without_a_free_slot_is_not_reserved(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 2, "", "tape=2", "");
	for (int i = 0; i < 2; i++)
		given(rig, (struct rec_job_spec){ .asks = words(rig, "tape=1") });
	graph_job(&graph, "large", "")->asks = words(rig, "tape=2");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(0, worker(rig, "w").reserved);
	rig_run_one(rig, 0);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "w").reserved);
	rig_free(rig);
	PASS();
}

static uint64_t submit(struct rig *rig, const char *tenant, unsigned jobs, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	char name[16];

	rig->tenant = tenant;
	for (unsigned i = 0; i < jobs; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "j%u", i);
		job = graph_job(&graph, name, "");
		wanted.name = job->name;
		wanted.argv = job->argv;
		*job = wanted;
	}
	return rig_submit(rig, &graph);
}

static uint64_t one(struct rig *rig, struct rec_job_spec wanted)
{
	return submit(rig, "ana", 1, wanted);
}

/* A reserved worker is prefetched no jobs, because they would take the reserved slot when the running job ends. */
TEST reserved_worker_is_prefetched_no_jobs(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt half;
	uint64_t large;

	join(rig, "w", 1, "", "tape=2", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	one(rig, (struct rec_job_spec){ .asks = words(rig, "tape=1") });
	rig_started(rig, half = rig_must_take(rig));
	large = one(rig, (struct rec_job_spec){ .asks = words(rig, "tape=2") });
	ASSERT_EQ(0, (int)out_of(rig, 4, (struct rec_job_spec){ 0 }));
	rig_done(rig, half, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("w", holder(rig, large, "j0"));
	rig_free(rig);
	PASS();
}

/* The prefetched job takes the tape as soon as one is free, so no other job is given that tape. */
TEST freed_resource_goes_to_the_prefetched_job_first(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 3, "", "tape=1 disk=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(2, (int)out_of(rig, 2, tape));
	graph_job(&graph, "large", "")->asks = words(rig, "disk=1 tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("", holder(rig, run, "large"));
	done_after(rig, rig_must_take(rig), 2);
	ASSERT_STR_EQ("", holder(rig, run, "large"));
	done_after(rig, rig_must_take(rig), 2);
	ASSERT_STR_EQ("w", holder(rig, run, "large"));
	rig_free(rig);
	PASS();
}

/* Submit jobs on workers a and b and a large job, with these requests. Return the worker reserved for the large job. */
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

/*
 * Missing resources are compared as shares of the request: half of the gpus is more than a tenth of the memory, though
 * that is more in bytes.
 */
TEST missing_resources_are_compared_as_shares_of_the_request(const char *on_a, const char *on_b, const char *kept)
{
	struct rig *rig = rig_new();

	join(rig, "a", 9, "", "gpus=4 memory=1000000 hugely=1152921504606846976", "");
	join(rig, "b", 9, "", "gpus=4 memory=1000000 hugely=1152921504606846976", "");
	ASSERT_STR_EQ(kept, kept_for_large(rig, on_a, on_b, "gpus=4 memory=1000000 hugely=1152921504606846976"));
	rig_free(rig);
	PASS();
}

/* Let the worker lose its connection often enough to flap; it is connected at the end. */
static void flap(struct rig *rig, const char *name, uint64_t slots, const char *offers)
{
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, name, slots, "", offers, ""));
	join(rig, name, slots, "", offers, "");
}

/* A flapping worker isn't reserved while a steady one could run the job: nobody would get its room. */
TEST flapping_worker_is_not_reserved(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	flap(rig, "flaps", 4, "cpus=4000");
	join(rig, "steady", 4, "", "cpus=4000", "");
	ASSERT_STR_EQ("flaps", given(rig, (struct rec_job_spec){ .asks = words(rig, "cpus=1000"),
								  .only_worker = slice_str("flaps") }));
	ASSERT_STR_EQ("steady", given(rig, (struct rec_job_spec){ .asks = words(rig, "cpus=3000") }));
	graph_job(&graph, "large", "")->asks = words(rig, "cpus=4000");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "steady").reserved);
	ASSERT_EQ(0, (int)worker(rig, "flaps").reserved);
	rig_free(rig);
	PASS();
}

/* The reserved worker is the one that lacks least over all resources of the request together. */
TEST reserved_worker_lacks_least_over_all_resources(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "a", 4, "", "disk=2 tape=2", "");
	join(rig, "b", 4, "", "disk=2 tape=2", "");
	ASSERT_STR_EQ("a", given(rig, (struct rec_job_spec){ .asks = words(rig, "disk=2"), .only_worker = slice_str("a") }));
	ASSERT_STR_EQ("b", given(rig, (struct rec_job_spec){ .asks = words(rig, "disk=1 tape=2"),
							      .only_worker = slice_str("b") }));
	graph_job(&graph, "large", "")->asks = words(rig, "disk=2 tape=2");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "a").reserved);
	ASSERT_EQ(0, (int)worker(rig, "b").reserved);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reserved_worker_is_the_one_that_lacks_least);
	RUN_TEST(missing_slot_counts_less_than_missing_resources);
	RUN_TEST(jobs_behind_leave_the_reserved_room_free);
	RUN_TEST(each_class_of_large_jobs_reserves_a_worker);
	RUN_TEST(first_of_equal_workers_is_reserved_once_a_class);
	RUN_TEST(job_with_hard_affinity_reserves_its_worker);
	RUN_TEST(worker_without_a_free_slot_is_not_reserved);
	RUN_TEST(reserved_worker_is_prefetched_no_jobs);
	RUN_TEST(freed_resource_goes_to_the_prefetched_job_first);
	RUN_TESTp(missing_resources_are_compared_as_shares_of_the_request, "gpus=2", "memory=100000", "b");
	RUN_TESTp(missing_resources_are_compared_as_shares_of_the_request, "gpus=1", "memory=300000", "a");
	RUN_TESTp(missing_resources_are_compared_as_shares_of_the_request, "gpus=2", "hugely=461168601842738790", "b");
	RUN_TESTp(missing_resources_are_compared_as_shares_of_the_request, "gpus=1", "hugely=461168601842738790", "a");
	RUN_TEST(flapping_worker_is_not_reserved);
	RUN_TEST(reserved_worker_lacks_least_over_all_resources);
	GREATEST_MAIN_END();
}
