/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is passed over, for whom room is kept, and who is next when one before it finds no room. */
#include "proto/limits.h"
#include "tests/unit/core_place.h"

/* It comes back, and flaps. */
static void flap(struct rig *rig, const char *name, uint64_t slots, const char *offers)
{
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, name, slots, "", offers, ""));
	join(rig, name, slots, "", offers, "");
}

/* Not even where the steady ones have much to do. */
TEST one_that_only_likes_it_follows_nobody_who_flaps_to_the_less_loaded(void)
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
	flap(rig, "v", 2, "");
	join(rig, "w", 2, "", "", "");
	load(rig, rig->conn, LIMIT_OVERLOAD_PERMILLE, 0);
	rig_act(rig, ACT_RELEASE, run, "child", 0);
	ASSERT_STR_EQ("w", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* What is kept on one that flaps is given to nobody while a steady one may have the job. */
TEST room_is_kept_where_nothing_flaps(void)
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

/* Of all that it asks for together. */
TEST room_is_kept_where_least_of_everything_lacks(void)
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

/* A worker may know better what it has room for; the counts follow it. */
TEST what_begins_before_there_seemed_to_be_room_is_counted(void)
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

static uint64_t one_of(struct rig *rig, const char *tenant, const char *groups, uint64_t priority, const char *labels)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "j", "");

	job->concurrency = words(rig, groups);
	job->priority = priority;
	job->labels = words(rig, labels);
	rig->tenant = tenant;
	return rig_submit(rig, &graph);
}

/* One finds its other group taken just before it: who has what it leaves is given out in the same turn, whoever's it is. */
TEST what_one_leaves_is_at_once_for_another_tenant(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt has, blocks;
	uint64_t both, other;

	join(rig, "w", 3, "gpu", "", "");
	one_of(rig, "a", "h", 0, "");
	rig_started(rig, has = rig_must_take(rig));
	one_of(rig, "a", "", 0, "");
	rig_started(rig, blocks = rig_must_take(rig));
	both = one_of(rig, "a", "g h", 0, "");
	other = one_of(rig, "b", "h", 0, "");
	one_of(rig, "a", "", 0, "");
	rig_started(rig, rig_must_take(rig));
	one_of(rig, "a", "g", 71, "gpu");
	ASSERT_EQ(0, (int)rig->assigned_count - (int)rig->assigned_first);
	done_together(rig, has, blocks);
	ASSERT_STR_EQ("", holder(rig, both, "j"));
	ASSERT_STR_EQ("w", holder(rig, other, "j"));
	rig_free(rig);
	PASS();
}

/* Its keeper begins anew each time: that makes nothing of it more steady. */
TEST who_begins_anew_again_and_again_flaps(void)
{
	struct rig *rig = rig_new();

	for (int i = 0; i <= LIMIT_FLAP_DROPS; i++) {
		struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
		char instance[] = { 'n', (char)('0' + i), '\0' };

		input.hello = (struct input_hello){ .name = slice_str("w"), .instance = slice_str(instance), .slots = 1 };
		if (i > 0)
			rig_gone(rig, rig->conn - 1);
		rig_step(rig, &input);
	}
	ASSERT(worker(rig, "w").rest_ms > 0);
	rig_free(rig);
	PASS();
}

/* It was let into the queue when its group had room, and is held back there: the next of the group comes in its place. */
TEST who_is_held_back_leaves_its_place_to_the_next(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt has, other;
	uint64_t first, next;

	join(rig, "w", 2, "", "", "");
	one_of(rig, "a", "g", 0, "");
	rig_started(rig, has = rig_must_take(rig));
	first = one_of(rig, "a", "g", 0, "");
	next = one_of(rig, "a", "g", 0, "");
	one_of(rig, "a", "", 0, "");
	rig_started(rig, other = rig_must_take(rig));
	one_of(rig, "a", "", 71, "");
	rig_done(rig, has, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, first, "j"));
	rig_act(rig, ACT_HOLD, first, "j", 0);
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("w", holder(rig, next, "j"));
	rig_free(rig);
	PASS();
}

/* What a machine keeps in its memory, it may drop: that makes nobody one to be passed over. */
TEST who_has_its_memory_full_is_not_overloaded(void)
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

/* Its files are where its parent ran, however that ended. */
TEST who_follows_a_failure_goes_where_that_ran(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "u", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent-")->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	join(rig, "v", 2, "", "", "");
	load(rig, 1, 500, 0);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("u", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* A run has its place in its group: all of its jobs may begin, whatever else bounds each. */
TEST a_run_that_has_its_place_has_it_for_all_its_jobs(void)
{
	static const char *const groups[] = { "", "x", "y", "z" };
	struct rig *rig = rig_new();
	struct graph first = { 0 }, second = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig->concurrency = "g";
	join(rig, "w", 4, "", "", "");
	graph_job(&first, "a", "");
	rig_submit(rig, &first);
	rig_started(rig, attempt = rig_must_take(rig));
	for (int i = 0; i < 4; i++)
		graph_job(&second, (char[]){ (char)('a' + i), 0 }, "")->concurrency = words(rig, groups[i]);
	run = rig_submit(rig, &second);
	ASSERT_EQ(0, (int)rig->assigned_count - (int)rig->assigned_first);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_pass(rig, 1);
	for (int i = 0; i < 4; i++)
		ASSERT_STR_EQ("w", holder(rig, run, (char[]){ (char)('a' + i), 0 }));
	rig_free(rig);
	PASS();
}

/* Nobody else may have it: it waits for no rest. */
TEST one_that_must_follow_follows_who_flaps(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "v", 2, "", "", "");
	graph_job(&graph, "parent", "");
	graph_job(&graph, "child", "parent")->affinity = AFFINITY_PARENT;
	graph.jobs[1].affinity_hard = true;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "child", 0);
	rig_run_one(rig, 0);
	join(rig, "w", 2, "", "", "");
	rig_gone(rig, 1);
	flap(rig, "v", 2, "");
	rig_act(rig, ACT_RELEASE, run, "child", 0);
	ASSERT_STR_EQ("v", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* It was in the queue once, and is to be there again, by the priority that a person gave it between. */
TEST who_waits_again_comes_by_its_new_priority(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run, other;

	join(rig, "w", 1, "", "", "");
	graph_job(&graph, "parent", "")->priority = 101;
	graph_job(&graph, "child", "parent");
	graph_job(&graph, "open", "")->gate_count = 1;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	one_of(rig, "ana", "", 91, "");
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_cancel(rig, run, "child");
	rig_act(rig, ACT_RETRY, run, "parent", RETRY_FROM);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "child"));
	rig_act(rig, ACT_PRIORITY, run, "child", 80);
	other = one_of(rig, "ana", "", 71, "");
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("w", holder(rig, run, "child"));
	ASSERT_STR_EQ("", holder(rig, other, "j"));
	rig_free(rig);
	PASS();
}

/* Held back it is given another priority: that is the one it has when it is let go. */
TEST who_is_let_go_comes_by_its_new_priority(bool whole_run)
{
	struct rig *rig = rig_new();
	const char *held = whole_run ? "" : "j";
	struct rig_attempt blocks;
	uint64_t first, second;

	join(rig, "w", 1, "", "", "");
	one_of(rig, "a", "", 0, "");
	rig_started(rig, blocks = rig_must_take(rig));
	first = one_of(rig, "a", "", 0, "");
	second = one_of(rig, "a", "", 0, "");
	rig_act(rig, ACT_HOLD, second, held, 0);
	rig_act(rig, ACT_PRIORITY, second, "j", 80);
	rig_act(rig, ACT_RELEASE, second, held, 0);
	rig_done(rig, blocks, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("w", holder(rig, second, "j"));
	ASSERT_STR_EQ("", holder(rig, first, "j"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(one_that_only_likes_it_follows_nobody_who_flaps_to_the_less_loaded);
	RUN_TEST(room_is_kept_where_nothing_flaps);
	RUN_TEST(room_is_kept_where_least_of_everything_lacks);
	RUN_TEST(what_begins_before_there_seemed_to_be_room_is_counted);
	RUN_TEST(what_one_leaves_is_at_once_for_another_tenant);
	RUN_TEST(who_begins_anew_again_and_again_flaps);
	RUN_TEST(who_is_held_back_leaves_its_place_to_the_next);
	RUN_TEST(who_has_its_memory_full_is_not_overloaded);
	RUN_TEST(who_follows_a_failure_goes_where_that_ran);
	RUN_TEST(a_run_that_has_its_place_has_it_for_all_its_jobs);
	RUN_TEST(one_that_must_follow_follows_who_flaps);
	RUN_TEST(who_waits_again_comes_by_its_new_priority);
	RUN_TESTp(who_is_let_go_comes_by_its_new_priority, false);
	RUN_TESTp(who_is_let_go_comes_by_its_new_priority, true);
	GREATEST_MAIN_END();
}
