/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of decisions, of runs in several parts and of reopened runs: invalid ones are refused at load. */
#include "tests/unit/core_rows.h"

TEST decisions_on_other_gates_are_refused(void)
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
	WITH(said->run, 2, "decision on job 1: the job isn't in run 2");
	WITH(said->job, 9, "decision on job 9: the job isn't in run 1");
	WITH(said->verdict, VERDICT_REJECTED, "decision on job 1: the gate was rejected, but its row says that it still waits");
	WITH(said->job, 2, "loads");
	said->round = 1;                         /* a vote with the number of another round doesn't count */
	load(rig, &other);
	ASSERT(hash != other);
	said->round = 0;
	digest = said->digest;
	said->digest.len = 31;                   /* an older version kept no digest: the vote counts for any */
	load(rig, &other);
	ASSERT(hash != other);
	said->digest = digest;
	load(rig, &other);
	ASSERT_EQ(hash, other);
	rig_free(rig);
	PASS();
}

/* A loaded push back gives its reason to the job in that one round, until the job has ended. */
TEST loaded_push_back_is_of_one_round(void)
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

#define SANE_MAX (INT64_MAX / 2)

/* Make a run of two parts with two jobs each. */
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

TEST parts_that_do_not_follow_are_refused(void)
{
	struct rig *rig = rig_with_parts();
	struct row_spec *first = &row_at(rig, TABLE_spec, 0)->spec, *later = &row_at(rig, TABLE_spec, 1)->spec;
	struct slice body;
	struct row_run *run = &row_at(rig, TABLE_run, 0)->run;

	ASSERT_EQ(1, later->part);
	ASSERT(says(rig, "loads"));
	WITH(later->first, -1, "part 1 begins with the wrong job, -1");
	WITH(later->first, SANE_MAX + 1, "part 1 begins with the wrong job");
	WITH(later->part, 2, "spec of run 1: part 2 is missing or doesn't belong there");
	WITH(later->count, 1, "has 3 jobs instead of 4");
	WITH(run->first, 2, "its jobs overlap with others, or their numbers are above next_job");
	later->first = 3; /* the part of the run says that it was added later, but its jobs are missing */
	later->count = 0;
	run->jobs = first->jobs = 2;
	body = later->body;
	later->body.len = 0;
	ASSERT(says(rig, "its jobs overlap with others, or their numbers are above next_job"));
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

static struct row_job *job_row(struct rig *rig, int64_t job)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.job == job)
			return &rig->tables[TABLE_job].at[i].row.job;
	CHECK(!"a row of that job");
	return NULL;
}

#define ROWS_MAX 8

struct ended {
	struct rig *rig;
	struct row rows[ROWS_MAX];
	size_t count;
};

/* An ended run that has left memory: a failed, b was skipped, c succeeded. */
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

/* With this value in the field the run is refused and leaves no trace; with the right value it is loaded. */
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

TEST wrong_rows_of_reopened_run_are_refused(void)
{
	struct ended ended = ended_run();
	struct row_job *a = &ended.rows[2].job, *b = &ended.rows[3].job, *c = &ended.rows[4].job;
	struct row_run *run = &ended.rows[0].run;

	REFUSED(run->ended_ms, 0, "run 1 is live, but was not loaded");
	REFUSED(run->max_jobs, -1, "run 1: max_jobs has the bad value -1");
	REFUSED(run->jobs, 4, "has 3 jobs instead of 4");
	ASSERT(refused(&ended, &run->jobs, LIMIT_LIVE_JOBS_MAX + 1, ERR_FULL, "a master may have at most 8388608"));
	REFUSED(run->jobs, LIMIT_LIVE_JOBS_MAX, "run 1: the row has an impossible range of 8388608 jobs");
	REFUSED(ended.rows[1].spec.part, 1, "part 1 is missing or doesn't belong there");
	REFUSED(c->state, STATE_APPROVAL, "job 3 of run 1 is approval, although the run has ended");
	REFUSED(c->state, STATE_UNKNOWN, "job 3 of run 1 is unknown, although the run has ended");
	REFUSED(a->state, STATE_COUNT, "job 1: its row contradicts itself");
	REFUSED(b->state, STATE_SUCCEEDED, "job 2 of run 1 is succeeded, although the run has ended");
	REFUSED(b->flags, 8, "a job has a dead letter but didn't fail");
	reopen(&ended, 1);
	ASSERT(rig_error_says(ended.rig, ERR_STORE_TRUST, "has 0 jobs instead of 3"));
	reopen(&ended, 2);
	ASSERT(rig_error_says(ended.rig, ERR_STORE_TRUST, "job 1 of run 1 is"));
	reopen(&ended, ended.count);
	ASSERT_EQ(2, ended.rig->ok.count);
	reopen(&ended, ended.count); /* another request reopened the run first: memory is newer than the rows */
	ASSERT_EQ(0, ended.rig->error.code);
	ASSERT_EQ(2, rig_run_all(ended.rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(ended.rig, 1));
	rig_free(ended.rig);
	PASS();
}

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

TEST ended_run_is_not_loaded_as_live(void)
{
	struct rig *rig = rig_with_runs();
	struct core *core = core_new(&rig->config);
	struct row row = *row_at(rig, TABLE_run, 0);
	struct error error = { 0 };

	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		ASSERT_EQ(ERR_NONE, core_load_row(core, row_at(rig, TABLE_meta, i), &error));
	row.run.ended_ms = 5;
	ASSERT_EQ(ERR_STORE_TRUST, core_load_row(core, &row, &error));
	ASSERT(strstr(error.text, "run 1 has ended, and the store has sums"));
	core_free(core);
	rig_free(rig);
	PASS();
}

SUITE(load_decisions)
{
	RUN_TEST(decisions_on_other_gates_are_refused);
	RUN_TEST(loaded_push_back_is_of_one_round);
	RUN_TEST(parts_that_do_not_follow_are_refused);
	RUN_TEST(wrong_rows_of_reopened_run_are_refused);
	RUN_TEST(ended_run_is_not_loaded_as_live);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(load_decisions);
	GREATEST_MAIN_END();
}
