/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why the runs and jobs of a list wait: the same reasons as in explain, found in a limited number of steps. */
#include "tests/unit/core_place.h"
#include "tests/unit/core_why.h"

static struct rec_run_row run_why(struct rig *rig, uint64_t run, size_t steps, size_t *ret_left)
{
	struct rec_run_row row = { 0 };

	view_why_run(rig->core, run, &rig->arena, &steps, &row);
	if (ret_left)
		*ret_left = steps;
	return row;
}

static const char *run_says(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = run_why(rig, run, 1000, NULL);

	return arena_strdup(&rig->arena, row.why);
}

static const char *job_says(struct rig *rig, uint64_t run, const char *name)
{
	struct rec_job_row row = { 0 };

	view_why_job(rig->core, rig_named(rig, run, name), &rig->arena, &row);
	return arena_strdup(&rig->arena, row.why);
}

TEST run_tells_the_reason_of_its_first_job_that_waits(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "a");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("a and 1 more: no worker is connected", run_says(rig, run));
	ASSERT_EQ(REASON_NO_WORKER_UP, run_why(rig, run, 1000, NULL).why_code);
	rig_hello(rig, "w", 1);
	rig_must_take(rig);
	ASSERT_STR_EQ("b: the only slot that the job could use is busy; 1 job queues for them", run_says(rig, run));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_STR_EQ("a person put a hold on the run", run_says(rig, run));
	ASSERT_EQ(REASON_HELD, run_why(rig, run, 1000, NULL).why_code);
	rig_free(rig);
	PASS();
}

TEST run_asks_for_people_before_it_tells_of_queues(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "qa", "")->gate_count = 1;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("qa: 0 of 1 people have approved the gate", run_says(rig, run));
	rig_free(rig);
	PASS();
}

TEST run_that_goes_on_or_has_ended_waits_for_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	ASSERT_STR_EQ("", run_says(rig, run));
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("", run_says(rig, run));
	ASSERT_STR_EQ("", run_says(rig, 999));
	rig_free(rig);
	PASS();
}

TEST search_ends_with_its_steps(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_run_row row;
	uint64_t run;
	size_t left;

	for (int i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "")->delay_ms = i < 10 ? 60000 : 0;
	}
	run = rig_submit(rig, &graph);
	row = run_why(rig, run, 11, &left);
	ASSERT_EQ(0, left);
	ASSERT_EQ(REASON_NO_WORKER_UP, row.why_code);
	row = run_why(rig, run, 10, &left);
	ASSERT_EQ(0, left);
	ASSERT_EQ(REASON_NONE, row.why_code);
	ASSERT_STR_EQ("10 jobs are ready: all jobs that the job needs have ended as required; the job is in the queue", arena_strdup(&rig->arena, row.why));
	rig_free(rig);
	PASS();
}

TEST jobs_tell_why_only_while_they_wait(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("no worker is connected", job_says(rig, run, "a"));
	ASSERT_STR_EQ("the job waits for a (ready)", job_says(rig, run, "b"));
	rig_act(rig, ACT_HOLD, run, "b", 0);
	ASSERT_STR_EQ("the job waits for a (ready); a person put a hold on this job", job_says(rig, run, "b"));
	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	ASSERT_STR_EQ("the job was given to worker w, which hasn't reported the job's start", job_says(rig, run, "a"));
	rig_started(rig, attempt);
	ASSERT_STR_EQ("", job_says(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST tenants_limit_is_told_without_counting_those_before(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .number = 1 + 1 });
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 2);
	ASSERT_STR_EQ("1 job of tenant ana is active, and the limit is 1", job_says(rig, run, "b"));
	ASSERT_STR_EQ("tenant_limit: 1 job of tenant ana is active, and the limit is 1; this job comes next", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(run_tells_the_reason_of_its_first_job_that_waits);
	RUN_TEST(run_asks_for_people_before_it_tells_of_queues);
	RUN_TEST(run_that_goes_on_or_has_ended_waits_for_nothing);
	RUN_TEST(search_ends_with_its_steps);
	RUN_TEST(jobs_tell_why_only_while_they_wait);
	RUN_TEST(tenants_limit_is_told_without_counting_those_before);
	GREATEST_MAIN_END();
}
