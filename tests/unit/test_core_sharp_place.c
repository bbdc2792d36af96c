/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several workers has a job: what it prefers, whom it follows, what is kept free, what is sent ahead. */
#include "tests/unit/core_place.h"

/* --- what it would like --- */

TEST a_label_that_it_likes_beats_an_idle_one(void)
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

TEST more_of_what_it_likes_is_better(void)
{
	struct rig *rig = rig_new();

	load(rig, join(rig, "both", 8, "ssd near", "", ""), 800, 0);
	join(rig, "one", 8, "ssd", "", "");
	ASSERT_STR_EQ("both", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd near") }));
	ASSERT_STR_EQ("one", given(rig, (struct rec_job_spec){ .prefer = words(rig, "ssd far") }));
	rig_free(rig);
	PASS();
}

TEST a_dozen_wishes_count_and_no_more(void)
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

TEST a_pool_and_a_worker_that_it_likes(void)
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

TEST overload_is_a_matter_of_the_last_permille(void)
{
	for (int kinds = 0; kinds < 2; kinds++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };

		/* The same with one class of jobs, and with two. */
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

/* --- whom it follows --- */

TEST it_follows_most_of_its_parents(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	load(rig, join(rig, "a", 9, "", "", ""), 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_on(&graph, "p1", "b");
	graph_on(&graph, "p2", "a");
	graph_on(&graph, "p3", "a");
	graph_job(&graph, "most", "p1 p2 p3")->affinity = AFFINITY_PARENT;
	graph_job(&graph, "first", "p2 p3")->affinity = AFFINITY_PARENT;
	graph_job(&graph, "tie", "p1 p2")->affinity = AFFINITY_PARENT;
	graph_job(&graph, "none", "p2 p3");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 3; i++)
		rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "most"));
	ASSERT_STR_EQ("a", holder(rig, run, "first"));
	ASSERT_STR_EQ("b", holder(rig, run, "tie"));
	ASSERT_STR_EQ("b", holder(rig, run, "none"));
	rig_free(rig);
	PASS();
}

TEST it_follows_nobody_who_is_overloaded_or_cordoned(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	load(rig, a, 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_on(&graph, "p", "a");
	graph_job(&graph, "soft", "p")->affinity = AFFINITY_PARENT;
	job = graph_job(&graph, "hard", "p");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	run = rig_submit(rig, &graph);
	load(rig, a, 900, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("b", holder(rig, run, "soft"));
	ASSERT_STR_EQ("a", holder(rig, run, "hard"));
	graph_on(&graph, "p", "a");
	graph_job(&graph, "soft", "p")->affinity = AFFINITY_PARENT;
	job = graph_job(&graph, "hard", "p");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	rig_run_all(rig);
	run = rig_submit(rig, &graph);
	set(rig, OBJECT_WORKER, SET_PAUSE, "a");
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("b", holder(rig, run, "soft"));
	ASSERT_STR_EQ("", holder(rig, run, "hard"));
	set(rig, OBJECT_WORKER, SET_RESUME, "a");
	ASSERT_STR_EQ("a", holder(rig, run, "hard"));
	rig_free(rig);
	PASS();
}

/* All are overloaded: none would do better. */
TEST it_follows_one_that_is_no_more_overloaded_than_others(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	load(rig, join(rig, "b", 9, "", "", ""), 900, 0);
	graph_on(&graph, "p", "a");
	graph_job(&graph, "soft", "p")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	load(rig, a, 990, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "soft"));
	rig_free(rig);
	PASS();
}

TEST a_sticky_job_comes_back_to_its_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "sticky", "");
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	job->affinity = AFFINITY_STICKY;
	job->retry_max = 1;
	job->backoff_ms = 10;
	graph_job(&graph, "loose", "")->retry_max = 1;
	graph.jobs[1].backoff_ms = 10;
	run = rig_submit(rig, &graph);
	join(rig, "b", 9, "", "", "");
	load(rig, a, 800, 0);
	rig_run_one(rig, 1);
	rig_run_one(rig, 1);
	rig_pass(rig, 2000);
	ASSERT_STR_EQ("a", holder(rig, run, "sticky"));
	ASSERT_STR_EQ("b", holder(rig, run, "loose"));
	rig_free(rig);
	PASS();
}

TEST it_follows_its_parents_until_it_ran_itself(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run, a = join(rig, "a", 9, "", "", "");

	load(rig, a, 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_on(&graph, "p", "a");
	graph_job(&graph, "sticky", "p")->affinity = AFFINITY_STICKY;
	job = graph_job(&graph, "child", "p");
	job->affinity = AFFINITY_PARENT;
	job->retry_max = 1;
	job->backoff_ms = 10;
	job->priority = 100;
	run = rig_submit(rig, &graph);
	load(rig, a, 900, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("b", holder(rig, run, "child"));
	ASSERT_STR_EQ("b", holder(rig, run, "sticky"));
	rig_run_one(rig, 1);
	load(rig, a, 500, 0);
	rig_pass(rig, 2000);
	ASSERT_STR_EQ("a", holder(rig, run, "child"));
	graph_on(&graph, "p", "a");
	graph_job(&graph, "sticky", "p")->affinity = AFFINITY_STICKY;
	rig_run_all(rig);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "sticky"));
	rig_free(rig);
	PASS();
}

TEST parents_that_ran_nowhere_have_no_say(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	load(rig, join(rig, "a", 9, "", "", ""), 500, 0);
	join(rig, "b", 9, "", "", "");
	graph_job(&graph, "x", "")->labels = words(rig, "nowhere");
	graph_job(&graph, "y", "")->labels = words(rig, "nowhere");
	graph_on(&graph, "p", "a");
	graph_job(&graph, "child", "x* y* p")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "x");
	rig_cancel(rig, run, "y");
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

TEST many_jobs_at_once_are_spread_by_load(void)
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

/* --- what is kept free --- */

TEST the_worker_that_lacks_least_is_kept_free(void)
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

/* Whoever ends there gives back one. */
TEST no_slot_counts_as_what_is_lacking(void)
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

TEST others_leave_room_for_the_one_it_is_kept_for(void)
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
	ASSERT_STR_EQ("w", holder(rig, run, "last"));        /* who gives back the disk gives back a slot */
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("w", holder(rig, run, "large"));
	ASSERT_EQ(0, strcmp("", holder(rig, run, "over")));
	rig_free(rig);
	PASS();
}

TEST each_kind_of_large_job_keeps_a_worker(void)
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

/* --- what is sent ahead, and asked back --- */

TEST how_many_are_sent_ahead(void)
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
		ASSERT_EQ_FMT((uint64_t)(cases[i].out - cases[i].slots), worker(rig, "w").ahead, "%lu");
		rig_free(rig);
	}
	PASS();
}

TEST only_equals_are_sent_ahead_of_a_resource(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") }, disk = { .asks = words(rig, "disk=1") };
	size_t out;

	join(rig, "w", 2, "", "tape=2 disk=1", "");
	run_short(rig, 8, 2, tape);
	out = out_of(rig, 6, tape);      /* no more of them than it has slots */
	ASSERT_EQ(4, out);
	ASSERT_EQ(2, worker(rig, "w").ahead);
	ASSERT_EQ(2, worker(rig, "w").used.at[1]);
	ASSERT_EQ(0, out_of(rig, 3, disk));
	rig_free(rig);
	PASS();
}

TEST nothing_that_asks_is_sent_ahead_of_plain_jobs(void)
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

TEST the_newest_come_back_for_free_slots(void)
{
	struct rig *rig = rig_new();
	struct outgoing last;

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(6, out_of(rig, 6, (struct rec_job_spec){ 0 }));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(2, rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(13, last.recall.job);
	rig_pass(rig, 1);
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	join(rig, "u", 1, "", "", "");
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(12, last.recall.job);
	rig_free(rig);
	PASS();
}

TEST the_very_first_attempt_comes_back_like_any_other(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt first, second;
	struct rec_held held[2];
	struct outgoing last;

	rig_hello(rig, "w", 2);
	ASSERT_EQ(2, (int)out_of(rig, 2, (struct rec_job_spec){ 0 }));
	first = rig_must_take(rig);
	second = rig_must_take(rig);
	held[0] = (struct rec_held){ .job = first.job, .epoch = first.epoch, .phase = PHASE_QUEUED };
	held[1] = (struct rec_held){ .job = second.job, .epoch = second.epoch, .phase = PHASE_RUNNING };
	rig_hello_held(rig, "w", 1, held, 2);            /* with a slot less than it had */
	ASSERT_EQ(1, worker(rig, "w").ahead);
	join(rig, "v", 1, "", "", "");
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(first.job, last.recall.job);
	rig_free(rig);
	PASS();
}

TEST no_more_come_back_when_free_slots_go(void)
{
	struct rig *rig = rig_new();

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(6, (int)out_of(rig, 6, (struct rec_job_spec){ 0 }));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(2, rig_frames(rig, OP_RECALL, NULL));
	set(rig, OBJECT_WORKER, SET_PAUSE, "v");
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* Two are on their way back, and one slot is left for them. */
TEST no_more_come_back_than_have_a_slot(void)
{
	struct rig *rig = rig_new();

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(6, (int)out_of(rig, 6, (struct rec_job_spec){ 0 }));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(2, rig_frames(rig, OP_RECALL, NULL));
	ASSERT_STR_EQ("v", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST nothing_comes_back_for_one_that_could_not_take_it(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec gpu = { .labels = words(rig, "gpu") };

	join(rig, "w", 1, "gpu", "", "");
	run_short(rig, 8, 2, gpu);
	ASSERT_EQ(4, out_of(rig, 4, gpu));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	join(rig, "u", 2, "gpu", "", "");
	ASSERT_EQ(3, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* Asked back for a slot that placing passes over, it would be sent ahead again, and asked back, turn after turn. */
TEST nothing_comes_back_for_one_that_flaps(void)
{
	struct rig *rig = rig_new();

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, "v", 2, "", "", ""));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(6, (int)out_of(rig, 6, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(5, (int)worker(rig, "w").ahead);
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");         /* there is nobody steady any more */
	ASSERT_EQ(2, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST nothing_comes_back_for_what_is_kept(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct graph half = { 0 }, large = { 0 };
	uint64_t run;

	join(rig, "w", 1, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	join(rig, "v", 2, "", "tape=2", "");
	graph_on(&half, "half", "v")->asks = tape.asks;
	graph_job(&large, "large", "")->asks = words(rig, "tape=2");
	rig_submit(rig, &half);
	run = rig_submit(rig, &large);
	ASSERT_EQ(rig_named(rig, run, "large"), worker(rig, "v").reserved);
	ASSERT_EQ(2, (int)out_of(rig, 2, tape));
	ASSERT_EQ(1, (int)worker(rig, "w").ahead);
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_cancel(rig, run, "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST what_has_a_slot_does_not_come_back(uint64_t slots)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", slots, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(2, (int)out_of(rig, 2, tape));         /* one of them waits for the other's tape */
	load(rig, join(rig, "v", 2, "", "", ""), 600, 0);
	ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(1, (int)worker(rig, "w").ahead);
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* What was sent ahead while jobs were short waits for a tape; the second slot is anybody's. */
TEST what_waits_for_a_resource_takes_no_slot(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", 2, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(3, (int)out_of(rig, 3, tape));
	done_after(rig, rig_must_take(rig), 60000);      /* nothing is sent ahead any more */
	ASSERT_EQ(1, (int)worker(rig, "w").ahead);
	ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_STR_EQ("", given(rig, (struct rec_job_spec){ 0 }));
	rig_free(rig);
	PASS();
}

TEST a_draining_worker_gives_back_what_it_has_not_begun(void)
{
	for (int of_pool = 0; of_pool < 2; of_pool++) {
		struct rig *rig = rig_new();

		join(rig, "w", 1, "", "", "night");
		run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
		ASSERT_EQ(4, out_of(rig, 4, (struct rec_job_spec){ 0 }));
		rig_started(rig, rig_must_take(rig));
		set(rig, of_pool ? OBJECT_POOL : OBJECT_WORKER, SET_PAUSE, of_pool ? "night" : "w");
		ASSERT_EQ(of_pool ? 3 : 0, (int)rig_frames(rig, OP_RECALL, NULL));
		set(rig, of_pool ? OBJECT_POOL : OBJECT_WORKER, SET_DRAIN, of_pool ? "night" : "w");
		ASSERT_EQ(of_pool ? 0 : 3, (int)rig_frames(rig, OP_RECALL, NULL));
		rig_free(rig);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_label_that_it_likes_beats_an_idle_one);
	RUN_TEST(more_of_what_it_likes_is_better);
	RUN_TEST(a_dozen_wishes_count_and_no_more);
	RUN_TEST(a_pool_and_a_worker_that_it_likes);
	RUN_TEST(overload_is_a_matter_of_the_last_permille);
	RUN_TEST(it_follows_most_of_its_parents);
	RUN_TEST(it_follows_nobody_who_is_overloaded_or_cordoned);
	RUN_TEST(it_follows_one_that_is_no_more_overloaded_than_others);
	RUN_TEST(a_sticky_job_comes_back_to_its_worker);
	RUN_TEST(it_follows_its_parents_until_it_ran_itself);
	RUN_TEST(parents_that_ran_nowhere_have_no_say);
	RUN_TEST(many_jobs_at_once_are_spread_by_load);
	RUN_TEST(the_worker_that_lacks_least_is_kept_free);
	RUN_TEST(no_slot_counts_as_what_is_lacking);
	RUN_TEST(others_leave_room_for_the_one_it_is_kept_for);
	RUN_TEST(each_kind_of_large_job_keeps_a_worker);
	RUN_TEST(how_many_are_sent_ahead);
	RUN_TEST(only_equals_are_sent_ahead_of_a_resource);
	RUN_TEST(nothing_that_asks_is_sent_ahead_of_plain_jobs);
	RUN_TEST(the_newest_come_back_for_free_slots);
	RUN_TEST(the_very_first_attempt_comes_back_like_any_other);
	RUN_TEST(no_more_come_back_when_free_slots_go);
	RUN_TEST(no_more_come_back_than_have_a_slot);
	RUN_TEST(nothing_comes_back_for_one_that_could_not_take_it);
	RUN_TEST(nothing_comes_back_for_one_that_flaps);
	RUN_TEST(nothing_comes_back_for_what_is_kept);
	RUN_TESTp(what_has_a_slot_does_not_come_back, 4);
	RUN_TESTp(what_has_a_slot_does_not_come_back, 2);
	RUN_TEST(what_waits_for_a_resource_takes_no_slot);
	RUN_TEST(a_draining_worker_gives_back_what_it_has_not_begun);
	GREATEST_MAIN_END();
}
