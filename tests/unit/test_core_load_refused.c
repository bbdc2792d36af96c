/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that contradict each other are refused at load: runs, clocks, pools, schedules, jobs. */
#include "tests/unit/core_rows.h"

#define SANE_MAX (INT64_MAX / 2)

/* Make two runs with jobs 1 and 2, 3 and 4; no job is assigned. */
static struct rig *rig_with_runs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	for (int run = 0; run < 2; run++) {
		graph_job(&graph, "a", "");
		graph_job(&graph, "b", "a");
		rig_submit(rig, &graph);
	}
	return rig;
}

TEST wrong_rows_of_runs_are_refused(void)
{
	struct rig *rig = rig_with_runs();
	struct row_run *last = &row_at(rig, TABLE_run, 1)->run;
	struct row_spec *spec = &row_at(rig, TABLE_spec, 1)->spec;

	WITH(last->jobs, 0, "run 2: the row has an impossible range of 0 jobs from serial number 3 on");
	WITH(last->jobs, LIMIT_RUN_JOBS_MAX + 1, "run 2: the row has an impossible range of 4194305 jobs from serial number 3 on");
	WITH(last->jobs, LIMIT_RUN_JOBS_MAX, "has 2 jobs instead of 4194304");
	WITH(last->jobs, -1, "run 2: the row has an impossible range of -1 jobs");
	WITH(last->first, 0, "run 2: the row has an impossible range of 2 jobs from serial number 0 on");
	WITH(last->first, SANE_MAX, "its jobs overlap with others, or their numbers are above next_job");
	WITH(last->first, SANE_MAX + 1, "2 jobs from");
	WITH(last->first, 1, "run 2: its jobs overlap");
	WITH(last->first, 2, "run 2: its jobs overlap");
	WITH(last->first, 4, "its jobs overlap with others, or their numbers are above next_job");
	WITH(last->max_jobs, -1, "run 2: max_jobs has the bad value -1");
	WITH(last->max_jobs, INT64_C(1) + UINT32_MAX, "run 2: max_jobs has the bad value 4294967296");
	WITH(last->run, 3, "run 3: the row is out of order, or its number is above next_run");
	WITH(last->run, 1, "run 1: the row is out of order, or its number is above next_run");
	WITH(spec->count, -1, "spec of run 2: part 0 is missing or doesn't belong there");
	WITH(spec->count, 0, "has 0 jobs instead of 2");
	WITH(spec->count, 3, "spec of run 2: part 0 is missing or doesn't belong there");
	WITH(spec->part, 1, "spec of run 2: part 1 is missing or doesn't belong there");
	WITH(spec->jobs, 0, "loads");    /* an older version wrote 0 as the number of jobs, which is accepted */
	WITH(row_at(rig, TABLE_submit_key, 1)->submit_key.by_run, 2, "loads");
	WITH(row_at(rig, TABLE_submit_key, 1)->submit_key.by_run, 3, "by_run names a later run");
	WITH(spec->first, 4, "part 0 begins with the wrong job, 4");
	rig_free(rig);
	PASS();
}

TEST live_run_that_was_pruned_is_refused(void)
{
	struct rig *rig = rig_with_runs();
	struct row row = { .table = TABLE_pruned };

	row.pruned.first = row.pruned.last = 2;
	rig_put(rig, &row);
	ASSERT(says(rig, "run 2 is stored both as live and as pruned"));
	row.deleted = true;
	rig_put(rig, &row);
	ASSERT(says(rig, "loads"));
	row = (struct row){ .table = TABLE_pruning };
	row.pruning.run = 2;
	row.pruning.logs_only = 1;
	rig_put(rig, &row);
	ASSERT(says(rig, "run 2 is stored both as live and as pruned"));
	rig_free(rig);
	PASS();
}

static struct row_job *job_row(struct rig *rig, int64_t job)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == job)
			return &rig->tables[TABLE_job].at[i].row.job;
	CHECK(!"a row of that job");
	return NULL;
}

/* A row with passes or a sub-run is refused if the job is neither a loop nor a sub-run. */
TEST passes_and_sub_runs_of_plain_jobs_are_refused(void)
{
	struct rig *rig = rig_with_runs();

	rig_hello(rig, "w", 1);
	rig_started(rig, rig_must_take(rig));
	ASSERT(says(rig, "loads"));
	WITH(job_row(rig, 1)->child, 1, "job 1: its row contradicts itself");
	WITH(job_row(rig, 1)->passes, 1, "job 1: its row contradicts itself");
	rig_free(rig);
	PASS();
}

static struct row_meta *meta(struct rig *rig, const char *name)
{
	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		if (slice_eq(rig->tables[TABLE_meta].at[i].row.meta.name, slice_str(name)))
			return &rig->tables[TABLE_meta].at[i].row.meta;
	CHECK(!"a counter of that name");
	return NULL;
}

TEST clocks_beyond_their_limits_are_refused(void)
{
	static const char *const names[] = { "steady_base_ms", "steady_skew_ms" };
	struct rig *rig = rig_with_runs();

	for (size_t i = 0; i < 2; i++) {
		WITH(meta(rig, names[i])->value, SANE_MAX + 1, names[i]);
		WITH(meta(rig, names[i])->value, -SANE_MAX - 1, names[i]);
	}
	meta(rig, "steady_boot")->value = 6;     /* a row of another boot: the base of the clock is chosen anew */
	WITH(meta(rig, "steady_base_ms")->value, SANE_MAX, "loads");
	WITH(meta(rig, "steady_base_ms")->value, -SANE_MAX, "loads");
	rig_free(rig);
	PASS();
}

TEST runs_without_generation_are_refused(void)
{
	struct rig *rig = rig_with_runs();

	ASSERT(says(rig, "loads"));
	meta(rig, "generation")->name = slice_str("other");
	ASSERT(says(rig, "meta: there are runs, but no generation"));
	rig_free(rig);
	PASS();
}

TEST wrong_pools_and_standings_are_refused(void)
{
	struct rig *rig = rig_new();
	struct row_worker *worker;
	struct row_pool *pool;

	rig_gone(rig, rig_hello(rig, "w", 1));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_POOL, .verb = SET_DRAIN, .name = slice_str("default") });
	ASSERT_EQ(1, rig->ok.count);
	worker = &row_at(rig, TABLE_worker, 0)->worker;
	pool = &row_at(rig, TABLE_pool, 0)->pool;
	WITH(worker->standing, -1, "worker 1: invalid pool or standing");
	WITH(worker->standing, 0, "loads");
	WITH(worker->standing, 2, "loads");
	WITH(worker->standing, 3, "worker 1: invalid pool or standing");
	WITH(pool->state, -1, "a pool has a bad name or state");
	WITH(pool->state, 0, "loads");
	WITH(pool->state, 2, "loads");
	WITH(pool->state, 3, "a pool has a bad name or state");
	worker->pool = slice_str("");
	ASSERT(says(rig, "loads"));
	worker->pool = slice_str("g p u");
	ASSERT(says(rig, "invalid pool or standing"));
	worker->pool = slice_str("gpu");
	ASSERT(says(rig, "loads"));
	pool->pool = slice_str("g p u");
	ASSERT(says(rig, "a pool has a bad name or state"));
	pool->pool = slice_str("gpu");
	rig_put(rig, &(struct row){ .table = TABLE_pool, .pool = { .pool = slice_str("gpx"), .state = 1 } });
	row_at(rig, TABLE_pool, 1)->pool.pool = slice_str("gpu");
	ASSERT(says(rig, "pool gpu is stored twice"));
	rig_free(rig);
	PASS();
}

TEST wrong_rows_of_schedules_are_refused(void)
{
	struct rec_schedule_spec spec = { .cron = slice_str("0 0 * * *") };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000 };
	static const char bad[] = "schedule nightly: its row contradicts itself";
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct graph_part part = { .count = 1 };
	struct buf bytes = { 0 };
	struct row_schedule *row;
	struct row_schedule_part *jobs;

	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	graph_free(&graph);
	record_encode(&bytes, REC_schedule_spec, &spec);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("nightly"),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes) };
	rig_step(rig, &input);
	blob_release(part.body);
	buf_free(&bytes);
	row = &row_at(rig, TABLE_schedule, 0)->schedule;
	jobs = &row_at(rig, TABLE_schedule_part, 0)->schedule_part;
	ASSERT(says(rig, "loads"));
	int64_t *const fields[] = { &row->next_ms, &row->last_ms, &row->last_run, &row->queued, &row->fired, &row->skipped,
				    &row->skip_why, &row->max_jobs };
	const int64_t most[] = { SANE_MAX, SANE_MAX, SANE_MAX, UINT32_MAX, SANE_MAX, SANE_MAX, SKIP_REFUSED, UINT32_MAX };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		WITH(*fields[i], -1, bad);
		WITH(*fields[i], 0, "loads");
		WITH(*fields[i], most[i], "loads");
		WITH(*fields[i], most[i] + 1, bad);
	}
	WITH(jobs->part, 1, "a part of a schedule's graph is missing or doesn't belong there");
	WITH(jobs->count, -1, "a part of a schedule's graph is missing or doesn't belong there");
	WITH(jobs->count, LIMIT_RUN_JOBS_MAX + 1, "a part of a schedule's graph is missing or doesn't belong there");
	WITH(jobs->count, LIMIT_RUN_JOBS_MAX, "loads");
	WITH(jobs->count, 0, "loads");
	row->schedule = slice_str("no name");
	ASSERT(says(rig, "a schedule has an invalid name, or one that is used twice"));
	row->schedule = slice_str("nightly");
	row->submit_key.len--;
	ASSERT(says(rig, bad));
	row->submit_key.len++;
	row->digest.len--;
	ASSERT(says(rig, bad));
	row->digest.len++;
	row->submit_key = slice_make(NULL, 0);   /* an older version kept no submit key, so an empty one is accepted */
	ASSERT(says(rig, bad));
	row->digest = slice_make(NULL, 0);
	ASSERT(says(rig, "loads"));
	rig_free(rig);
	PASS();
}

TEST states_that_parents_contradict_are_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row_job *a, *b, *gate;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "a-");
	graph_job(&graph, "qa", "a")->gate_count = 1;
	rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	a = job_row(rig, 1);
	b = job_row(rig, 2);
	gate = job_row(rig, 4);
	ASSERT_EQ(STATE_ASSIGNED, b->state);
	ASSERT_EQ(STATE_SKIPPED, job_row(rig, 3)->state);
	ASSERT(says(rig, "loads"));
	WITH(job_row(rig, 3)->flags, 64, "job 3 of run 1 is skipped, which doesn't fit the ends of the jobs that it needs");
	WITH(b->state, STATE_SKIPPED, "job 2 of run 1 is skipped, which");
	WITH(a->state, STATE_DELAYED, "which doesn't fit the ends of the jobs that it needs");
	WITH(gate->state, STATE_WAITING, "job 4 of run 1 waits, although all jobs that it needs have ended");
	WITH(gate->flags, 2, "loads");
	WITH(b->flags, 128, "job 2: its row contradicts itself");
	WITH(a->flags, 111, "a job has a dead letter but didn't fail");
	WITH(a->flags, 8, "a job has a dead letter but didn't fail");
	b->state = gate->state = STATE_CANCELLED;
	ASSERT(says(rig, "run 1 is stored as live, although all its jobs have ended"));
	gate->state = STATE_WAITING;
	gate->flags = 2;                         /* a gate that was detached from its parents waits for none */
	ASSERT(says(rig, "job 4 of run 1 is waiting, which doesn't fit the ends of the jobs that it needs"));
	rig_free(rig);
	PASS();
}

SUITE(load_refused)
{
	RUN_TEST(wrong_rows_of_runs_are_refused);
	RUN_TEST(live_run_that_was_pruned_is_refused);
	RUN_TEST(passes_and_sub_runs_of_plain_jobs_are_refused);
	RUN_TEST(clocks_beyond_their_limits_are_refused);
	RUN_TEST(runs_without_generation_are_refused);
	RUN_TEST(wrong_pools_and_standings_are_refused);
	RUN_TEST(wrong_rows_of_schedules_are_refused);
	RUN_TEST(states_that_parents_contradict_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(load_refused);
	GREATEST_MAIN_END();
}
