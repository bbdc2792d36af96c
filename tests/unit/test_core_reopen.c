/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that is loaded into memory again is unchanged except for the jobs that get a new round. */
#include <stdlib.h>
#include "proto/dead.h"
#include "proto/expr.h"
#include "tests/unit/core_prune.h"
#include "tests/unit/core_sub.h"

static int row_order(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return (one->job.job > other->job.job) - (one->job.job < other->job.job);
}

/* Collect the rows of a run as the store would return them. */
static size_t stored_rows(const struct rig *rig, uint64_t run, struct row *rows)
{
	static const enum row_table tables[] = { TABLE_run, TABLE_spec, TABLE_job };
	size_t count = 0, first = 0;

	for (size_t t = 0; t < 3; t++) {
		first = count;
		for (size_t i = 0; i < rig->tables[tables[t]].count; i++) {
			const struct row *row = &rig->tables[tables[t]].at[i].row;

			if ((t == 0 ? row->run.run : t == 1 ? row->spec.run : row->job.run) == (int64_t)run)
				rows[count++] = *row;
		}
	}
	qsort(rows + first, count - first, sizeof(*rows), row_order);
	return count;
}

static void retry_again(struct rig *rig, uint64_t run, const char *job, const struct row *rows, size_t count)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = ++rig->request };

	input.reopen = (struct input_reopen){
		.act = { .verb = ACT_RETRY, .run = run, .job = slice_str(job), .value = RETRY_ONLY, .principal = 1,
			 .person = slice_str("ana"), .text = slice_str("because") },
		.rows = rows, .row_count = count };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

/* Make a run whose jobs fail one after another and which has left memory. */
static uint64_t failed_run(struct rig *rig, const char *tenant, const char *concurrency)
{
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 3);
	rig->max_jobs = 1;
	rig->tenant = tenant;
	rig->concurrency = concurrency;
	graph_job(&graph, "a", "")->priority = 81;
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "");
	run = rig_submit(rig, &graph);
	rig_wait(rig, 5000);
	while (rig_run_one(rig, 3))
		;
	CHECK(rig_run_row(rig, (int64_t)run)->run.ended_ms != 0);
	core_sweep(rig->core, UINT64_MAX);
	return run;
}

TEST reopened_run_keeps_its_row(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig, "qa", "db=2");
	struct row rows[16];
	size_t count = stored_rows(rig, run, rows);
	struct row_run before = rows[0].run;
	const struct row_run *after;

	before.schedule = rows[0].run.schedule = slice_str("nightly");
	before.priority = rows[0].run.priority = 71;
	before.logs_gone_ms = rows[0].run.logs_gone_ms = 7;
	before.name = arena_copy(&rig->arena, before.name);
	before.owner = arena_copy(&rig->arena, before.owner);
	before.tenant = arena_copy(&rig->arena, before.tenant);
	before.concurrency = arena_copy(&rig->arena, before.concurrency);
	rig_wait(rig, 5000);
	retry_again(rig, run, "b", rows, count);
	ASSERT_EQ(1, rig->ok.count);
	after = &rig_run_row(rig, (int64_t)run)->run;
	ASSERT(slice_eq(before.name, after->name) && slice_eq(before.owner, after->owner));
	ASSERT(slice_eq(before.tenant, after->tenant) && slice_eq(after->tenant, slice_str("qa")));
	ASSERT(slice_eq(before.concurrency, after->concurrency) && slice_eq(after->concurrency, slice_str("db=2")));
	ASSERT(slice_eq(before.schedule, after->schedule));
	ASSERT(before.first == after->first && before.jobs == after->jobs);
	ASSERT_EQ(1, after->max_jobs);
	ASSERT_EQ(71, after->priority);
	ASSERT_EQ(7, after->logs_gone_ms);
	ASSERT_EQ(before.submitted_ms, after->submitted_ms);
	ASSERT_EQ(before.steady_ms, after->steady_ms);
	ASSERT_EQ(0, after->ended_ms);
	rig_free(rig);
	PASS();
}

TEST reopened_run_keeps_its_bound(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig, NULL, NULL);
	struct row rows[16];
	size_t count = stored_rows(rig, run, rows);

	retry_again(rig, run, "", rows, count);
	ASSERT(rig_error_says(rig, ERR_INVALID, "name the job of run 1 that is to run again"));
	retry_again(rig, run, "a", rows, count);
	rig_act(rig, ACT_RETRY, run, "b", RETRY_ONLY);
	rig_act(rig, ACT_RETRY, run, "c", RETRY_ONLY);
	rig_must_take(rig);
	ASSERT_EQ(rig->assigned_first, rig->assigned_count);
	rig_free(rig);
	PASS();
}

/*
 * In a reopened run, retried jobs keep their priority and count on from their last epoch; all other jobs are unchanged.
 */
TEST reopened_run_keeps_its_other_jobs(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig, NULL, NULL);
	struct row rows[16];
	size_t count = stored_rows(rig, run, rows);
	struct row_job b = rows[count - 2].job;
	struct rec_job_row row;

	ASSERT_EQ(2, b.job);
	retry_again(rig, run, "a", rows, count);
	ASSERT_EQ(1, rig->ok.count);
	row = rig_job(rig, 1);
	ASSERT(row.priority == 81 && row.round == 1 && row.state == STATE_ASSIGNED);
	ASSERT_EQ(2, row.epoch & UINT32_MAX);
	row = rig_job(rig, 2);
	ASSERT(row.state == STATE_FAILED && row.outcome == OUTCOME_EXIT && row.code == 3 && row.tries == 1);
	ASSERT(row.cpu_us == 11 && row.rss_kib == 22 && row.out_bytes == 33);
	ASSERT(row.started_ms == b.started_ms && row.ended_ms == b.ended_ms && row.ended_ms != 0);
	ASSERT(row.dead && row.epoch == (uint64_t)b.epoch && slice_eq(row.worker, slice_str("w")));
	rig_free(rig);
	PASS();
}

static struct slice code_of(struct graph *graph, struct expr_step step)
{
	struct buf buf = { 0 };
	struct slice code;

	expr_put(&buf, step);
	code = arena_copy(&graph->arena, buf_slice(&buf));
	buf_free(&buf);
	return code;
}

/* A reopened run knows each job's passes, its sub-run, and whether its condition was false. */
TEST reopened_run_keeps_passes_sub_runs_and_conditions(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "poll", "");
	struct row rows[16];
	uint64_t run, child;

	job->loop_max = 3;
	job->loop_code = code_of(&graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED });
	graph_job(&inner, "x", "");
	sub_job(&graph, "sub", "poll", &inner);
	job = graph_job(&graph, "not", "poll*");
	job->triggers.at[0] = TRIGGER_EXPR;
	job->when_code = code_of(&graph, (struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_FAILED });
	graph_job(&graph, "bad", "sub");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 3);
	rig_run_one(rig, 0);
	child = child_of(rig, run, "sub");
	rig_run_one(rig, 0);
	rig_run_one(rig, 3);
	ASSERT(rig_run_row(rig, (int64_t)run)->run.ended_ms != 0);
	core_sweep(rig->core, UINT64_MAX);
	retry_again(rig, run, "bad", rows, stored_rows(rig, run, rows));
	ASSERT_EQ(0, rig->error.code);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT(child != 0);
	ASSERT_EQ(child, child_of(rig, run, "sub"));
	ASSERT_EQ(2, rig_job(rig, rig_named(rig, run, "poll")).pass);
	ASSERT(rig_job(rig, rig_named(rig, run, "not")).condition_false);
	rig_free(rig);
	PASS();
}

static void want_everything(struct rig *rig)
{
	struct graph graph = { 0 };

	for (int i = 0; i < LIMIT_TENANT_CLASSES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w-%d", i);
		graph_job(&graph, name, "")->only_worker = slice_str(arena_strdup(&rig->arena, slice_str(name)));
	}
	CHECK(rig_submit(rig, &graph) != 0);
}

TEST reopening_without_room_for_labels_is_refused(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = 7 };
	struct graph graph = { 0 };
	struct row rows[64];
	uint64_t run;

	rig->reload_every = 0;
	graph_job(&graph, "a", "")->only_worker = slice_str("mine");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "mine", 1);
	rig_run_one(rig, 1);
	core_sweep(rig->core, UINT64_MAX);
	input.reopen.row_count = rows_of(rig, (int64_t)run, rows);
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.run == (int64_t)run)
			rows[input.reopen.row_count++] = rig->tables[TABLE_job].at[i].row;
	input.reopen.act = (struct input_act){ .verb = ACT_RETRY, .run = run, .value = RETRY_ALL };
	input.reopen.rows = rows;
	want_everything(rig);
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_FULL, "different sets of worker requirements, and no more are allowed; try again when some have ended"));
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

#define HOUR_MS INT64_C(3600000)

static size_t rows_of_run(const struct rig *rig, struct row rows[8])
{
	size_t count = 0;

	rows[count++] = rig->tables[TABLE_run].at[0].row;
	rows[count++] = rig->tables[TABLE_spec].at[0].row;
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		rows[count++] = rig->tables[TABLE_job].at[i].row;
	return count;
}

/*
 * The machine restarted with a clock that is an hour behind: the reopened run must not appear as submitted in the
 * future.
 */
TEST reopened_run_was_not_submitted_in_the_future(void)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row rows[8];

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	graph_job(&graph, "a", "")->deadline_ms = 5000;
	rig_submit(rig, &graph);
	rig_cancel(rig, 1, "");
	rig->config.boot_id++;
	rig->now.mono_ns = rig->now.boot_ns = NS_PER_S;
	rig->now.wall_ms -= HOUR_MS;
	rig_restart(rig);
	input.reopen = (struct input_reopen){ .act = { .verb = ACT_RETRY, .run = 1, .value = RETRY_FAILED },
					      .rows = rows, .row_count = rows_of_run(rig, rows) };
	rig_step(rig, &input);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_pass(rig, 5000);
	ASSERT_EQ(STATE_TIMED_OUT, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(reopen)
{
	RUN_TEST(reopened_run_keeps_its_row);
	RUN_TEST(reopened_run_keeps_its_bound);
	RUN_TEST(reopened_run_keeps_its_other_jobs);
	RUN_TEST(reopened_run_keeps_passes_sub_runs_and_conditions);
	RUN_TEST(reopening_without_room_for_labels_is_refused);
	RUN_TEST(reopened_run_was_not_submitted_in_the_future);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(reopen);
	GREATEST_MAIN_END();
}
