/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Concurrency groups, of jobs and of whole runs. */
#include "proto/reasons.h"
#include "tests/unit/core_rig.h"

static void names_groups(struct graph *graph, struct rec_job_spec *job, const char *one, const char *other)
{
	struct slice *texts = arena_alloc(&graph->arena, 2 * sizeof(*texts));

	texts[0] = slice_str(one);
	texts[1] = slice_str(other);
	job->concurrency = (struct slice_list){ texts, other ? 2 : 1 };
}

static uint64_t submit(struct rig *rig, unsigned jobs, const char *one, const char *other)
{
	struct graph graph = { 0 };
	char name[16];

	for (unsigned i = 0; i < jobs; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "j%u", i);
		job = graph_job(&graph, name, "");
		if (one)
			names_groups(&graph, job, one, other);
	}
	return rig_submit(rig, &graph);
}

static uint64_t submit_run(struct rig *rig, const char *group, unsigned jobs)
{
	uint64_t run;

	rig->concurrency = group;
	run = submit(rig, jobs, NULL, NULL);
	rig->concurrency = NULL;
	return run;
}

static void set_group(struct rig *rig, enum set_verb verb, const char *name, uint64_t number)
{
	rig->error = (struct msg_error){ 0 };
	rig_set(rig, (struct msg_set){ .kind = OBJECT_GROUP, .verb = verb, .name = slice_str(name), .number = number });
}

static unsigned take_all(struct rig *rig, struct rig_attempt *attempts)
{
	unsigned count = 0;

	while (rig_take(rig, &attempts[count]))
		count++;
	return count;
}

static const char *why(struct rig *rig, uint64_t job, uint64_t *ret_code)
{
	struct rec_job_row row = { 0 };

	CHECK(view_job(rig->core, job, VIEW_BRIEF, &rig->arena, &row));
	CHECK(view_explain(rig->core, job, &rig->arena, &row));
	*ret_code = row.why_code;
	return arena_strdup(&rig->arena, row.why);
}

static struct rec_group_row group_row(struct rig *rig, const char *name)
{
	struct rec_group_row row = { 0 };
	uint64_t cursor = 0;

	while ((cursor = view_group(rig->core, cursor, &row)))
		if (slice_eq(row.name, slice_str(name)))
			return row;
	return (struct rec_group_row){ 0 };
}

TEST group_limits_jobs_across_runs(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	uint64_t one = submit(rig, 3, "db", NULL), two = submit(rig, 3, "db", NULL), code;

	rig_hello(rig, "w", 8);
	ASSERT_EQ(1, take_all(rig, attempts));
	ASSERT_EQ(1, group_row(rig, "db").limit);
	ASSERT_FALSE(group_row(rig, "db").set);
	ASSERT_EQ(one, rig_job(rig, attempts[0].job).run);
	ASSERT(strstr(why(rig, rig_named(rig, two, "j0"), &code), "1 of the jobs of concurrency group db is active, and the limit is 1") != NULL);
	set_group(rig, SET_PUT, "db", 3);
	ASSERT_EQ(2, take_all(rig, attempts + 1));
	ASSERT(group_row(rig, "db").set);
	ASSERT_EQ(3, group_row(rig, "db").jobs);
	ASSERT_EQ(3, group_row(rig, "db").waiting);
	/* A lower limit ends no running job. */
	set_group(rig, SET_PUT, "db", 1);
	rig_done(rig, attempts[0], OUTCOME_EXIT, 0);
	rig_done(rig, attempts[1], OUTCOME_EXIT, 0);
	ASSERT_EQ(0, take_all(rig, attempts + 3));
	rig_done(rig, attempts[2], OUTCOME_EXIT, 0);
	while (rig_run_one(rig, 0))
		;
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, two));
	set_group(rig, SET_REMOVE, "db", 0);
	core_sweep(rig->core, UINT64_MAX);
	ASSERT_EQ(0, group_row(rig, "db").limit);
	rig_free(rig);
	PASS();
}

TEST job_of_two_groups_takes_both_or_none(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	uint64_t both, code;

	submit(rig, 1, "a", NULL);
	rig_hello(rig, "w", 8);
	ASSERT_EQ(1, take_all(rig, attempts));
	both = submit(rig, 1, "a", "b");
	ASSERT_EQ(0, take_all(rig, attempts + 1));
	submit(rig, 1, "b", NULL);       /* a waiting job of two groups doesn't keep others from one of them */
	ASSERT_EQ(1, take_all(rig, attempts + 1));
	rig_done(rig, attempts[0], OUTCOME_EXIT, 0);
	ASSERT_EQ(0, take_all(rig, attempts + 2));
	why(rig, rig_named(rig, both, "j0"), &code);
	ASSERT_EQ(REASON_CONCURRENCY_JOBS, code);
	rig_done(rig, attempts[1], OUTCOME_EXIT, 0);
	ASSERT_EQ(1, take_all(rig, attempts + 2));
	rig_free(rig);
	PASS();
}

TEST least_limit_stated_by_live_runs_counts(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	uint64_t narrow;

	submit(rig, 6, "db=4", NULL);
	ASSERT_EQ(4, group_row(rig, "db").limit);
	narrow = submit(rig, 1, "db=2", NULL);
	submit(rig, 1, "db", NULL);
	ASSERT_EQ(2, group_row(rig, "db").limit);
	rig_hello(rig, "w", 8);
	ASSERT_EQ(2, take_all(rig, attempts));
	rig_cancel(rig, narrow, "");
	ASSERT_EQ(4, group_row(rig, "db").limit);
	ASSERT_EQ(2, take_all(rig, attempts + 2));
	rig_act(rig, ACT_RETRY, narrow, "", RETRY_ALL);
	ASSERT_EQ(2, group_row(rig, "db").limit);
	set_group(rig, SET_PUT, "db", 5);
	ASSERT_EQ(1, take_all(rig, attempts + 4));
	rig_free(rig);
	PASS();
}

/*
 * A run's last job ends and another job is added in the same turn: the limit that the run states for its group still
 * counts when this turn places jobs.
 */
TEST run_grown_at_its_end_keeps_its_stated_limit(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	uint64_t narrow = submit_run(rig, "deploy=1", 1);
	struct graph graph = { 0 };
	struct graph_part part = { .count = 1 };
	struct core_input ends = { .kind = INPUT_DONE }, grows = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = 77 };
	struct rec_done done = { .outcome = OUTCOME_EXIT };

	rig_hello(rig, "w", 8);
	ASSERT_EQ(1, take_all(rig, attempts));
	submit_run(rig, "deploy=3", 1);
	submit_run(rig, "deploy=3", 1);
	done.job = attempts[0].job;
	done.epoch = attempts[0].epoch;
	ends.conn = attempts[0].conn;
	ends.done.at = &done;
	ends.done.n = 1;
	graph_job(&graph, "more", "");
	part.body = graph_blob(&graph);
	grows.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .parts = &part, .part_count = 1,
		.into = narrow };
	grows.submit.key[0] = 77;
	rig_turn_begin(rig);
	core_step(rig->core, &ends);
	core_step(rig->core, &grows);
	rig_turn_end(rig);
	blob_release(part.body);
	graph_free(&graph);
	ASSERT_EQ(1, group_row(rig, "deploy").limit);
	ASSERT_EQ(1, group_row(rig, "deploy").runs);
	ASSERT_EQ(1, take_all(rig, attempts));
	rig_free(rig);
	PASS();
}

TEST run_keeps_its_place_until_all_jobs_have_ended(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	uint64_t one = submit_run(rig, "deploy", 3), two = submit_run(rig, "deploy", 2), code;

	rig_hello(rig, "w", 2);
	ASSERT_EQ(2, take_all(rig, attempts));
	ASSERT_EQ(one, rig_job(rig, attempts[0].job).run);
	ASSERT_EQ(one, rig_job(rig, attempts[1].job).run);
	ASSERT(strstr(why(rig, rig_named(rig, two, "j0"), &code), "1 run of the concurrency group deploy is going, and the limit is 1: run 1") != NULL);
	ASSERT_EQ(1, group_row(rig, "deploy").runs);
	rig_restart(rig);
	ASSERT_EQ(1, group_row(rig, "deploy").runs);
	rig_hello_held(rig, "w", 2, (struct rec_held[]){ { attempts[0].job, attempts[0].epoch, PHASE_RUNNING },
							 { attempts[1].job, attempts[1].epoch, PHASE_RUNNING } }, 2);
	attempts[0].conn = attempts[1].conn = rig->conn;
	rig_done(rig, attempts[0], OUTCOME_EXIT, 0);
	rig_done(rig, attempts[1], OUTCOME_EXIT, 0);
	ASSERT_EQ(1, take_all(rig, attempts + 2));
	ASSERT_EQ(one, rig_job(rig, attempts[2].job).run);
	rig_done(rig, attempts[2], OUTCOME_EXIT, 1);
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, one));
	ASSERT_EQ(2, take_all(rig, attempts + 3));
	ASSERT_EQ(two, rig_job(rig, attempts[3].job).run);
	/* A run that is retried needs a place in its group again. */
	rig_act(rig, ACT_RETRY, one, "", RETRY_FAILED);
	ASSERT_EQ(0, take_all(rig, attempts + 5));
	rig_cancel(rig, two, "");
	rig_done(rig, attempts[3], OUTCOME_STOPPED, 0);
	ASSERT_EQ(0, take_all(rig, attempts + 5));
	rig_done(rig, attempts[4], OUTCOME_STOPPED, 0);
	ASSERT_EQ(1, take_all(rig, attempts + 5));
	ASSERT_EQ(one, rig_job(rig, attempts[5].job).run);
	rig_free(rig);
	PASS();
}

/* The first run waits for a worker that doesn't exist, so it hasn't taken a place yet. */
TEST run_without_a_worker_takes_no_place(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice gpu = slice_str("gpu");
	struct rig_attempt attempts[16];
	uint64_t other;

	graph_job(&graph, "j0", "")->labels = (struct slice_list){ &gpu, 1 };
	rig->concurrency = "deploy";
	rig_submit(rig, &graph);
	other = submit_run(rig, "deploy", 1);
	rig_hello(rig, "w", 4);
	ASSERT_EQ(1, take_all(rig, attempts));
	ASSERT_EQ(other, rig_job(rig, attempts[0].job).run);
	rig_hello_labels(rig, "g", 4, &gpu, 1);
	ASSERT_EQ(0, take_all(rig, attempts + 1));
	rig_done(rig, attempts[0], OUTCOME_EXIT, 0);
	ASSERT_EQ(1, take_all(rig, attempts + 1));
	rig_free(rig);
	PASS();
}

TEST unknown_job_counts_in_its_group(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempts[4];
	struct rec_job_spec *job = graph_job(&graph, "only", "");
	uint64_t run, conn;

	job->mode = EXEC_ONCE;
	names_groups(&graph, job, "db", NULL);
	run = rig_submit(rig, &graph);
	submit(rig, 1, "db", NULL);
	conn = rig_hello(rig, "w", 1);
	ASSERT_EQ(1, take_all(rig, attempts));
	rig_started(rig, attempts[0]);
	rig_gone(rig, conn);
	rig_pass(rig, 200000);
	ASSERT_EQ(STATE_UNKNOWN, rig_job(rig, attempts[0].job).state);
	rig_hello(rig, "v", 4);
	ASSERT_EQ(0, take_all(rig, attempts + 1));
	rig_restart(rig);
	rig_hello(rig, "v", 4);
	ASSERT_EQ(0, take_all(rig, attempts + 1));
	ASSERT_EQ(1, group_row(rig, "db").jobs);
	rig_act(rig, ACT_SETTLE, run, "only", SETTLE_DONE);
	ASSERT_EQ(1, take_all(rig, attempts + 1));
	rig_free(rig);
	PASS();
}

TEST group_refuses_bad_names_and_limits(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(0, submit(rig, 1, "no name", NULL));
	ASSERT(rig_error_says(rig, ERR_INVALID, "concurrency"));
	ASSERT_EQ(0, submit(rig, 1, "db=0", NULL));
	ASSERT_EQ(0, submit(rig, 1, "db=4194304", NULL));
	ASSERT_EQ(0, submit(rig, 1, "db", "db=3"));
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "twice"));
	ASSERT_EQ(0, submit_run(rig, "=3", 1));
	ASSERT(rig_error_says(rig, ERR_INVALID, "concurrency"));
	set_group(rig, SET_PUT, "db", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "from 1"));
	set_group(rig, SET_PUT, "db", LIMIT_RUN_JOBS_MAX);
	ASSERT(rig_error_says(rig, ERR_INVALID, "from 1 to 4194303"));
	set_group(rig, SET_PUT, "no name", 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "name"));
	set_group(rig, SET_REMOVE, "db", 0);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "nobody has set a limit of group"));
	set_group(rig, SET_FIRE, "db", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown change of a group: 8"));
	rig_free(rig);
	PASS();
}

TEST stated_limit_counts_while_its_run_lives(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];

	rig_hello(rig, "w", 9);
	for (int i = 0; i < 3; i++)
		submit_run(rig, "deploy=2", 1);
	ASSERT_EQ(2, take_all(rig, attempts));
	submit_run(rig, NULL, 1);
	ASSERT_EQ(1, take_all(rig, attempts + 2));
	rig_free(rig);
	PASS();
}

TEST stated_limit_counts_again_after_a_retry(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	uint64_t first;

	rig_hello(rig, "w", 9);
	first = submit_run(rig, "deploy=2", 1);
	rig_run_all(rig);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, first, "j0"));
	submit_run(rig, "deploy", 1);
	ASSERT_EQ(1, take_all(rig, attempts));
	submit_run(rig, "deploy", 1); /* no live run states a limit for the group, so its runs go one at a time */
	ASSERT_EQ(0, take_all(rig, attempts));
	rig_act(rig, ACT_RETRY, first, "", RETRY_ALL);
	ASSERT_EQ(1, take_all(rig, attempts));
	rig_free(rig);
	PASS();
}

static bool loads(struct rig *rig, const char *words)
{
	struct error error = { 0 };
	struct outbox out = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	bool right = words ? !core && error.code == ERR_STORE_TRUST && strstr(error.text, words) : core != NULL;

	core_free(core);
	outbox_free(&out);
	return right;
}

TEST contradictory_rows_of_groups_are_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[16];
	struct row_run *run;
	struct row_job_group *group;

	set_group(rig, SET_PUT, "deploy", 2);
	submit_run(rig, "deploy=3", 1);
	rig_hello(rig, "w", 2);
	ASSERT_EQ(1, take_all(rig, attempts));
	run = &rig->tables[TABLE_run].at[0].row.run;
	group = &rig->tables[TABLE_job_group].at[0].row.job_group;
	ASSERT(loads(rig, NULL));
	run->seated = 0;
	ASSERT(loads(rig, "has an attempt, but the run has no place in its concurrency group"));
	run->seated = 1;
	run->concurrency = slice_str("no name");
	ASSERT(loads(rig, "contradicts the rest of the row"));
	run->concurrency = slice_str(NULL);
	ASSERT(loads(rig, "contradicts the rest of the row"));
	run->seated = 0;
	ASSERT(loads(rig, NULL));
	group->most = 0;
	ASSERT(loads(rig, "bad name or limit"));
	group->most = LIMIT_RUN_JOBS_MAX;
	ASSERT(loads(rig, "bad name or limit"));
	group->most = LIMIT_RUN_JOBS_MAX - 1;
	ASSERT(loads(rig, NULL));
	group->name = slice_str("no name");
	ASSERT(loads(rig, "bad name or limit"));
	group->name = slice_str("deploy");
	rig_free(rig);
	PASS();
}

static size_t taken(struct rig *rig)
{
	struct rig_attempt attempt;
	size_t count = 0;

	while (rig_take(rig, &attempt))
		count++;
	return count;
}

TEST raised_group_limit_lets_runs_in(void)
{
	for (int removed = 0; removed < 2; removed++) {
		struct rig *rig = rig_new();

		set_group(rig, SET_PUT, "g", 1);
		rig_hello(rig, "w", 8);
		for (size_t i = 0; i < 3; i++) {
			struct graph graph = { 0 };

			rig->concurrency = "g=3";
			graph_job(&graph, "a", "");
			rig_submit(rig, &graph);
		}
		ASSERT_EQ(1, taken(rig));
		set_group(rig, removed ? SET_REMOVE : SET_PUT, "g", removed ? 0 : 3);
		ASSERT_EQ(2, taken(rig));
		rig_free(rig);
	}
	PASS();
}

SUITE(groups)
{
	RUN_TEST(group_limits_jobs_across_runs);
	RUN_TEST(job_of_two_groups_takes_both_or_none);
	RUN_TEST(least_limit_stated_by_live_runs_counts);
	RUN_TEST(run_grown_at_its_end_keeps_its_stated_limit);
	RUN_TEST(run_keeps_its_place_until_all_jobs_have_ended);
	RUN_TEST(run_without_a_worker_takes_no_place);
	RUN_TEST(unknown_job_counts_in_its_group);
	RUN_TEST(group_refuses_bad_names_and_limits);
	RUN_TEST(stated_limit_counts_while_its_run_lives);
	RUN_TEST(stated_limit_counts_again_after_a_retry);
	RUN_TEST(contradictory_rows_of_groups_are_refused);
	RUN_TEST(raised_group_limit_lets_runs_in);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(groups);
	GREATEST_MAIN_END();
}
