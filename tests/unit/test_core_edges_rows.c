/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows that contradict each other, each refused for what is wrong with it and not for what follows: of loading,
 * of runs in parts, of what people said, and of runs that come back into memory.
 */
#include "tests/unit/core_rows.h"

#define SANE_MAX (INT64_MAX / 2)

static struct row_job *job_row(struct rig *rig, int64_t job)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == job)
			return &rig->tables[TABLE_job].at[i].row.job;
	CHECK(!"a row of that job");
	return NULL;
}

static struct row_meta *meta(struct rig *rig, const char *name)
{
	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		if (slice_eq(rig->tables[TABLE_meta].at[i].row.meta.name, slice_str(name)))
			return &rig->tables[TABLE_meta].at[i].row.meta;
	CHECK(!"a counter of that name");
	return NULL;
}

/* Two runs of two jobs each, 1 and 2, 3 and 4; nobody has taken anything. */
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

/* --- single rows --- */

TEST runs_say_what_is_wrong_with_them(void)
{
	struct rig *rig = rig_with_runs();
	struct row_run *last = &row_at(rig, TABLE_run, 1)->run;
	struct row_spec *spec = &row_at(rig, TABLE_spec, 1)->spec;

	WITH(last->jobs, 0, "run 2: it has 0 jobs from 3 on");
	WITH(last->jobs, LIMIT_RUN_JOBS_MAX + 1, "run 2: it has 4194305 jobs from 3 on");
	WITH(last->jobs, LIMIT_RUN_JOBS_MAX, "has 2 jobs instead of 4194304");
	WITH(last->jobs, -1, "run 2: it has -1 jobs");
	WITH(last->first, 0, "2 jobs from 0 on");
	WITH(last->first, SANE_MAX, "overlap or are over next_job");
	WITH(last->first, SANE_MAX + 1, "2 jobs from");
	WITH(last->first, 1, "run 2: its jobs overlap");
	WITH(last->first, 2, "run 2: its jobs overlap");
	WITH(last->first, 4, "over next_job");
	WITH(last->max_jobs, -1, "run 2: max_jobs is -1");
	WITH(last->max_jobs, INT64_C(1) + UINT32_MAX, "max_jobs is 4294967296");
	WITH(last->run, 3, "run 3: out of order, or over next_run");
	WITH(last->run, 1, "run 1: out of order, or over next_run");
	WITH(spec->count, -1, "spec of run 2: part 0 doesn't fit");
	WITH(spec->count, 0, "has 0 jobs instead of 2");
	WITH(spec->count, 3, "spec of run 2: part 0 doesn't fit");
	WITH(spec->part, 1, "spec of run 2: part 1 doesn't fit");
	WITH(spec->jobs, 0, "loads");    /* as an older version has it */
	WITH(row_at(rig, TABLE_submit_key, 1)->submit_key.by_run, 2, "loads");
	WITH(row_at(rig, TABLE_submit_key, 1)->submit_key.by_run, 3, "a later run can't have begun it");
	WITH(spec->first, 4, "part 0 begins with job 4");
	rig_free(rig);
	PASS();
}

TEST a_run_that_lives_was_not_pruned(void)
{
	struct rig *rig = rig_with_runs();
	struct row row = { .table = TABLE_pruned };

	row.pruned.first = row.pruned.last = 2;
	rig_put(rig, &row);
	ASSERT(says(rig, "run 2: it lives and was pruned"));
	row.deleted = true;
	rig_put(rig, &row);
	ASSERT(says(rig, "loads"));
	row = (struct row){ .table = TABLE_pruning };
	row.pruning.run = 2;
	row.pruning.logs_only = 1;
	rig_put(rig, &row);
	ASSERT(says(rig, "run 2: it lives and was pruned"));
	rig_free(rig);
	PASS();
}

/* Neither a sub-run nor a loop, it has nothing of either. */
TEST what_only_other_jobs_have(void)
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

TEST clocks_have_edges(void)
{
	static const char *const names[] = { "steady_base_ms", "steady_skew_ms" };
	struct rig *rig = rig_with_runs();

	for (size_t i = 0; i < 2; i++) {
		WITH(meta(rig, names[i])->value, SANE_MAX + 1, names[i]);
		WITH(meta(rig, names[i])->value, -SANE_MAX - 1, names[i]);
	}
	meta(rig, "steady_boot")->value = 6;     /* then the base is chosen anew */
	WITH(meta(rig, "steady_base_ms")->value, SANE_MAX, "loads");
	WITH(meta(rig, "steady_base_ms")->value, -SANE_MAX, "loads");
	rig_free(rig);
	PASS();
}

TEST runs_need_a_generation(void)
{
	struct rig *rig = rig_with_runs();

	ASSERT(says(rig, "loads"));
	meta(rig, "generation")->name = slice_str("other");
	ASSERT(says(rig, "meta: there are runs, but no generation"));
	rig_free(rig);
	PASS();
}

TEST pools_and_standings(void)
{
	struct rig *rig = rig_new();
	struct row_worker *worker;
	struct row_pool *pool;

	rig_gone(rig, rig_hello(rig, "w", 1));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_POOL, .verb = SET_DRAIN, .name = slice_str("default") });
	ASSERT_EQ(1, rig->ok.count);
	worker = &row_at(rig, TABLE_worker, 0)->worker;
	pool = &row_at(rig, TABLE_pool, 0)->pool;
	WITH(worker->standing, -1, "worker 1: bad pool or standing");
	WITH(worker->standing, 0, "loads");
	WITH(worker->standing, 2, "loads");
	WITH(worker->standing, 3, "worker 1: bad pool or standing");
	WITH(pool->state, -1, "a pool has a bad name or state");
	WITH(pool->state, 0, "loads");
	WITH(pool->state, 2, "loads");
	WITH(pool->state, 3, "a pool has a bad name or state");
	worker->pool = slice_str("");
	ASSERT(says(rig, "loads"));
	worker->pool = slice_str("g p u");
	ASSERT(says(rig, "bad pool or standing"));
	worker->pool = slice_str("gpu");
	ASSERT(says(rig, "loads"));
	pool->pool = slice_str("g p u");
	ASSERT(says(rig, "a pool has a bad name or state"));
	pool->pool = slice_str("gpu");
	rig_put(rig, &(struct row){ .table = TABLE_pool, .pool = { .pool = slice_str("gpx"), .state = 1 } });
	row_at(rig, TABLE_pool, 1)->pool.pool = slice_str("gpu");
	ASSERT(says(rig, "pool gpu is there twice"));
	rig_free(rig);
	PASS();
}

TEST numbers_of_schedules(void)
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
	WITH(jobs->part, 1, "a part of a schedule's graph doesn't fit");
	WITH(jobs->count, -1, "a part of a schedule's graph doesn't fit");
	WITH(jobs->count, LIMIT_RUN_JOBS_MAX + 1, "a part of a schedule's graph doesn't fit");
	WITH(jobs->count, LIMIT_RUN_JOBS_MAX, "loads");
	WITH(jobs->count, 0, "loads");
	row->schedule = slice_str("no name");
	ASSERT(says(rig, "a schedule's name is bad or taken"));
	row->schedule = slice_str("nightly");
	row->submit_key.len--;
	ASSERT(says(rig, bad));
	row->submit_key.len++;
	row->digest.len--;
	ASSERT(says(rig, bad));
	row->digest.len++;
	row->submit_key = slice_make(NULL, 0);   /* an older version kept none */
	ASSERT(says(rig, bad));
	row->digest = slice_make(NULL, 0);
	ASSERT(says(rig, "loads"));
	rig_free(rig);
	PASS();
}

/* --- jobs and what they depend on --- */

TEST states_follow_from_parents(void)
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
	WITH(job_row(rig, 3)->flags, 64, "job 3 of run 1 is skipped, which its dependencies contradict");
	WITH(b->state, STATE_SKIPPED, "job 2 of run 1 is skipped, which");
	WITH(a->state, STATE_DELAYED, "which its dependencies contradict");
	WITH(gate->state, STATE_WAITING, "job 4 of run 1 is waiting, and for nothing");
	WITH(gate->flags, 2, "loads");
	WITH(b->flags, 128, "job 2: its row contradicts itself");
	WITH(a->flags, 111, "a job has a dead letter and didn't end badly");
	WITH(a->flags, 8, "a job has a dead letter and didn't end badly");
	b->state = gate->state = STATE_CANCELLED;
	ASSERT(says(rig, "run 1: all its jobs have ended, but it has not"));
	gate->state = STATE_WAITING;
	gate->flags = 2;                         /* cut off from its parents, it waits for none */
	ASSERT(says(rig, "job 4 of run 1 is waiting, which its dependencies contradict"));
	rig_free(rig);
	PASS();
}

TEST decisions_are_of_gates_that_wait(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row_decision *said;
	struct slice digest;
	uint64_t run, hash, other;

	graph_job(&graph, "qa", "")->gate_count = 2;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	graph_job(&graph, "c", "");
	rig_submit(rig, &graph);
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "qa", 0);
	ASSERT_EQ(1, rig_job(rig, 1).gate_have);
	said = &row_at(rig, TABLE_decision, 0)->decision;
	load(rig, &hash);
	WITH(said->run, 2, "decision on job 1: it is not in run 2");
	WITH(said->job, 9, "decision on job 9: it is not in run 1");
	WITH(said->verdict, VERDICT_REJECTED, "decision on job 1: it was rejected and still waits");
	WITH(said->job, 2, "loads");
	said->round = 1;                         /* of another round: it doesn't count */
	load(rig, &other);
	ASSERT(hash != other);
	said->round = 0;
	digest = said->digest;
	said->digest.len = 31;                   /* of an older version: on whatever was shown */
	load(rig, &other);
	ASSERT(hash != other);
	said->digest = digest;
	load(rig, &other);
	ASSERT_EQ(hash, other);
	rig_free(rig);
	PASS();
}

/* What was pushed back is done with the reason, in that round of that job, until it has ended. */
TEST a_push_back_is_of_one_round(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct row_decision *said;
	struct slice digest;
	uint64_t run, hash, without, other;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "qa", "a")->gate_count = 1;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(2, rig->ok.count);
	said = &row_at(rig, TABLE_decision, 0)->decision;
	load(rig, &hash);
	said->target_round = 2;
	load(rig, &without);
	ASSERT(hash != without);
	said->target_round = 1;
	said->target = 77;
	load(rig, &other);
	ASSERT_EQ(without, other);
	said->target = 1;
	digest = said->digest;
	said->digest.len = 31;
	load(rig, &other);
	ASSERT_EQ(without, other);
	said->digest = digest;
	load(rig, &other);
	ASSERT_EQ(hash, other);
	rig_run_one(rig, 0);
	ASSERT(says(rig, "loads"));
	rig_free(rig);
	PASS();
}

/* --- runs in parts --- */

/* A run of two parts of two jobs each. */
static struct rig *rig_with_parts(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct graph_part parts[2];
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct rec_job_spec *all;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "b");
	graph_job(&graph, "d", "");
	all = graph.jobs;
	graph.count = 2;
	parts[0] = (struct graph_part){ graph_blob(&graph), 2 };
	graph.jobs = all + 2;
	parts[1] = (struct graph_part){ graph_blob(&graph), 2 };
	graph.jobs = all;
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("deploy"),
		.parts = parts, .part_count = 2, .tenant = slice_str("") };
	rig_step(rig, &input);
	CHECK(rig->accepted.run == 1);
	blob_release(parts[0].body);
	blob_release(parts[1].body);
	graph_free(&graph);
	return rig;
}

TEST parts_follow_each_other(void)
{
	struct rig *rig = rig_with_parts();
	struct row_spec *first = &row_at(rig, TABLE_spec, 0)->spec, *later = &row_at(rig, TABLE_spec, 1)->spec;
	struct slice body;
	struct row_run *run = &row_at(rig, TABLE_run, 0)->run;

	ASSERT_EQ(1, later->part);
	ASSERT(says(rig, "loads"));
	WITH(later->first, -1, "part 1 begins with job -1");
	WITH(later->first, SANE_MAX + 1, "part 1 begins with job");
	WITH(later->part, 2, "spec of run 1: part 2 doesn't fit");
	WITH(later->count, 1, "has 3 jobs instead of 4");
	WITH(run->first, 2, "over next_job");
	later->first = 3;                /* it came later, and there is none of it */
	later->count = 0;
	run->jobs = first->jobs = 2;
	body = later->body;
	later->body.len = 0;
	ASSERT(says(rig, "overlap or are over next_job"));
	later->body = body;
	later->first = 0;
	later->count = 2;
	run->jobs = first->jobs = 4;
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(4, rig_run_all(rig));
	rig_free(rig);
	PASS();
}

/* --- runs that come back into memory --- */

#define ROWS_MAX 8

struct ended {
	struct rig *rig;
	struct row rows[ROWS_MAX];
	size_t count;
};

/* a failed, b was skipped, c has succeeded; the run has left memory. */
static struct ended ended_run(void)
{
	static const enum row_table tables[] = { TABLE_run, TABLE_spec, TABLE_job };
	struct ended ended = { .rig = rig_new() };
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "");
	rig_hello(ended.rig, "w", 1);
	rig_submit(ended.rig, &graph);
	rig_run_one(ended.rig, 7);
	rig_run_all(ended.rig);
	core_sweep(ended.rig->core, UINT64_MAX);
	for (size_t t = 0; t < 2; t++)
		ended.rows[ended.count++] = *row_at(ended.rig, tables[t], 0);
	for (int64_t job = 1; job <= 3; job++)
		ended.rows[ended.count++] = (struct row){ .table = TABLE_job, .job = *job_row(ended.rig, job) };
	return ended;
}

static void reopen(struct ended *ended, size_t count)
{
	struct rig *rig = ended->rig;
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = ++rig->request };

	input.reopen = (struct input_reopen){ .act = { .verb = ACT_RETRY, .run = 1, .value = RETRY_FAILED },
		.rows = ended->rows, .row_count = count };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

/* Refused for this, nothing of it stays, and as it should be it comes back. */
static bool refused(struct ended *ended, int64_t *field, int64_t value, enum err code, const char *words)
{
	const int64_t was = *field;
	bool says;

	*field = value;
	reopen(ended, ended->count);
	*field = was;
	says = rig_error_says(ended->rig, code, words);
	return says && view_job_at(ended->rig->core, 1, 0) == 0;
}

#define REFUSED(field, value, words) ASSERT(refused(&ended, &(field), (value), ERR_STORE_TRUST, (words)))

TEST what_comes_back_is_not_believed_either(void)
{
	struct ended ended = ended_run();
	struct row_job *a = &ended.rows[2].job, *b = &ended.rows[3].job, *c = &ended.rows[4].job;
	struct row_run *run = &ended.rows[0].run;

	REFUSED(run->ended_ms, 0, "run 1: it is live and not in memory");
	REFUSED(run->max_jobs, -1, "run 1: max_jobs is -1");
	REFUSED(run->jobs, 4, "has 3 jobs instead of 4");
	ASSERT(refused(&ended, &run->jobs, LIMIT_LIVE_JOBS_MAX + 1, ERR_FULL, "8388608 is the most"));
	REFUSED(run->jobs, LIMIT_LIVE_JOBS_MAX, "run 1: it has 8388608 jobs");
	REFUSED(ended.rows[1].spec.part, 1, "part 1 doesn't fit");
	REFUSED(c->state, STATE_APPROVAL, "job 3 of run 1 is approval, though the run has ended");
	REFUSED(c->state, STATE_UNKNOWN, "job 3 of run 1 is unknown, though the run has ended");
	REFUSED(a->state, STATE_COUNT, "job 1: its row contradicts itself");
	REFUSED(b->state, STATE_SUCCEEDED, "job 2 of run 1 is succeeded, though the run has ended");
	REFUSED(b->flags, 8, "a job has a dead letter and didn't end badly");
	reopen(&ended, 1);
	ASSERT(rig_error_says(ended.rig, ERR_STORE_TRUST, "has 0 jobs instead of 3"));
	reopen(&ended, 2);
	ASSERT(rig_error_says(ended.rig, ERR_STORE_TRUST, "job 1 of run 1 is"));
	reopen(&ended, ended.count);
	ASSERT_EQ(2, ended.rig->ok.count);
	reopen(&ended, ended.count);             /* somebody else was first: it is known better than its rows say */
	ASSERT_EQ(0, ended.rig->error.code);
	ASSERT_EQ(2, rig_run_all(ended.rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(ended.rig, 1));
	rig_free(ended.rig);
	PASS();
}

TEST a_live_run_is_not_loaded_as_ended(void)
{
	struct rig *rig = rig_with_runs();
	struct core *core = core_new(&rig->config);
	struct row row = *row_at(rig, TABLE_run, 0);
	struct error error = { 0 };

	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		ASSERT_EQ(ERR_NONE, core_load_row(core, row_at(rig, TABLE_meta, i), &error));
	row.run.ended_ms = 5;
	ASSERT_EQ(ERR_STORE_TRUST, core_load_row(core, &row, &error));
	ASSERT(strstr(error.text, "run 1: loaded as live, but it has ended"));
	core_free(core);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(runs_say_what_is_wrong_with_them);
	RUN_TEST(a_run_that_lives_was_not_pruned);
	RUN_TEST(what_only_other_jobs_have);
	RUN_TEST(clocks_have_edges);
	RUN_TEST(runs_need_a_generation);
	RUN_TEST(pools_and_standings);
	RUN_TEST(numbers_of_schedules);
	RUN_TEST(states_follow_from_parents);
	RUN_TEST(decisions_are_of_gates_that_wait);
	RUN_TEST(a_push_back_is_of_one_round);
	RUN_TEST(parts_follow_each_other);
	RUN_TEST(what_comes_back_is_not_believed_either);
	RUN_TEST(a_live_run_is_not_loaded_as_ended);
	GREATEST_MAIN_END();
}
