/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is paid first on a worker, what tenants are charged for, and pools that start nothing. */
#include "proto/limits.h"
#include "tests/unit/core_place.h"

/* As the worker starts them; so the newest is what comes back for another tape. */
TEST what_was_sent_ahead_first_is_paid_first(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };
	struct outgoing last = { 0 };
	uint64_t newest;

	join(rig, "w", 3, "", "tape=1", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(3, (int)out_of(rig, 3, tape));
	done_after(rig, rig_must_take(rig), 2);
	ASSERT_EQ(1, (int)worker(rig, "w").ahead);
	ASSERT_EQ(1, (int)worker(rig, "w").used.at[0]);
	rig_must_take(rig);
	newest = rig_must_take(rig).job;
	join(rig, "v", 1, "", "tape=1", "");
	ASSERT_EQ(1, (int)rig_frames(rig, OP_RECALL, &last));
	ASSERT_EQ(newest, last.recall.job);
	rig_free(rig);
	PASS();
}

/* It has a tape as soon as one is free, so nobody else is given that. */
TEST what_ends_makes_room_for_what_is_there(void)
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

static uint64_t two_jobs(struct rig *rig, const char *tenant)
{
	struct graph graph = { 0 };

	rig->tenant = tenant;
	graph_job(&graph, "first", "")->retry_max = 1;
	graph_job(&graph, "second", "");
	return rig_submit(rig, &graph);
}

/* An attempt is charged once, when it is given out, however it ends: then both have had one, and age decides. */
TEST an_attempt_is_charged_once(bool comes_back)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t a = two_jobs(rig, "a"), b = two_jobs(rig, "b");

	rig_hello(rig, "w", 2);
	attempt = rig_must_take(rig);
	ASSERT_EQ(rig_named(rig, a, "first"), attempt.job);
	ASSERT_EQ(rig_named(rig, b, "first"), rig_must_take(rig).job);
	if (comes_back) {
		rig_act(rig, ACT_HOLD, a, "first", 0);
		rig_done(rig, attempt, OUTCOME_RECALLED, 0);
	} else {
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_EXIT, 1);
	}
	ASSERT_EQ(rig_named(rig, a, "second"), rig_must_take(rig).job);
	ASSERT_STR_EQ("", holder(rig, b, "second"));
	rig_free(rig);
	PASS();
}

/* Not even to one that has much to do and short jobs. */
TEST a_pool_that_starts_nothing_is_sent_nothing_ahead(enum set_verb verb)
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

/* What was cancelled in the queue is there still, and nobody's to wait for: a slot that is free has what was sent ahead. */
TEST a_cancelled_job_in_the_queue_keeps_nothing_from_coming_back(void)
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

/* How many are asked back at once is bounded; those that don't answer keep nobody else waiting. */
TEST what_is_on_its_way_back_keeps_nothing_else_from_coming_back(void)
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

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(what_was_sent_ahead_first_is_paid_first);
	RUN_TEST(what_ends_makes_room_for_what_is_there);
	RUN_TESTp(an_attempt_is_charged_once, true);
	RUN_TESTp(an_attempt_is_charged_once, false);
	RUN_TESTp(a_pool_that_starts_nothing_is_sent_nothing_ahead, SET_PAUSE);
	RUN_TESTp(a_pool_that_starts_nothing_is_sent_nothing_ahead, SET_DRAIN);
	RUN_TEST(a_cancelled_job_in_the_queue_keeps_nothing_from_coming_back);
	RUN_TEST(what_is_on_its_way_back_keeps_nothing_else_from_coming_back);
	GREATEST_MAIN_END();
}
