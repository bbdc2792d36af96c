/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a worker is in use, in which order what was sent ahead is paid, and what is kept free for whom. */
#include "tests/unit/core_place.h"

#include "proto/reasons.h"

static uint64_t used(struct rig *rig, const char *name)
{
	return worker(rig, name).used.at[0];
}

/* The same worker comes back, with what it has of these queued. */
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

TEST what_is_sent_ahead_is_not_in_use(void)
{
	struct rig *rig = rig_new();
	struct rec_job_spec tape = { .asks = words(rig, "tape=1") };

	join(rig, "w", 1, "", "tape=4", "");
	run_short(rig, 8, 2, tape);
	ASSERT_EQ(2, out_of(rig, 4, tape));
	ASSERT_EQ(1, used(rig, "w"));
	ASSERT_EQ(1, worker(rig, "w").ahead);
	rig_free(rig);
	PASS();
}

/* One that only wants a label asks for nothing that could mix. */
TEST a_label_is_nothing_asked_for(void)
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

TEST what_was_given_first_is_paid_first(void)
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

/* What the worker has lost has no say in what is paid of the rest. */
TEST what_is_lost_is_never_paid(void)
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

/* It may still run, and its worker has come back with less than that takes. */
TEST what_is_being_stopped_is_in_use_room_or_not(void)
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

/* A worker that came back with less of everything has as many queued as it may ever have. */
TEST one_that_has_all_it_may_have_gets_nothing(void)
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

/* --- what is kept free --- */

/* Two workers of four tapes, two of them in use at each. */
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

TEST the_first_of_equals_is_kept_and_for_one_of_a_class(void)
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

/* One that must follow its parent keeps room there and nowhere else; one that would like to, where least is lacking. */
TEST one_that_follows_keeps_room_there(void)
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

/* --- affinity at its bounds --- */

/* As many as are looked at ran on each of two, the last of them doesn't count: so it follows the first. */
TEST parents_beyond_those_looked_at_have_no_say(void)
{
	enum { PARENTS = 65 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t at[PARENTS], triggers[PARENTS];
	struct rec_job_spec *child;
	uint64_t run;

	rig->reload_every = 0;
	join(rig, "a", 99, "", "", "");
	join(rig, "b", 99, "", "", "");
	for (uint64_t i = 0; i < PARENTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p%d", (int)i);
		graph_on(&graph, name, i % 2 == 1 || i == PARENTS - 1 ? "b" : "a");
		at[i] = i;
		triggers[i] = TRIGGER_OK;
	}
	child = graph_job(&graph, "child", "");
	child->needs = (struct u64_list){ at, PARENTS };
	child->triggers = (struct u64_list){ triggers, PARENTS };
	child->affinity = AFFINITY_PARENT;
	run = rig_submit(rig, &graph);
	for (int i = 0; i < PARENTS; i++)
		rig_run_one(rig, 0);
	ASSERT_STR_EQ("a", holder(rig, run, "child"));
	rig_free(rig);
	PASS();
}

/* More jobs wait for one worker than a turn looks past; none is lost of it. */
TEST as_many_as_may_are_looked_past(void)
{
	enum { CHILDREN = LIMIT_ASIDE_MAX + 2 };

	for (int behind = 0; behind < 2; behind++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		rig->reload_every = 0;
		join(rig, "a", 1, "", "", "");
		join(rig, "b", 1, "", "", "");
		graph_on(&graph, "to_a", "a");
		graph_on(&graph, "to_b", "b");
		for (int i = 0; i < CHILDREN + 1; i++) {
			char name[8];
			struct rec_job_spec *child;

			/* All on a, and one on b at the edge of what is looked past, or behind it. */
			snprintf(name, sizeof(name), "c%d", i);
			child = graph_job(&graph, name, i == CHILDREN - 1 + behind ? "to_b" : "to_a");
			child->affinity = AFFINITY_PARENT;
			child->affinity_hard = true;
		}
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		rig_run_one(rig, 0);
		ASSERT_STR_EQ("a", holder(rig, run, "c0"));
		ASSERT_STR_EQ(behind ? "" : "b", holder(rig, run, behind ? "c66" : "c65"));
		rig_free(rig);
	}
	PASS();
}

/* --- what has room, and is behind what was offered --- */

TEST one_that_waits_behind_another_says_at_what(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	uint64_t run;

	join(rig, "w", 4, "", "", "");
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "");
	rig->max_jobs = 1;
	run = rig_submit(rig, &graph);
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	ASSERT_EQ(1, rig_run_one(rig, 0));
	CHECK(view_explain(rig->core, rig_named(rig, run, "b"), &rig->arena, &row));
	ASSERT_EQ(REASON_WORKER_CORDONED, row.why_code);
	CHECK(view_explain(rig->core, rig_named(rig, run, "c"), &rig->arena, &row));
	ASSERT_EQ(REASON_RUN_LIMIT, row.why_code);
	ASSERT_STR_EQ("0 jobs of its run are out, and 1 is the most; a job that comes before it waits for a worker",
		      arena_strdup(&rig->arena, row.why));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(what_is_sent_ahead_is_not_in_use);
	RUN_TEST(a_label_is_nothing_asked_for);
	RUN_TEST(what_was_given_first_is_paid_first);
	RUN_TEST(what_is_lost_is_never_paid);
	RUN_TEST(what_is_being_stopped_is_in_use_room_or_not);
	RUN_TEST(one_that_has_all_it_may_have_gets_nothing);
	RUN_TEST(the_first_of_equals_is_kept_and_for_one_of_a_class);
	RUN_TEST(one_that_follows_keeps_room_there);
	RUN_TEST(parents_beyond_those_looked_at_have_no_say);
	RUN_TEST(as_many_as_may_are_looked_past);
	RUN_TEST(one_that_waits_behind_another_says_at_what);
	GREATEST_MAIN_END();
}
