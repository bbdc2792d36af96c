/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people are told of a job, to the last word: also what is not said. */
#include "tests/unit/core_place.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

#include "proto/expr.h"

static struct slice code_of(struct graph *graph, struct expr_step step)
{
	struct buf code = { 0 };
	struct slice copy;

	expr_put(&code, step);
	copy = arena_copy(&graph->arena, buf_slice(&code));
	buf_free(&code);
	return copy;
}

static struct rec_job_spec *loop_job(struct graph *graph, const char *name)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	job->loop_max = 3;
	job->loop_code = code_of(graph, (struct expr_step){ EXPR_CODE, 0, EXPR_EQ, 3 });
	job->loop_until = slice_str("code == 3");
	return job;
}

TEST nothing_is_said_of_what_is_none(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "later", "")->delay_ms = 5000;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("due: it is due in 5.0s", why(rig, run, "later"));
	rig_free(rig);
	PASS();
}

TEST what_has_ended_has_no_deadline_ahead(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->deadline_ms = 60000;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	ASSERT_STR_EQ("stopping: it was told to end, and its processes aren't known to be gone yet; its deadline is in 1m00s", why(rig, run, "a"));
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("settled: it has ended: cancelled", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST which_pass_it_is_in(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	loop_job(&graph, "a");
	loop_job(&graph, "b");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("no_worker_up: no worker is connected", why(rig, run, "a"));
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_STR_EQ("running: it runs on worker w; pass 2 of 3, until code == 3", why(rig, run, "a"));
	rig_cancel(rig, run, "a");
	ASSERT_STR_EQ("stopping: it was told to end, and its processes aren't known to be gone yet; pass 2 of 3, until code == 3",
		      why(rig, run, "a"));
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("settled: it has ended: cancelled", why(rig, run, "a"));
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("settled: it has ended: succeeded; pass 1 of 3, until code == 3", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST what_decided_a_condition(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello(rig, "w", 4);
	graph_job(&graph, "check", "");
	graph_job(&graph, "off", "");
	job = graph_job(&graph, "three", "check*");
	job->when_code = code_of(&graph, (struct expr_step){ EXPR_CODE, 0, EXPR_EQ, 3 });
	job->when = slice_str("check.code == 3");
	job = graph_job(&graph, "other", "off*");
	job->when_code = code_of(&graph, (struct expr_step){ EXPR_CODE, 0, EXPR_EQ, 3 });
	job->when = slice_str("off.code == 3");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 4);
	ASSERT_STR_EQ("condition: its condition was false: check.code == 3; check is failed with code 4", why(rig, run, "three"));
	rig_cancel(rig, run, "off");
	rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
	ASSERT_STR_EQ("condition: its condition was false: off.code == 3; off is cancelled", why(rig, run, "other"));
	rig_free(rig);
	PASS();
}

static uint64_t submit_in(struct rig *rig, const char *group)
{
	struct graph graph = { 0 };
	uint64_t run;

	rig->concurrency = group;
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig->concurrency = NULL;
	return run;
}

static void limit_group(struct rig *rig, const char *name, uint64_t limit)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_GROUP, .verb = SET_PUT, .name = slice_str(name), .number = limit });
}

/* Those of its group that have a place: not those of another one, that have none, or that have ended. */
TEST which_runs_have_the_places(void)
{
	for (int over = 0; over < 2; over++) {
		struct rig *rig = rig_new();
		struct buf told = { 0 };
		uint64_t last;

		rig_hello(rig, "w", 20);
		submit_in(rig, NULL);
		rig_run_all(rig);                /* a gap */
		submit_in(rig, "other");
		limit_group(rig, "deploy", 5 + (uint64_t)over);
		for (int i = 0; i < 5 + over; i++)
			submit_in(rig, "deploy");
		submit_in(rig, NULL);
		submit_in(rig, "deploy");
		last = submit_in(rig, "deploy");
		buf_addf(&told, "concurrency_runs: %d runs of its concurrency group deploy are going, and %d is the most: "
			 "run 3, 4, 5, 6, 7%s", 5 + over, 5 + over, over ? " and others" : "");
		ASSERT_STR_EQ(buf_cstr(&told), why(rig, last, "a"));
		buf_free(&told);
		rig_free(rig);
	}
	PASS();
}

/* Of its tenant, wherever they are among the runs: not those of others. */
TEST how_many_of_its_tenant_wait_before_it(void)
{
	struct rig *rig = rig_new();
	uint64_t first, last;

	rig->tenant = "one";
	submit_in(rig, NULL);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("one"),
				       .weight = 1, .number = 1 + 1, .most = 1 });
	rig_hello(rig, "w", 1);
	rig->tenant = "two";
	submit_in(rig, NULL);
	rig->tenant = "one";
	first = submit_in(rig, NULL);
	rig_run_one(rig, 0);                     /* a gap */
	rig->tenant = "two";
	submit_in(rig, NULL);
	rig->tenant = "one";
	submit_in(rig, NULL);
	last = submit_in(rig, NULL);
	while (rig_state_named(rig, first, "a")[0] != 'a')
		CHECK(rig_run_one(rig, 0));
	ASSERT_STR_EQ("tenant_limit: 1 job of tenant one is out, and 1 is the most; 1 of them waits before it",
		      why(rig, last, "a"));
	rig_free(rig);
	PASS();
}

/* Nobody is there at all: so it isn't that one worker that keeps it. */
TEST the_worker_of_its_parent_among_none(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	struct rig_attempt attempt;
	uint64_t run, conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	job = graph_job(&graph, "b", "a");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_gone(rig, conn);
	ASSERT_STR_EQ("no_worker_up: no worker is connected", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST how_far_its_sub_run_is(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	sub_plain(&graph, "sub", "");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("running: its sub-run is run 2, of which 1 of 2 jobs have ended", why(rig, run, "sub"));
	rig_free(rig);
	PASS();
}

/* --- which of several with a free slot is told of --- */

/* One has all of it in use, the other keeps what it has for a larger job: that one is nearer. */
TEST one_that_has_room_is_nearer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "a", 9, "", "tape=4", "");
	join(rig, "b", 9, "", "tape=8", "");
	graph_on(&graph, "on_a", "a")->asks = words(rig, "tape=4");
	graph_on(&graph, "on_b", "b")->asks = words(rig, "tape=2");
	graph_job(&graph, "large", "")->asks = words(rig, "tape=8");
	graph_job(&graph, "small", "")->asks = words(rig, "tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("reserved: worker b has room, which is kept for job 1/large, larger and before it", why(rig, run, "small"));
	rig_free(rig);
	PASS();
}

/* Both flap, and a steady one is busy: the first of equals is told of. */
TEST of_two_that_flap_the_first(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	static const char *const names[] = { "b", "a" };
	uint64_t run;

	for (int k = 0; k < 2; k++)
		for (int i = 0; i <= LIMIT_FLAP_DROPS; i++) {
			uint64_t conn = join(rig, names[k], 1, "", "", "");

			if (i < LIMIT_FLAP_DROPS)
				rig_gone(rig, conn);
		}
	join(rig, "steady", 1, "", "", "");
	graph_job(&graph, "first", "");
	graph_job(&graph, "second", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("steady", holder(rig, run, "first"));
	ASSERT_STR_EQ("worker_flaps: worker b lost 5 connections within 60 s, and is passed over for another 30 s",
		      why(rig, run, "second"));
	rig_free(rig);
	PASS();
}

/* One keeps its room for a larger job, another flaps and would take it if it didn't. */
TEST one_that_would_take_it_is_nearer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "kept", 9, "", "tape=4", "");
	for (int i = 0; i < LIMIT_FLAP_DROPS; i++)
		rig_gone(rig, join(rig, "flaps", 9, "", "tape=1", ""));
	join(rig, "flaps", 9, "", "tape=1", "");
	graph_job(&graph, "busy", "")->asks = words(rig, "tape=2");
	graph_job(&graph, "large", "")->asks = words(rig, "tape=4");
	graph_job(&graph, "small", "")->asks = words(rig, "tape=1");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("kept", holder(rig, run, "busy"));
	ASSERT_STR_EQ("worker_flaps: worker flaps lost 5 connections within 60 s, and is passed over for another 30 s",
		      why(rig, run, "small"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(nothing_is_said_of_what_is_none);
	RUN_TEST(what_has_ended_has_no_deadline_ahead);
	RUN_TEST(which_pass_it_is_in);
	RUN_TEST(what_decided_a_condition);
	RUN_TEST(which_runs_have_the_places);
	RUN_TEST(how_many_of_its_tenant_wait_before_it);
	RUN_TEST(the_worker_of_its_parent_among_none);
	RUN_TEST(how_far_its_sub_run_is);
	RUN_TEST(one_that_has_room_is_nearer);
	RUN_TEST(of_two_that_flap_the_first);
	RUN_TEST(one_that_would_take_it_is_nearer);
	GREATEST_MAIN_END();
}
