/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue across classes and bounds, what is asked back, and what is said of that. */
#include "proto/limits.h"
#include "proto/reasons.h"
#include "tests/unit/core_place.h"

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

/* --- across classes and bounds --- */

/* Whose turn it is doesn't depend on what the jobs want of their worker. */
TEST tenants_take_turns_across_classes(void)
{
	struct rig *rig = rig_new();
	uint64_t plain = submit(rig, "a", 3, (struct rec_job_spec){ 0 });
	uint64_t gpu = submit(rig, "b", 3, (struct rec_job_spec){ .labels = words(rig, "gpu") });

	join(rig, "w", 1, "gpu", "", "");
	for (unsigned i = 0; i < 6; i++)
		ASSERT_EQ(i % 2 ? gpu : plain, rig_job(rig, rig_run_one(rig, 0)).run);
	rig_free(rig);
	PASS();
}

/* It finds one of its two groups taken just before it: what it leaves of the other is for the next. */
TEST what_one_leaves_of_its_groups_is_for_the_next(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[3];
	uint64_t both, one;

	join(rig, "w", 3, "", "", "");
	submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "x") });
	both = submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "x y"), .priority = 61 });
	one = submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "x") });
	submit(rig, "a", 2, (struct rec_job_spec){ 0 });
	submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "y"), .priority = 71 });
	for (int i = 0; i < 3; i++)
		rig_started(rig, attempts[i] = rig_must_take(rig));
	rig_done(rig, attempts[0], OUTCOME_EXIT, 0);
	rig_done(rig, attempts[1], OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, both, "j0"));
	ASSERT_STR_EQ("w", holder(rig, one, "j0"));
	rig_free(rig);
	PASS();
}

/* What was cancelled behind the one that waits for its worker is in the queue still, and nobody's to wait for. */
TEST one_that_waits_for_its_worker_is_before_nobody(void)
{
	static const char *const workers[] = { "u", "v" };
	struct rec_job_spec follows = { .affinity = AFFINITY_PARENT, .affinity_hard = true, .priority = 11 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, other;

	for (int k = 0; k < 2; k++) {
		join(rig, workers[k], 1, "", "", "");
		graph_job(&graph, k ? "parent_v" : "parent_u", "")->only_worker = slice_str(workers[k]);
	}
	for (int k = 0; k < 2; k++) {
		struct rec_job_spec *job = graph_job(&graph, k ? "long_v" : "long_u", k ? "parent_v" : "parent_u");

		job->only_worker = slice_str(workers[k]);
		job->priority = 100;
		job = graph_job(&graph, k ? "child_v" : "child_u", k ? "parent_v" : "parent_u");
		job->affinity = AFFINITY_PARENT;
		job->affinity_hard = true;
	}
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig->max_jobs = 0;
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	other = submit(rig, "ana", 1, follows);
	rig_cancel(rig, other, "");
	rig_started(rig, rig_must_take(rig));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "long_v"));
	ASSERT_STR_EQ("", holder(rig, run, "child_u"));
	ASSERT_STR_EQ("v", holder(rig, run, "child_v"));
	rig_free(rig);
	PASS();
}

/* Behind it one of another run is given out: what is parked behind the first has a worker that is free even so. */
TEST one_that_waits_for_its_worker_keeps_nobody_parked(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, other = { 0 };
	struct rig_attempt long_u, long_v, blocker;
	uint64_t run, behind;

	join(rig, "u", 1, "", "", "");
	join(rig, "v", 2, "", "", "");
	for (int k = 0; k < 2; k++)
		graph_on(&graph, k ? "parent_v" : "parent_u", k ? "v" : "u");
	for (int k = 0; k < 2; k++) {
		struct rec_job_spec *job = graph_job(&graph, k ? "long_v" : "long_u", k ? "parent_v" : "parent_u");

		job->only_worker = slice_str(k ? "v" : "u");
		job->priority = 101;
		job = graph_job(&graph, k ? "child_v" : "child_u", k ? "parent_v" : "parent_u");
		job->affinity = AFFINITY_PARENT;
		job->affinity_hard = true;
	}
	graph_on(&other, "parent", "v");
	graph_job(&other, "child", "parent")->affinity = AFFINITY_PARENT;
	other.jobs[1].affinity_hard = true;
	behind = rig_submit(rig, &other);
	rig_act(rig, ACT_HOLD, behind, "child", 0);
	rig_run_one(rig, 0);
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig->max_jobs = 0;
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	rig_started(rig, long_u = rig_must_take(rig));
	rig_started(rig, long_v = rig_must_take(rig));
	given(rig, (struct rec_job_spec){ .only_worker = slice_str("v") });
	rig_started(rig, blocker = rig_must_take(rig));
	rig_act(rig, ACT_PRIORITY, behind, "child", 10);
	rig_act(rig, ACT_RELEASE, behind, "child", 0);
	ASSERT_STR_EQ("", holder(rig, behind, "child"));
	done_together(rig, long_v, blocker);
	ASSERT_STR_EQ("", holder(rig, run, "child_u"));
	ASSERT_STR_EQ("v", holder(rig, behind, "child"));
	ASSERT_STR_EQ("v", holder(rig, run, "child_v"));
	rig_free(rig);
	PASS();
}

/* It would rather be where its parent was; but who flaps is passed over. */
TEST one_that_only_likes_it_follows_nobody_who_flaps(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "v", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "child", 0);
	rig_run_one(rig, 0);
	rig_gone(rig, rig->conn);
	for (int i = 1; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, "v", 2, "", "", ""));
	join(rig, "v", 2, "", "", "");
	join(rig, "w", 2, "", "", "");
	rig_act(rig, ACT_RELEASE, run, "child", 0);
	ASSERT_STR_EQ("w", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* Only for slots that may be given: one that was cordoned has four, and another one. */
TEST no_more_come_back_than_may_start_elsewhere(void)
{
	struct rig *rig = rig_new();

	join(rig, "cordoned", 4, "", "", "");
	set(rig, OBJECT_WORKER, SET_PAUSE, "cordoned");
	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(6, (int)out_of(rig, 6, (struct rec_job_spec){ 0 }));
	join(rig, "v", 1, "", "", "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* What is on its way back and waited for a tape had no slot: that another one lacks a slot is as true as before. */
TEST one_on_its_way_back_is_no_slot_of_another(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct graph graph = { 0 };
	struct outgoing last = { 0 };
	uint64_t run;

	join(rig, "w", 1, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	graph_job(&graph, "first", "")->asks = words(rig, "tape=1");
	graph_job(&graph, "plain", "");
	graph_job(&graph, "second", "")->asks = words(rig, "tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("w", holder(rig, run, "second"));
	join(rig, "v", 1, "", "tape=1", "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(rig_named(rig, run, "second"), last.recall.job);
	join(rig, "u", 1, "", "", "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(rig_named(rig, run, "plain"), last.recall.job);
	rig_free(rig);
	PASS();
}

/* A person's word comes before a bound that is full as well: letting go of it is what has to be done. */
TEST what_is_held_back_waits_for_a_person_first(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row = { 0 };
	uint64_t run;

	join(rig, "w", 4, "", "", "");
	rig->max_jobs = 1;
	run = submit(rig, "a", 2, (struct rec_job_spec){ 0 });
	rig_act(rig, ACT_HOLD, run, "j1", 0);
	CHECK(view_explain(rig->core, rig_named(rig, run, "j1"), &rig->arena, &row));
	ASSERT_EQ(REASON_HELD, row.why_code);
	rig_free(rig);
	PASS();
}

/* Of a group. */
TEST what_was_cancelled_waits_no_more(void)
{
	struct rig *rig = rig_new();
	struct rec_group_row row = { 0 };
	uint64_t run;

	join(rig, "w", 4, "", "", "");
	run = submit(rig, "a", 4, (struct rec_job_spec){ .concurrency = words(rig, "db") });
	ASSERT(view_group(rig->core, 0, &row));
	ASSERT_EQ(3, row.waiting);
	rig_cancel(rig, run, "j2");
	ASSERT(view_group(rig->core, 0, &row));
	ASSERT_EQ(2, row.waiting);
	rig_free(rig);
	PASS();
}

/* --- who is next --- */

static uint64_t one(struct rig *rig, struct rec_job_spec wanted)
{
	return submit(rig, "ana", 1, wanted);
}

/* Among jobs of a group, of a run. Room came when no slot was free, so one of them is in the queue, and another not yet. */
TEST a_priority_counts_at_a_bound(bool of_run, bool raised)
{
	struct rec_job_spec bounded = { .priority = 51 };
	struct rig *rig = rig_new();
	struct rig_attempt first, urgent;
	uint64_t run[3];

	join(rig, "w", 1, "", "", "");
	bounded.concurrency = of_run ? bounded.concurrency : words(rig, "db");
	rig->max_jobs = of_run;
	for (int i = 0; i < 3; i++)
		run[i] = of_run && i ? run[0] : submit(rig, "ana", of_run ? 3 : 1, bounded);
	rig->max_jobs = 0;
	rig_started(rig, first = rig_must_take(rig));
	join(rig, "v", 1, "", "", "");           /* all but the first have been looked at */
	set(rig, OBJECT_WORKER, SET_PAUSE, "v");
	one(rig, (struct rec_job_spec){ .priority = 101 });
	rig_done(rig, first, OUTCOME_EXIT, 0);
	rig_started(rig, urgent = rig_must_take(rig));
	if (raised)
		rig_act(rig, ACT_PRIORITY, run[2], of_run ? "j2" : "j0", 90);
	else
		rig_act(rig, ACT_PRIORITY, run[1], of_run ? "j1" : "j0", 10);
	rig_done(rig, urgent, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, run[1], of_run ? "j1" : "j0"));
	ASSERT_STR_EQ("w", holder(rig, run[2], of_run ? "j2" : "j0"));
	rig_free(rig);
	PASS();
}

/* The best of its class has no room: that counts for nothing among the classes, only what comes behind it. */
TEST a_class_counts_by_what_may_be_given(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt filler;
	uint64_t low, middle;

	join(rig, "w", 2, "gpu", "", "");
	one(rig, (struct rec_job_spec){ .concurrency = words(rig, "db") });
	rig_started(rig, rig_must_take(rig));
	one(rig, (struct rec_job_spec){ 0 });
	rig_started(rig, filler = rig_must_take(rig));
	one(rig, (struct rec_job_spec){ .concurrency = words(rig, "db"), .priority = 91 });
	low = one(rig, (struct rec_job_spec){ .priority = 11 });
	middle = one(rig, (struct rec_job_spec){ .labels = words(rig, "gpu") });
	rig_done(rig, filler, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, low, "j0"));
	ASSERT_STR_EQ("w", holder(rig, middle, "j0"));
	rig_free(rig);
	PASS();
}

/* A class that is looked at later has who wants the lock alone: the reader of the first one is kept out by then. */
TEST a_class_counts_by_what_is_kept_out_last(void)
{
	struct rec_job_spec reader = { .mode = EXEC_EXCLUSIVE, .priority = 81 };
	struct rec_job_spec writer = { .mode = EXEC_EXCLUSIVE, .priority = 91 };
	struct rig *rig = rig_new();
	struct rig_attempt filler;
	uint64_t low, middle;

	reader.locks = words(rig, "db=shared");
	writer.locks = words(rig, "db");
	writer.labels = words(rig, "gpu");
	join(rig, "w", 2, "gpu", "", "");
	one(rig, reader);
	rig_started(rig, rig_must_take(rig));
	one(rig, (struct rec_job_spec){ 0 });
	rig_started(rig, filler = rig_must_take(rig));
	one(rig, reader);
	low = one(rig, (struct rec_job_spec){ .priority = 11 });
	one(rig, writer);
	middle = one(rig, (struct rec_job_spec){ .labels = words(rig, "gpu") });
	rig_done(rig, filler, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, low, "j0"));
	ASSERT_STR_EQ("w", holder(rig, middle, "j0"));
	rig_free(rig);
	PASS();
}

/* A class that nobody can serve holds up no other. */
TEST a_writer_without_a_worker_keeps_no_reader_out(bool served)
{
	struct rec_job_spec reader = { .mode = EXEC_EXCLUSIVE }, writer = { .mode = EXEC_EXCLUSIVE, .priority = 91 };
	struct rig *rig = rig_new();

	reader.locks = words(rig, "db=shared");
	writer.locks = words(rig, "db");
	writer.labels = words(rig, "gpu");
	join(rig, "w", 4, served ? "gpu" : "", "", "");
	ASSERT_STR_EQ("w", given(rig, reader));
	ASSERT_STR_EQ("", given(rig, writer));
	ASSERT_STR_EQ(served ? "" : "w", given(rig, reader));
	rig_free(rig);
	PASS();
}

/* --- ahead of need --- */

TEST what_nobody_can_serve_keeps_nothing_away(void)
{
	struct rig *rig = rig_new();

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	one(rig, (struct rec_job_spec){ .labels = words(rig, "gpu") });
	ASSERT_EQ(6, (int)out_of(rig, 6, (struct rec_job_spec){ 0 }));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(2, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* Behind what runs there they would have the slot that is kept. */
TEST nothing_is_sent_ahead_to_one_that_is_kept_free(void)
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

TEST what_is_sent_ahead_is_spread(void)
{
	struct rig *rig = rig_new();

	for (int k = 0; k < 2; k++) {
		join(rig, k ? "v" : "w", 1, "", "", "");
		run_short(rig, 8, 2, (struct rec_job_spec){ .only_worker = slice_str(k ? "v" : "w") });
	}
	ASSERT_EQ(22, (int)out_of(rig, 22, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(10, (int)worker(rig, "w").ahead);
	ASSERT_EQ(10, (int)worker(rig, "v").ahead);
	rig_free(rig);
	PASS();
}

/* It would rather be where its parent was, and not as much as to wait for a tape there. */
TEST one_that_only_likes_it_is_not_sent_ahead_there(void)
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

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(tenants_take_turns_across_classes);
	RUN_TEST(what_one_leaves_of_its_groups_is_for_the_next);
	RUN_TEST(one_that_waits_for_its_worker_is_before_nobody);
	RUN_TEST(one_that_waits_for_its_worker_keeps_nobody_parked);
	RUN_TEST(one_that_only_likes_it_follows_nobody_who_flaps);
	RUN_TEST(no_more_come_back_than_may_start_elsewhere);
	RUN_TEST(one_on_its_way_back_is_no_slot_of_another);
	RUN_TEST(what_is_held_back_waits_for_a_person_first);
	RUN_TEST(what_was_cancelled_waits_no_more);
	for (int way = 0; way < 4; way++)
		RUN_TESTp(a_priority_counts_at_a_bound, way & 1, way & 2);
	RUN_TEST(a_class_counts_by_what_may_be_given);
	RUN_TEST(a_class_counts_by_what_is_kept_out_last);
	RUN_TESTp(a_writer_without_a_worker_keeps_no_reader_out, true);
	RUN_TESTp(a_writer_without_a_worker_keeps_no_reader_out, false);
	RUN_TEST(what_nobody_can_serve_keeps_nothing_away);
	RUN_TEST(nothing_is_sent_ahead_to_one_that_is_kept_free);
	RUN_TEST(what_is_sent_ahead_is_spread);
	RUN_TEST(one_that_only_likes_it_is_not_sent_ahead_there);
	GREATEST_MAIN_END();
}
