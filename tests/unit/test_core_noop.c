/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noop jobs, which run nothing: a join or a milestone ends in the turn in which it may begin. */
#include "tests/unit/core_rig.h"

#include "proto/spec.h"
#include "tests/unit/core_sub.h"

static struct rec_job_spec *noop(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->argv.n = 0;
	job->kind = KIND_NOOP;
	return job;
}

TEST join_is_over_with_the_last_that_it_needs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	noop(&graph, "join", "a b");
	graph_job(&graph, "c", "join");
	rig_hello(rig, "w", 2);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "join"));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "join"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "c"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "join")).tries);
	rig_free(rig);
	PASS();
}

TEST run_of_noops_alone_needs_no_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	noop(&graph, "a", "");
	noop(&graph, "b", "a");
	noop(&graph, "c", "b");
	rig->max_jobs = 1;
	run = rig_submit(rig, &graph);
	ASSERT_EQ(RUN_SUCCEEDED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	rig_free(rig);
	PASS();
}

TEST noop_takes_no_room_of_its_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	noop(&graph, "mark", "");
	rig->max_jobs = 1;
	rig_hello(rig, "w", 4);
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "mark"));
	ASSERT_EQ(3, rig_run_one(rig, 0) + rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST noop_waits_while_a_person_holds_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	noop(&graph, "mark", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "mark", 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "mark"));
	rig_restart(rig);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "mark"));
	rig_act(rig, ACT_RELEASE, run, "mark", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "mark"));
	rig_free(rig);
	PASS();
}

/* Noops don't keep the place in the group that they were offered, so all of them end in one turn. */
TEST place_that_noops_were_offered_goes_on_to_the_next(void)
{
	struct rig *rig = rig_new();
	struct graph work = { 0 };
	uint64_t runs[8];

	graph_job(&work, "a", "");
	rig->concurrency = "one";
	rig_hello(rig, "w", 1);
	rig_submit(rig, &work);
	for (int i = 0; i < 8; i++) {
		struct graph graph = { 0 };
		struct rec_job_spec *gate;

		noop(&graph, "mark", "");
		/* the gate keeps the run live, but the run has no place in the group */
		gate = graph_job(&graph, "ok", "");
		gate->argv.n = 0;
		gate->gate_count = 1;
		runs[i] = rig_submit(rig, &graph);
		ASSERT_STR_EQ("ready", rig_state_named(rig, runs[i], "mark"));
	}
	rig_run_one(rig, 0);
	for (int i = 0; i < 8; i++)
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, runs[i], "mark"));
	rig_free(rig);
	PASS();
}

/*
 * The sub-run takes the run's place in the group before noops are looked at; a noop isn't bound by limits of the run.
 */
TEST noops_begin_behind_the_sub_run_that_takes_their_place(void)
{
	struct rig *rig = rig_new();
	struct graph work = { 0 }, graph = { 0 };
	uint64_t run;

	graph_job(&work, "a", "");
	rig->concurrency = "one";
	rig_hello(rig, "w", 1);
	rig_submit(rig, &work);
	sub_plain(&graph, "sub", "");
	for (char name[] = "m1"; name[1] <= '8'; name[1]++)
		noop(&graph, name, "");
	rig->max_jobs = 1;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "m8"));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "sub"));
	for (char name[] = "m1"; name[1] <= '8'; name[1]++)
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, name));
	rig_free(rig);
	PASS();
}

TEST noop_that_says_what_runs_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = noop(&graph, "mark", "");

	job->timeout_ms = 5;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_INVALID, "job 0 'mark': timeout_ms: this field has no effect in a job of this kind"));
	rig_free(rig);
	PASS();
}

TEST unknown_kind_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	noop(&graph, "mark", "")->kind = KIND_COUNT;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_INVALID, "there is no such kind of job"));
	rig_free(rig);
	PASS();
}

TEST kind_that_other_fields_contradict_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->kind = KIND_SUBRUN;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_INVALID, "argv"));
	rig_free(rig);
	PASS();
}

TEST noop_is_run_again_by_a_retry_of_all(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	noop(&graph, "mark", "a");
	graph_job(&graph, "b", "mark");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "mark"));
	ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "mark")).round);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(join_is_over_with_the_last_that_it_needs);
	RUN_TEST(run_of_noops_alone_needs_no_worker);
	RUN_TEST(noop_takes_no_room_of_its_run);
	RUN_TEST(noop_waits_while_a_person_holds_it);
	RUN_TEST(place_that_noops_were_offered_goes_on_to_the_next);
	RUN_TEST(noops_begin_behind_the_sub_run_that_takes_their_place);
	RUN_TEST(noop_that_says_what_runs_is_refused);
	RUN_TEST(unknown_kind_is_refused);
	RUN_TEST(kind_that_other_fields_contradict_is_refused);
	RUN_TEST(noop_is_run_again_by_a_retry_of_all);
	GREATEST_MAIN_END();
}
