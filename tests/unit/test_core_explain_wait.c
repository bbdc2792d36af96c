/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences of titan explain for a job that waits: parents, clocks, gates, bounds, passes. */
#include "proto/expr.h"
#include "tests/unit/core_place.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

TEST explain_names_the_parents_still_awaited(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 1; i <= 7; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p%d", i);
		graph_job(&graph, name, "");
	}
	graph_job(&graph, "few", "p1 p2 p3 p4 p5");
	graph_job(&graph, "many", "p1 p2 p3 p4 p5 p6 p7");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("waits_for_dependency: the job waits for p1 (ready), p2 (ready), p3 (ready), p4 (ready), p5 (ready)",
		      why(rig, run, "few"));
	ASSERT_STR_EQ("waits_for_dependency: the job waits for p1 (ready), p2 (ready), p3 (ready), p4 (ready), p5 (ready) and 2 more",
		      why(rig, run, "many"));
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("waits_for_dependency: the job waits for p2 (assigned), p3 (ready), p4 (ready), p5 (ready)",
		      why(rig, run, "few"));
	rig_free(rig);
	PASS();
}

TEST explain_counts_failures_before_the_next_try(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->retry_max = 1;
	job->backoff_ms = 4000;
	job->deadline_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
	ASSERT(strstr(why(rig, run, "a"), ": 1 failure, 1 retry allowed; the job's deadline is in 1m"));
	ASSERT(!strstr(why(rig, run, "a"), "lost"));
	rig_free(rig);
	PASS();
}

TEST explain_shows_the_dispatch_timeout_and_holds(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->dispatch_timeout_ms = 5000;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("no_worker_up: no worker is connected; the job times out unless a worker takes it within 5.0s",
		      why(rig, run, "a"));
	ASSERT_STR_EQ("no_worker_up: no worker is connected", why(rig, run, "b"));
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_STR_EQ("held: a person put a hold on this job", why(rig, run, "a"));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_STR_EQ("held: a person put a hold on the run and this job", why(rig, run, "a"));
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	ASSERT_STR_EQ("held: a person put a hold on the job's run", why(rig, run, "b"));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	rig_pass(rig, 5000);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
	ASSERT(strncmp(why(rig, run, "a"), "ended: the job has ended: timed_out: ", 37) == 0);
	rig_cancel(rig, run, "b");
	ASSERT_STR_EQ("ended: the job has ended: cancelled", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST explain_counts_approvals_and_tells_the_expiry(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->gate_count = 2;
	job->gate_timeout_ms = 8000;
	job->gate_expiry = GATE_APPROVE;
	graph_job(&graph, "b", "")->gate_count = 1;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("approval: 0 of 2 people have approved the gate; without a decision the gate is approved in 8.0s", why(rig, run, "a"));
	ASSERT_STR_EQ("approval: 0 of 1 people have approved the gate", why(rig, run, "b"));
	rig_act(rig, ACT_HOLD, run, "b", 0);
	ASSERT_STR_EQ("approval: 0 of 1 people have approved the gate; a person put a hold on this job, so the time-out is stopped",
		      why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST explain_names_the_people_who_may_approve(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice people[LIMIT_GATE_PEOPLE_MAX] = { slice_str("ana"), slice_str("ben"), slice_str("bob"), slice_str("cy"),
		slice_str("di"), slice_str("ed"), slice_str("flo"), slice_str("guy") };
	struct rec_job_spec *job = graph_job(&graph, "two", "");
	uint64_t run;

	job->gate_count = 1;
	job->gate_from = (struct slice_list){ people, 3 };
	job = graph_job(&graph, "many", "");
	job->gate_count = 1;
	job->gate_from = (struct slice_list){ people, 8 };
	job = graph_job(&graph, "nobody", "");
	job->gate_count = 1;
	job->gate_from = (struct slice_list){ people, 1 };
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("approval: 0 of 1 people have approved the gate; ben, bob may", why(rig, run, "two"));
	ASSERT_STR_EQ("approval: 0 of 1 people have approved the gate; ben, bob, cy, di, ed and 2 others may", why(rig, run, "many"));
	ASSERT_STR_EQ("approval: 0 of 1 people have approved the gate; nobody may approve: the gate names only ana, who submitted the run and so can't approve",
		      why(rig, run, "nobody"));
	rig_free(rig);
	PASS();
}

TEST explain_of_a_delayed_job_tells_only_when_it_is_due(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "later", "")->delay_ms = 5000;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("due: the job is due in 5.0s", why(rig, run, "later"));
	rig_free(rig);
	PASS();
}

TEST explain_shows_no_deadline_of_an_ended_job(void)
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
	ASSERT_STR_EQ("stopping: the worker was told to end the job, and hasn't reported its end; the job's deadline is in 1m00s", why(rig, run, "a"));
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("ended: the job has ended: cancelled", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

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

TEST explain_shows_the_pass_of_a_loop(void)
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
	ASSERT_STR_EQ("running: the job runs on worker w; pass 2 of 3, until code == 3", why(rig, run, "a"));
	rig_cancel(rig, run, "a");
	ASSERT_STR_EQ("stopping: the worker was told to end the job, and hasn't reported its end; pass 2 of 3, until code == 3",
		      why(rig, run, "a"));
	rig_done(rig, attempt, OUTCOME_SIGNAL, 15);
	ASSERT_STR_EQ("ended: the job has ended: cancelled", why(rig, run, "a"));
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("ended: the job has ended: succeeded; pass 1 of 3, until code == 3", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST explain_shows_what_decided_a_condition(void)
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
	ASSERT_STR_EQ("condition: the job's condition was false: check.code == 3; check is failed with code 4", why(rig, run, "three"));
	rig_cancel(rig, run, "off");
	rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
	ASSERT_STR_EQ("condition: the job's condition was false: off.code == 3; off is cancelled", why(rig, run, "other"));
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

/*
 * Explain lists only runs that hold a place in this group, not those of another group, those that wait, or ended ones.
 */
TEST explain_names_the_runs_that_fill_a_group(void)
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
		buf_addf(&told, "concurrency_runs: %d runs of the concurrency group deploy are going, and the limit is %d: "
			 "run 3, 4, 5, 6, 7%s", 5 + over, 5 + over, over ? " and others" : "");
		ASSERT_STR_EQ(buf_cstr(&told), why(rig, last, "a"));
		buf_free(&told);
		rig_free(rig);
	}
	PASS();
}

/*
 * Earlier jobs of the same tenant are counted wherever their runs are in the list; jobs of other tenants don't count.
 */
TEST explain_counts_earlier_jobs_of_the_same_tenant(void)
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
	ASSERT_STR_EQ("tenant_limit: 1 job of tenant one is active, and the limit is 1; 1 of the tenant's jobs comes first",
		      why(rig, last, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_shows_the_progress_of_a_sub_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	sub_plain(&graph, "sub", "");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("running: the job's sub-run is run 2, in which 1 of 2 jobs have ended", why(rig, run, "sub"));
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

/* Explain tells of the hold before the full bound, because a person has to release the job. */
TEST explain_tells_of_a_hold_before_a_full_bound(void)
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

TEST explain_names_the_bound_of_a_job_behind_another(void)
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
	ASSERT_STR_EQ("0 jobs of the job's run are active, and the limit is 1; a job that comes before this one in the queue waits for a worker",
		      arena_strdup(&rig->arena, row.why));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(explain_names_the_parents_still_awaited);
	RUN_TEST(explain_counts_failures_before_the_next_try);
	RUN_TEST(explain_shows_the_dispatch_timeout_and_holds);
	RUN_TEST(explain_counts_approvals_and_tells_the_expiry);
	RUN_TEST(explain_names_the_people_who_may_approve);
	RUN_TEST(explain_of_a_delayed_job_tells_only_when_it_is_due);
	RUN_TEST(explain_shows_no_deadline_of_an_ended_job);
	RUN_TEST(explain_shows_the_pass_of_a_loop);
	RUN_TEST(explain_shows_what_decided_a_condition);
	RUN_TEST(explain_names_the_runs_that_fill_a_group);
	RUN_TEST(explain_counts_earlier_jobs_of_the_same_tenant);
	RUN_TEST(explain_shows_the_progress_of_a_sub_run);
	RUN_TEST(explain_tells_of_a_hold_before_a_full_bound);
	RUN_TEST(explain_names_the_bound_of_a_job_behind_another);
	GREATEST_MAIN_END();
}
