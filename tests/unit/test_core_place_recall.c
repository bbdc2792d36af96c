/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recall: which prefetched jobs are taken back from a worker, when, and for whom. */
#include "proto/limits.h"
#include "tests/unit/core_place.h"

TEST newest_prefetched_jobs_are_recalled_for_free_slots(void)
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

TEST first_attempt_is_recalled_like_any_other(void)
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
	rig_hello_held(rig, "w", 1, held, 2);            /* the worker reconnects with one slot less */
	ASSERT_EQ(1, worker(rig, "w").prefetched);
	join(rig, "v", 1, "", "", "");
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(first.job, last.recall.job);
	rig_free(rig);
	PASS();
}

TEST recall_stops_when_free_slots_are_gone(void)
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

/* Two jobs are already being recalled, and one slot is free for them: no third one is recalled. */
TEST recall_counts_jobs_already_recalled(void)
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

TEST recall_is_only_for_a_worker_that_can_serve_the_job(void)
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

/*
 * Placement passes over the flapping worker, so a recalled job would be prefetched to the same worker again in every
 * turn.
 */
TEST recall_is_not_for_a_flapping_worker(void)
{
	struct rig *rig = rig_new();

	join(rig, "w", 1, "", "", "");
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, "v", 2, "", "", ""));
	join(rig, "v", 2, "", "", "");
	ASSERT_EQ(6, (int)out_of(rig, 6, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(5, (int)worker(rig, "w").prefetched);
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");         /* no steady worker is left */
	ASSERT_EQ(2, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST recall_is_not_for_a_reserved_worker(void)
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
	ASSERT_EQ(1, (int)worker(rig, "w").prefetched);
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_cancel(rig, run, "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST recall_leaves_jobs_that_have_a_slot(uint64_t slots)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", slots, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	/* two jobs are recalled: one of them waits for a tape that the other uses */
	ASSERT_EQ(2, (int)out_of(rig, 2, tape));
	load(rig, join(rig, "v", 2, "", "", ""), 600, 0);
	ASSERT_STR_EQ("w", given(rig, (struct rec_job_spec){ 0 }));
	ASSERT_EQ(1, (int)worker(rig, "w").prefetched);
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

TEST drain_recalls_jobs_that_have_not_started(void)
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

/* The recalled jobs have their tapes by now and leave them to the job behind them, so that job isn't recalled. */
TEST recall_takes_only_jobs_behind_the_running(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct rig_attempt out[4];

	join(rig, "w", 4, "", "tape=2", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(4, (int)out_of(rig, 4, tape));
	for (int i = 0; i < 4; i++)
		out[i] = rig_must_take(rig);
	join(rig, "v", 1, "", "tape=1", "");
	ASSERT_EQ(2, (int)rig_frames(rig, OP_RECALL, NULL));
	ASSERT_STR_EQ("v", given(rig, tape));
	done_after(rig, out[0], 2);
	done_after(rig, out[1], 2);
	ASSERT_EQ(0, (int)worker(rig, "w").prefetched);
	ASSERT_STR_EQ("w", given(rig, tape));
	ASSERT_EQ(1, (int)worker(rig, "w").prefetched);
	join(rig, "u", 4, "", "tape=1", "");
	ASSERT_EQ(0, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* A cancelled job that is still in the queue waits for no slot, so it mustn't prevent a recall. */
TEST cancelled_job_in_the_queue_stops_no_recall(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	run_short(rig, 8, 2, (struct rec_job_spec){ 0 });
	ASSERT_EQ(1 + LIMIT_PREFETCH_MAX, (int)out_of(rig, 2 + LIMIT_PREFETCH_MAX, (struct rec_job_spec){ 0 }));
	rig_cancel(rig, rig->accepted.run, "j65");
	ASSERT_EQ(1, (int)rig->ok.count);
	rig_hello(rig, "v", 1);
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* The number of recalls in one turn is limited; recalls without an answer don't prevent others in the next turn. */
TEST unanswered_recalls_stop_no_others(void)
{
	struct rig *rig = rig_new();
	uint64_t conn;

	rig->reload_every = 0;
	rig_hello(rig, "w", 1);
	rig_hello(rig, "v", 1);
	run_short(rig, 8, 2, (struct rec_job_spec){ .only_worker = slice_str("w") });
	run_short(rig, 8, 2, (struct rec_job_spec){ .only_worker = slice_str("v") });
	ASSERT_EQ(130, (int)out_of(rig, 130, (struct rec_job_spec){ 0 }));
	conn = rig_hello(rig, "large", 200);
	ASSERT_EQ(64, (int)rig_frames(rig, OP_RECALL, NULL));
	rig_heartbeat(rig, conn);
	ASSERT_EQ(64, (int)rig_frames(rig, OP_RECALL, NULL));
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

/* The four slots of the cordoned worker don't count as free; the other worker has one. */
TEST recall_counts_only_slots_that_may_start_jobs(void)
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

/* A recalled job that waited for a tape had no slot, so its recall makes no slot free. */
TEST recalled_job_without_a_resource_frees_no_slot(void)
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

TEST job_without_a_worker_stops_no_recall(void)
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

TEST drained_worker_that_reconnects_is_sent_the_recall_again(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;

	graph_job(&graph, "a", "");
	rig_hello(rig, "w", 1);
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_gone(rig, rig->conn);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_DRAIN, .name = slice_str("w") });
	rig_pass(rig, 10);
	rig_hello_held(rig, "w", 1, &(struct rec_held){ attempt.job, attempt.epoch, PHASE_QUEUED }, 1);
	ASSERT_EQ(1, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

/* A job that only one worker can run isn't recalled: it would be sent to the same worker again. */
TEST job_with_one_possible_worker_is_not_recalled(void)
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
	ASSERT_EQ(4, worker(rig, "w").prefetched);
	join(rig, "v", 1, "", "", "");
	ASSERT_EQ(0, rig_frames(rig, OP_RECALL, NULL));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(newest_prefetched_jobs_are_recalled_for_free_slots);
	RUN_TEST(first_attempt_is_recalled_like_any_other);
	RUN_TEST(recall_stops_when_free_slots_are_gone);
	RUN_TEST(recall_counts_jobs_already_recalled);
	RUN_TEST(recall_is_only_for_a_worker_that_can_serve_the_job);
	RUN_TEST(recall_is_not_for_a_flapping_worker);
	RUN_TEST(recall_is_not_for_a_reserved_worker);
	RUN_TESTp(recall_leaves_jobs_that_have_a_slot, 4);
	RUN_TESTp(recall_leaves_jobs_that_have_a_slot, 2);
	RUN_TEST(drain_recalls_jobs_that_have_not_started);
	RUN_TEST(recall_takes_only_jobs_behind_the_running);
	RUN_TEST(cancelled_job_in_the_queue_stops_no_recall);
	RUN_TEST(unanswered_recalls_stop_no_others);
	RUN_TEST(recall_counts_only_slots_that_may_start_jobs);
	RUN_TEST(recalled_job_without_a_resource_frees_no_slot);
	RUN_TEST(job_without_a_worker_stops_no_recall);
	RUN_TEST(drained_worker_that_reconnects_is_sent_the_recall_again);
	RUN_TEST(job_with_one_possible_worker_is_not_recalled);
	GREATEST_MAIN_END();
}
