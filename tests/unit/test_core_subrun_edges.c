/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sub-runs: which of their rows are trusted, which group places they use, and where there is no room for them. */
#include "tests/unit/core_rows.h"
#include "tests/unit/core_sub.h"

#include <errno.h>
#include "proto/expr.h"
#include "tests/unit/core_grow.h"

#define GOOD(field, value) WITH(field, value, "loads")
#define BAD(field, value) WITH(field, value, "contradict")
#define EDGES(field, low, high) do { GOOD(field, low); GOOD(field, high); BAD(field, (int64_t)(low) - 1); BAD(field, (int64_t)(high) + 1); } while (0)
#define SANE_MAX (INT64_MAX / 2)

static struct row_run *run_row(struct rig *rig, uint64_t run)
{
	size_t at = 0;

	while (row_at(rig, TABLE_run, at)->run.run != (int64_t)run)
		at++;
	return &row_at(rig, TABLE_run, at)->run;
}

static struct row_job *job_row(struct rig *rig, uint64_t run, const char *name)
{
	int64_t job = (int64_t)rig_named(rig, run, name);
	size_t at = 0;

	while (row_at(rig, TABLE_job, at)->job.job != job)
		at++;
	return &row_at(rig, TABLE_job, at)->job;
}

/* Submit three jobs: a has ended; b and c wait for their sub-runs. */
static uint64_t three(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 2);
	sub_plain(&graph, "a", "");
	sub_plain(&graph, "b", "a");
	sub_plain(&graph, "c", "a");
	run = rig_submit(rig, &graph);
	CHECK(rig_run_one(rig, 0) && rig_run_one(rig, 0));
	CHECK(named(rig, run, "a") == STATE_SUCCEEDED && child_of(rig, run, "c") != 0);
	return run;
}

TEST impossible_rows_of_sub_run_are_refused(void)
{
	struct rig *rig = rig_new();
	uint64_t run = three(rig);
	struct row_run *outer = run_row(rig, run);
	struct row_run *inner = run_row(rig, child_of(rig, run, "b"));

	EDGES(inner->parent_run, 0, SANE_MAX);
	EDGES(inner->priority, 0, 101);
	GOOD(inner->depth, 1);
	BAD(inner->depth, 0);
	BAD(inner->depth, 2);
	BAD(inner->depth, 1 - 256);
	BAD(inner->depth, 1 + 256);
	BAD(inner->parent, -1);
	BAD(inner->parent, outer->first);
	BAD(outer->depth, 1);
	rig_free(rig);
	PASS();
}

TEST impossible_rows_of_parent_job_are_refused(void)
{
	struct rig *rig = rig_new();
	uint64_t run = three(rig);
	struct row_job *ended = job_row(rig, run, "a"), *waits = job_row(rig, run, "b");
	struct row_job *inner = job_row(rig, child_of(rig, run, "b"), "x");

	EDGES(ended->child, 0, SANE_MAX);
	BAD(ended->worker, 1);
	BAD(waits->worker, 1);
	BAD(waits->child, 0);
	BAD(waits->state, STATE_ASSIGNED);
	BAD(waits->state, STATE_UNKNOWN);
	BAD(inner->child, (int64_t)run);
	rig_free(rig);
	PASS();
}

TEST rows_name_one_sub_run_for_each_parent_job(void)
{
	struct rig *rig = rig_new();
	uint64_t run = three(rig);
	int64_t other = (int64_t)child_of(rig, run, "b"), lost = (int64_t)child_of(rig, run, "c");
	int64_t first = rig_run_row(rig, lost)->run.first;
	struct row_job *waits;

	rig_put(rig, &(struct row){ .table = TABLE_run, .deleted = true, .run.run = lost });
	rig_put(rig, &(struct row){ .table = TABLE_spec, .until = 1, .spec.run = lost });
	rig_put(rig, &(struct row){ .table = TABLE_job, .until = first + 2, .job.job = first });
	waits = job_row(rig, run, "c");
	BAD(waits->child, lost);
	BAD(waits->child, other);
	rig_free(rig);
	PASS();
}

/* --- groups --- */

static struct slice group_of(struct rig *rig, uint64_t run)
{
	return rig_run_row(rig, (int64_t)run)->run.concurrency;
}

/*
 * A nested sub-run uses the group place of the run around it: a place of its own would never become free, because the
 * outer run waits for the sub-run.
 */
TEST nested_sub_run_shares_group_of_outer_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, middle = { 0 }, inner = { 0 };
	uint64_t run, within;

	rig_hello(rig, "w1", 2);
	graph_job(&inner, "x", "");
	sub_job(&middle, "deep", "", &inner)->sub_concurrency = slice_str("deploy=1");
	sub_job(&graph, "build", "", &middle);
	rig->concurrency = "deploy";
	run = rig_submit(rig, &graph);
	within = child_of(rig, child_of(rig, run, "build"), "deep");
	ASSERT(slice_eq(group_of(rig, run), slice_str("deploy")));
	ASSERT_EQ(0, group_of(rig, within).len);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT(row_ended(rig, run) != 0);
	rig_free(rig);
	PASS();
}

TEST sub_runs_wait_for_their_own_group(void)
{
	static const char *const outer[] = { NULL, "deploy" };

	for (int in_group = 0; in_group < 2; in_group++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t run;

		rig_hello(rig, "w1", 4);
		sub_plain(&graph, "a", "")->sub_concurrency = slice_str("stage");
		sub_plain(&graph, "b", "")->sub_concurrency = slice_str("stage");
		rig->concurrency = outer[in_group];
		run = rig_submit(rig, &graph);
		ASSERT(slice_eq(group_of(rig, child_of(rig, run, "b")), slice_str("stage")));
		ASSERT_EQ(1, rig->assigned_count);       /* jobs of the group go one after another */
		ASSERT_EQ(4, rig_run_all(rig));
		ASSERT(row_ended(rig, run) != 0);
		rig_free(rig);
	}
	PASS();
}

/* --- room --- */

TEST sub_runs_have_a_maximum(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SUBMIT };
	struct graph graph = { 0 };
	struct graph_part part = { .count = LIMIT_SUBRUNS_MAX + 1 };
	struct rec_job_row last;
	uint64_t running = 0;

	for (unsigned i = 0; i < part.count; i++) {
		struct graph inner = { 0 };
		char name[32];

		snprintf(name, sizeof(name), "s%u", i);
		graph_job(&inner, "x", "");
		sub_job(&graph, name, "", &inner);
	}
	part.body = graph_blob(&graph);
	graph_free(&graph);
	input.submit = (struct input_submit){ .owner = slice_str("ana"), .name = slice_str("many"), .parts = &part,
					      .part_count = 1 };
	rig_turn_begin(rig);
	core_step(rig->core, &input);
	core_turn_end(rig->core);                /* the rows of this turn aren't checked, because there are too many */
	blob_release(part.body);
	core_check(rig->core);
	for (uint64_t job = 1; job <= part.count; job++)
		running += rig_state(rig, job) == STATE_RUNNING;
	ASSERT_EQ(LIMIT_SUBRUNS_MAX, running);
	last = rig_job(rig, part.count);
	ASSERT_EQ(STATE_FAILED, (enum job_state)last.state);
	ASSERT_EQ(OUTCOME_SPAWN, (enum outcome)last.outcome);
	ASSERT_EQ(EAGAIN, last.code);
	rig_free(rig);
	PASS();
}

/* Submit jobs with as many different sets of requirements as there is room for beside those of sub-runs. */
static void want_everything(struct rig *rig)
{
	struct graph graph = { 0 };

	for (int i = 1; i < LIMIT_TENANT_CLASSES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w-%d", i);
		graph_job(&graph, name, "")->only_worker = slice_str(arena_strdup(&rig->arena, slice_str(name)));
	}
	CHECK(rig_submit(rig, &graph) != 0);
}

/* In a fan-out with fail-fast the first sub-run can't begin, so the second must not begin either. */
TEST sub_run_that_cannot_begin_stops_its_fan_out(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig->reload_every = 0;
	for (int i = 0; i < 2; i++) {
		struct graph inner = { 0 };
		struct rec_job_spec *job = graph_job(&inner, "x", "");

		job->only_worker = i ? job->only_worker : slice_str("wanted-by-nobody-else");
		job = sub_job(&graph, i ? "b" : "a", "", &inner);
		job->delay_ms = 1000;
		job->group = 1;
		job->group_fail_fast = true;
	}
	run = rig_submit(rig, &graph);
	want_everything(rig);
	rig_pass(rig, 1000);
	ASSERT_EQ(STATE_FAILED, named(rig, run, "a"));
	ASSERT_EQ(STATE_CANCELLED, named(rig, run, "b"));
	ASSERT(row_ended(rig, run) != 0);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

/* A sub-run that times out leaves no job, not even one that would have started later. */
TEST timed_out_sub_run_leaves_no_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run, child;

	graph_job(&inner, "x", "")->delay_ms = 5000;
	sub_job(&graph, "sub", "", &inner)->timeout_ms = 1000;
	rig_hello(rig, "w1", 1);
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "sub");
	ASSERT_STR_EQ("delayed", rig_state_named(rig, child, "x"));
	rig_pass(rig, 1001);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, child, "x"));
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "sub"));
	rig_free(rig);
	PASS();
}

/* A timed-out sub-run's jobs are cancelled, but the job counts as timed out and is retried. */
TEST timed_out_sub_run_is_retried(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;
	uint64_t run, child;

	graph_job(&inner, "x", "");
	job = sub_job(&graph, "sub", "", &inner);
	job->timeout_ms = 1000;
	job->retry_max = 1;
	job->retry_on = RETRY_ON_TIMEOUT;
	job->backoff_ms = 1000;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "sub");
	rig_pass(rig, 1001);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "sub"));
	rig_pass(rig, 2000);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "sub"));
	ASSERT(child_of(rig, run, "sub") != child);
	rig_free(rig);
	PASS();
}

SUITE(subrun_edges)
{
	RUN_TEST(impossible_rows_of_sub_run_are_refused);
	RUN_TEST(impossible_rows_of_parent_job_are_refused);
	RUN_TEST(rows_name_one_sub_run_for_each_parent_job);
	RUN_TEST(nested_sub_run_shares_group_of_outer_run);
	RUN_TEST(sub_runs_wait_for_their_own_group);
	RUN_TEST(sub_runs_have_a_maximum);
	RUN_TEST(sub_run_that_cannot_begin_stops_its_fan_out);
	RUN_TEST(timed_out_sub_run_leaves_no_job);
	RUN_TEST(timed_out_sub_run_is_retried);
}

/* A try whose sub-run can't begin doesn't show the number of an earlier try's sub-run. */
TEST sub_run_that_cannot_begin_has_no_number(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job;
	struct rec_job_row row;
	uint64_t run;

	rig->reload_every = 0;
	rig_hello(rig, "rare", 1);
	graph_job(&inner, "x", "")->only_worker = slice_str("rare");
	job = sub_job(&graph, "s", "", &inner);
	job->retry_max = 1;
	job->backoff_ms = 1000;
	job->backoff_exact = true;
	run = rig_submit(rig, &graph);
	ASSERT(child_of(rig, run, "s") != 0);
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "s"));
	core_sweep(rig->core, UINT64_MAX);
	want_everything(rig);
	rig_pass(rig, 1000);
	row = rig_job(rig, rig_named(rig, run, "s"));
	ASSERT_EQ(OUTCOME_SPAWN, (enum outcome)row.outcome);
	ASSERT_EQ(0, row.child);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(subrun_edges);
	RUN_TEST(sub_run_that_cannot_begin_has_no_number);
	GREATEST_MAIN_END();
}
