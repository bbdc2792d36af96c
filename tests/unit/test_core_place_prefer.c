/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several workers is chosen: preferred labels, pool and worker, load and overload. */
#include "tests/unit/core_place.h"

/* In a worker's score, 200 ms to start a job cost less than one busy slot of twenty. */
TEST slow_start_costs_less_than_a_busy_slot(void)
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

/* Page cache can be dropped, so a worker whose memory is full of it isn't overloaded. */
TEST worker_with_full_memory_is_not_overloaded(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_HEARTBEAT };

	join(rig, "w", 2, "", "", "");
	input.conn = rig->conn;
	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 7, .mem_permille = 990 };
	rig_step(rig, &input);
	join(rig, "v", 2, "", "", "");
	load(rig, rig->conn, 500, 0);
	ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
	rig_free(rig);
	PASS();
}

TEST preferred_label_beats_an_idle_worker(void)
{
	struct rig *rig = rig_new();

	load(rig, join(rig, "fast", 8, "ssd", "", ""), 890, 890);
	join(rig, "idle", 8, "", "", "");
	ASSERT_STR_EQ("fast", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd") }));
	ASSERT_STR_EQ("idle", given(rig, (struct rec_job_spec){ .prefer = words(rig, "other") }));
	ASSERT_STR_EQ("idle", given(rig, (struct rec_job_spec){ 0 }));
	load(rig, 1, 900, 0);
	ASSERT_STR_EQ("idle", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd") }));
	load(rig, 1, 0, 900);
	ASSERT_STR_EQ("idle", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd") }));
	rig_free(rig);
	PASS();
}

TEST worker_with_more_preferred_labels_is_chosen(void)
{
	struct rig *rig = rig_new();

	load(rig, join(rig, "both", 8, "ssd near", "", ""), 800, 0);
	join(rig, "one", 8, "ssd", "", "");
	ASSERT_STR_EQ("both", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd near") }));
	ASSERT_STR_EQ("one", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd far") }));
	rig_free(rig);
	PASS();
}

TEST only_twelve_preferred_labels_count(void)
{
	struct rig *rig = rig_new();
	const char *const wishes = "a b c d e f g h i j k l m";

	load(rig, join(rig, "twelve", 8, "m", "", ""), 500, 0);
	join(rig, "thirteen", 8, "", "", "");
	ASSERT_STR_EQ("thirteen", given(rig, (struct rec_job_spec){ .prefer = words(rig, wishes) }));
	load(rig, join(rig, "eleven", 8, "l m", "", ""), 800, 0);
	ASSERT_STR_EQ("eleven", given(rig, (struct rec_job_spec){ .prefer = words(rig, wishes) }));
	rig_free(rig);
	PASS();
}

TEST preferred_pool_and_worker_are_chosen(void)
{
	struct rig *rig = rig_new();

	load(rig, join(rig, "a", 8, "", "", "night"), 600, 0);
	load(rig, join(rig, "b", 8, "", "", "day"), 300, 0);
	join(rig, "c", 8, "", "", "");
	ASSERT_STR_EQ("a", given(rig, (struct rec_job_spec){ .pool = slice_str("night") }));
	ASSERT_STR_EQ("b", given(rig, (struct rec_job_spec){ .prefer_worker = slice_str("b") }));
	ASSERT_STR_EQ("c", given(rig, (struct rec_job_spec){ .prefer_worker = slice_str("nobody") }));
	ASSERT_STR_EQ("c", given(rig, (struct rec_job_spec){ .pool = slice_str("nowhere") }));
	ASSERT_STR_EQ("", given(rig, (struct rec_job_spec){ .pool = slice_str("nowhere"), .pool_hard = true }));
	ASSERT_STR_EQ("b", given(rig, (struct rec_job_spec){ .pool = slice_str("day"), .pool_hard = true }));
	ASSERT_STR_EQ("a", given(rig, (struct rec_job_spec){ .only_worker = slice_str("a") }));
	rig_free(rig);
	PASS();
}

TEST overload_begins_at_900_permille(void)
{
	for (int kinds = 0; kinds < 2; kinds++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };

		/* The queue is checked once with one class of jobs, and once with two. */
		graph_job(&graph, "nobodys", "")->labels = words(rig, kinds ? "gpu" : "");
		graph_job(&graph, "other", "");
		rig_submit(rig, &graph);
		load(rig, join(rig, "even", 100, "", "", ""), 890, 890);
		load(rig, join(rig, "w", 100, "", "", ""), 899, 0);
		ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
		load(rig, 2, 900, 0);
		ASSERT_STR_EQ("even", given(rig, (struct rec_job_spec){ 0 }));
		load(rig, 2, 0, 899);
		ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
		load(rig, 2, 0, 900);
		ASSERT_STR_EQ("even", given(rig, (struct rec_job_spec){ 0 }));
		rig_free(rig);
	}
	PASS();
}

TEST jobs_of_one_turn_are_spread_by_load(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	load(rig, join(rig, "a", 10, "x", "", ""), 0, 0);
	load(rig, join(rig, "b", 10, "x", "", ""), 150, 0);
	load(rig, join(rig, "c", 10, "x", "", ""), 350, 0);
	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "")->labels = words(rig, "x");
	}
	rig_submit(rig, &graph);
	ASSERT_EQ(3, worker(rig, "a").busy);
	ASSERT_EQ(2, worker(rig, "b").busy);
	ASSERT_EQ(0, worker(rig, "c").busy);
	rig_free(rig);
	PASS();
}

/* A free slot is better than a prefetch at another worker, however busy the machine with the free slot is. */
TEST free_slot_beats_prefetch_at_an_idle_worker(void)
{
	struct rig *rig = rig_new();

	join(rig, "full", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_STR_EQ("full", given(rig, (struct rec_job_spec){ 0 }));
	load(rig, join(rig, "loaded", 1, "", "", ""), 1000, 1000);
	ASSERT_STR_EQ("loaded", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(0, worker(rig, "full").prefetched);
	rig_free(rig);
	PASS();
}

TEST label_is_matched_whole(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "short", "")->labels = words(rig, "gp");
	graph_job(&graph, "exact", "")->labels = words(rig, "gpu");
	graph_job(&graph, "long", "")->labels = words(rig, "gpux");
	graph_job(&graph, "last", "")->labels = words(rig, "gpu zoo");
	run = rig_submit(rig, &graph);
	join(rig, "w", 9, "gpu", "", "");
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "short"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "exact"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "long"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "last"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(slow_start_costs_less_than_a_busy_slot);
	RUN_TEST(worker_with_full_memory_is_not_overloaded);
	RUN_TEST(preferred_label_beats_an_idle_worker);
	RUN_TEST(worker_with_more_preferred_labels_is_chosen);
	RUN_TEST(only_twelve_preferred_labels_count);
	RUN_TEST(preferred_pool_and_worker_are_chosen);
	RUN_TEST(overload_begins_at_900_permille);
	RUN_TEST(jobs_of_one_turn_are_spread_by_load);
	RUN_TEST(free_slot_beats_prefetch_at_an_idle_worker);
	RUN_TEST(label_is_matched_whole);
	GREATEST_MAIN_END();
}
