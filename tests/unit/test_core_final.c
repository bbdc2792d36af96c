/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Final jobs of a run that gets more jobs: which of the added jobs they wait for. */
#include "proto/expr.h"
#include "tests/unit/core_grow.h"

TEST cycle_is_refused_beside_final_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, second = 1, first = 0;

	graph_job(&graph, "a", "");
	graph_job(&graph, "last", "a")->final = true;
	run = rig_submit(rig, &graph);
	graph_job(&graph, "x", "")->needs = (struct u64_list){ &second, 1 };
	graph_job(&graph, "y", "")->needs = (struct u64_list){ &first, 1 };
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_CYCLE, "the graph has a cycle"));
	rig_free(rig);
	PASS();
}

/* A final job doesn't wait for its own descendants, even if they are added later and at any distance. */
TEST final_job_waits_for_no_descendant_added_later(void)
{
	static const char *const names[] = { "a", "last", "x", "y", "z" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "last", "a")->final = true;
	run = rig_submit(rig, &graph);
	added(&graph, "x", 0, TRIGGER_OK);
	graph_job(&graph, "y", "x");
	graph_job(&graph, "z", "y");
	ASSERT(grow(rig, run, &graph, "last") != 0);
	rig_hello(rig, "w", 1);
	for (size_t i = 0; i < 5; i++)
		ASSERT_EQ(rig_named(rig, run, names[i]), rig_run_one(rig, 0));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* A final job doesn't wait for an added child of its descendant: the two would wait for each other. */
TEST final_job_waits_for_no_child_of_its_descendant(void)
{
	static const char *const names[] = { "a", "last", "report", "far", "more" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "last", "a*")->final = true;
	graph_job(&graph, "report", "last*");
	graph_job(&graph, "far", "report");
	run = rig_submit(rig, &graph);
	added(&graph, "more", 0, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "far") != 0);
	rig_hello(rig, "w", 1);
	for (size_t i = 0; i < 5; i++)
		ASSERT_EQ(rig_named(rig, run, names[i]), rig_run_one(rig, 0));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

static void many(struct graph *graph, const char *stem, int count, bool final)
{
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%d", stem, i);
		graph_job(graph, name, "")->final = final;
	}
}

/* Every added job would be an edge to every final job, so the number of such edges has a limit. */
TEST waits_of_final_jobs_have_a_maximum(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, gather = 1;
	int finals = 8192, most = LIMIT_FINAL_WAITS_MAX / finals;

	rig->reload_every = 0;
	graph_job(&graph, "hold", "")->delay_ms = 1000;
	graph_job(&graph, "gather", "hold*");
	many(&graph, "last", finals, true);
	for (int i = 0; i < finals; i++)
		graph.jobs[2 + i].needs = (struct u64_list){ &gather, 1 };
	run = rig_submit(rig, &graph);
	many(&graph, "early", 10, false);
	ASSERT(grow(rig, run, &graph, "") != 0);
	many(&graph, "more", most - 9, false);
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "run 1 has 8192 final jobs, and each would wait for the 4097 added jobs: that is more than 33554432 waits"));
	many(&graph, "more", most - 10, false);
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_free(rig);
	PASS();
}

/* A final job that was skipped and is retried waits for the jobs that were added meanwhile. */
TEST retried_final_job_waits_for_added_jobs(bool asks)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	struct buf code = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 2);
	graph_job(&graph, "a", "");
	graph_job(&graph, "slow", "");
	job = graph_job(&graph, "last", "a");
	job->final = true;
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
	if (asks) {
		job->triggers.at[0] = TRIGGER_EXPR;
		job->needs_code = buf_slice(&code);
	}
	run = rig_submit(rig, &graph);
	buf_free(&code);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "last"));
	graph_job(&graph, "more", "")->delay_ms = 60000;
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(2, rig->ok.count);
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "last"));
	rig_pass(rig, 60001);
	rig_hello(rig, "w", 2);
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* A final job starts whatever the ends of the added jobs, also if its needs are an expression. */
TEST final_job_begins_after_added_jobs_ended_badly(bool asks)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	struct buf code = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	job = graph_job(&graph, "last", "a");
	job->final = true;
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
	if (asks) {
		job->triggers.at[0] = TRIGGER_EXPR;
		job->needs_code = buf_slice(&code);
	}
	run = rig_submit(rig, &graph);
	buf_free(&code);
	graph_job(&graph, "bad", "");
	graph_job(&graph, "behind", "bad");
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "last"));
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "behind"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "last"));
	rig_free(rig);
	PASS();
}

/* A final job that comes with added jobs doesn't wait for jobs that are added after it. */
TEST added_final_job_is_final_within_its_extent(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	graph_job(&graph, "f", "")->final = true;
	graph_job(&graph, "behind", "f");
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "f"));
	graph_job(&graph, "more", "");
	ASSERT(grow(rig, run, &graph, "") != 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "more"));
	rig_free(rig);
	PASS();
}

SUITE(finals)
{
	RUN_TEST(cycle_is_refused_beside_final_job);
	RUN_TEST(final_job_waits_for_no_descendant_added_later);
	RUN_TEST(final_job_waits_for_no_child_of_its_descendant);
	RUN_TEST(waits_of_final_jobs_have_a_maximum);
	RUN_TESTp(retried_final_job_waits_for_added_jobs, false);
	RUN_TESTp(retried_final_job_waits_for_added_jobs, true);
	RUN_TESTp(final_job_begins_after_added_jobs_ended_badly, false);
	RUN_TESTp(final_job_begins_after_added_jobs_ended_badly, true);
	RUN_TEST(added_final_job_is_final_within_its_extent);
}

/* Explain names the parents that a final job waits for and counts the added jobs. */
TEST explain_of_final_job_counts_added_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "end", "a*")->final = true;
	run = rig_submit(rig, &graph);
	graph_job(&graph, "x", "");
	ASSERT(grow(rig, run, &graph, ""));
	row = rig_job(rig, rig_named(rig, run, "end"));
	ASSERT(view_explain(rig->core, row.job, &rig->arena, &row));
	ASSERT(slice_eq(row.why, slice_str("the job waits for a (ready) and for 1 added to the run")));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(finals);
	RUN_TEST(explain_of_final_job_counts_added_jobs);
	GREATEST_MAIN_END();
}
