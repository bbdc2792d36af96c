/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs added to a live run: parents in every state, what is refused, and the state of the run afterwards. */
#include "tests/unit/core_grow.h"

#include "proto/expr.h"

/*
 * Submit a run: "good" succeeded, "bad" failed, "gone" was skipped because of it; "runs" is running, and "waits" needs
 * it.
 */
static uint64_t mixed_run(struct rig *rig, struct rig_attempt *ret_running)
{
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "good", "");
	graph_job(&graph, "bad", "");
	graph_job(&graph, "gone", "bad");
	graph_job(&graph, "runs", "");
	graph_job(&graph, "waits", "runs");
	rig_hello(rig, "w", 3);
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 3; i++) {
		attempt = rig_must_take(rig);
		rig_started(rig, attempt);
		if (attempt.job == rig_named(rig, run, "runs"))
			*ret_running = attempt;
		else
			rig_done(rig, attempt, OUTCOME_EXIT, attempt.job == rig_named(rig, run, "bad"));
	}
	return run;
}

#define IS(name, state) ASSERT_STR_EQ(state, rig_state_named(rig, run, name))

TEST added_jobs_may_need_parents_in_every_state(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };

	added(&graph, "after-good", 0, TRIGGER_OK);
	added(&graph, "after-bad", 1, TRIGGER_OK);
	added(&graph, "on-bad", 1, TRIGGER_FAILED);
	added(&graph, "on-gone", 2, TRIGGER_DONE);
	added(&graph, "after-gone", 2, TRIGGER_OK);
	added(&graph, "after-runs", 3, TRIGGER_OK);
	added(&graph, "after-waits", 4, TRIGGER_OK);
	need_old(added(&graph, "both", 4, TRIGGER_OK), 0, TRIGGER_OK);
	graph_job(&graph, "child", "after-bad*");
	graph_job(&graph, "grandchild", "after-bad");
	graph_job(&graph, "free", "");
	ASSERT_EQ(6, grow(rig, run, &graph, "good bad gone runs waits"));
	ASSERT_EQ(16, rig->accepted.jobs);
	IS("after-bad", "skipped");
	IS("after-gone", "skipped");
	IS("grandchild", "skipped");
	IS("after-runs", "waiting");
	IS("after-waits", "waiting");
	IS("both", "waiting");
	ASSERT_EQ(rig_named(rig, run, "bad") + 1, rig_job(rig, rig_named(rig, run, "after-bad")).cause);
	rig_restart(rig);
	IS("after-runs", "waiting");
	IS("grandchild", "skipped");
	ASSERT(rig_state(rig, rig_named(rig, run, "free")) != STATE_WAITING);
	rig_free(rig);
	PASS();
}

TEST added_jobs_run_to_their_end(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };

	added(&graph, "after-runs", 0, TRIGGER_OK);
	added(&graph, "after-waits", 1, TRIGGER_OK);
	graph_job(&graph, "child", "after-waits");
	ASSERT(grow(rig, run, &graph, "runs waits"));
	rig_done(rig, running, OUTCOME_EXIT, 0);
	rig_run_all(rig);
	IS("after-runs", "succeeded");
	IS("child", "succeeded");
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

static bool refused(struct rig *rig, uint64_t run, struct graph *graph, const char *parents, enum err code, const char *words)
{
	uint64_t first = grow(rig, run, graph, parents);

	return first == 0 && rig_error_says(rig, code, words);
}

TEST bad_additions_are_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };
	uint64_t first;

	added(&graph, "x", 0, TRIGGER_OK);
	ASSERT(refused(rig, run, &graph, "nobody", ERR_UNKNOWN_NAME, "has no job 'nobody'"));
	graph_job(&graph, "good", "");
	ASSERT(refused(rig, run, &graph, "", ERR_DUPLICATE, "run 1 already has a job 'good'"));
	graph_job(&graph, "x", "");
	graph_job(&graph, "x", "");
	ASSERT(refused(rig, run, &graph, "", ERR_DUPLICATE, "job 6 'x': name: job 5 already has this name"));
	need_old(added(&graph, "x", 0, TRIGGER_OK), 0, TRIGGER_OK);
	ASSERT(refused(rig, run, &graph, "good", ERR_DUPLICATE, "job 5 'x': needs: the list names a job twice"));
	need_old(added(&graph, "x", 0, TRIGGER_OK), 1, TRIGGER_OK);
	ASSERT(refused(rig, run, &graph, "good good", ERR_DUPLICATE, "the list names a job twice"));
	added(&graph, "x", 1, TRIGGER_OK);
	ASSERT(refused(rig, run, &graph, "good", ERR_INVALID, "added job 0: needs: there is no job 2"));
	graph_job(&graph, "x", "")->group = 2;
	ASSERT(refused(rig, run, &graph, "", ERR_INVALID, "added job 0: group"));
	graph_job(&graph, "x", "");
	graph_job(&graph, "y", "x");
	graph.jobs[0].needs.at[graph.jobs[0].needs.n++] = 1;
	graph.jobs[0].triggers.at[graph.jobs[0].triggers.n++] = TRIGGER_OK;
	ASSERT(refused(rig, run, &graph, "", ERR_CYCLE, "cycle"));
	graph_job(&graph, "x", "");
	ASSERT(refused(rig, 99, &graph, "", ERR_NOT_FOUND, "there is no run 99"));
	/* The refused additions left no trace: their names and numbers are free. */
	graph_job(&graph, "x", "");
	first = grow(rig, run, &graph, "");
	ASSERT_EQ(6, first);
	rig_free(rig);
	PASS();
}

TEST a_refused_fan_out_leaves_no_bound(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };

	for (uint64_t bound = 1; bound <= 2; bound++) {
		for (int i = 0; i < 3; i++) {
			struct rec_job_spec *job = graph_job(&graph, i == 0 ? "f[0]" : i == 1 ? "f[1]" : "f[2]", "");

			job->group = 1;
			job->group_parallel = bound;
		}
		if (bound == 1) {
			graph_job(&graph, "good", "");
			ASSERT(refused(rig, run, &graph, "", ERR_DUPLICATE, "good"));
		} else {
			ASSERT(grow(rig, run, &graph, "") > 0);
		}
	}
	rig_done(rig, running, OUTCOME_EXIT, 0);
	rig_run_all(rig);
	IS("f[2]", "succeeded");
	rig_free(rig);
	PASS();
}

TEST ended_and_cancelled_runs_refuse_additions(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };

	rig_cancel(rig, run, "");
	graph_job(&graph, "x", "");
	ASSERT(refused(rig, run, &graph, "", ERR_TERMINAL, "was cancelled"));
	rig_done(rig, running, OUTCOME_STOPPED, 143);
	graph_job(&graph, "x", "");
	ASSERT(refused(rig, run, &graph, "", ERR_TERMINAL, "has ended"));
	core_sweep(rig->core, UINT64_MAX);
	graph_job(&graph, "x", "");
	ASSERT(refused(rig, run, &graph, "", ERR_TERMINAL, "run 1 has ended, so no jobs can be added to it"));
	rig_free(rig);
	PASS();
}

/* A cancel of the run covers all of it, even if each job was already cancelled; so the run refuses additions. */
TEST run_cancelled_after_its_jobs_refuses_additions(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_started(rig, rig_must_take(rig));
	rig_cancel(rig, run, "a");
	ASSERT_EQ(1, rig->ok.count);
	rig_cancel(rig, run, "");
	ASSERT_EQ(0, rig->errors);
	ASSERT_EQ(0, rig->ok.count);
	rig_restart(rig);
	graph_job(&graph, "x", "");
	ASSERT(refused(rig, run, &graph, "", ERR_TERMINAL, "was cancelled"));
	rig_free(rig);
	PASS();
}

TEST same_key_adds_once(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);

	for (int time = 0; time < 3; time++) {
		struct graph graph = { 0 };

		graph_job(&graph, "x", "");
		ASSERT_EQ(time ? UINT64_MAX : 6, grow_key(rig, run, &graph, "", 77, 5));
		ASSERT_EQ(6, rig->accepted.jobs);
		graph_job(&graph, "y", "");
		ASSERT_EQ(0, grow_key(rig, run, &graph, "", 77, 6));
		ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "the submit key was already used for run 1 with a different graph"));
		rig_restart(rig);
	}
	rig_free(rig);
	PASS();
}

TEST runs_submitted_between_additions_keep_their_jobs(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running), other;
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	other = rig_submit(rig, &graph);
	added(&graph, "x", 0, TRIGGER_OK);
	ASSERT_EQ(7, grow(rig, run, &graph, "runs"));
	graph_job(&graph, "b", "");
	ASSERT_EQ(8, grow(rig, other, &graph, ""));
	added(&graph, "y", 0, TRIGGER_OK);
	ASSERT_EQ(9, grow(rig, run, &graph, "x"));
	rig_done(rig, running, OUTCOME_EXIT, 1);
	IS("x", "skipped");
	IS("y", "skipped");
	/* A new round of an early job reaches the jobs that were added behind it. */
	rig_act(rig, ACT_RETRY, run, "runs", RETRY_FROM);
	IS("y", "waiting");
	rig_restart(rig);
	rig_hello(rig, "w", 3);
	rig_run_all(rig);
	IS("y", "succeeded");
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, other));
	rig_free(rig);
	PASS();
}

TEST deadline_of_added_job_counts_from_addition(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };

	rig_pass(rig, 5000);
	added(&graph, "x", 0, TRIGGER_OK)->deadline_ms = 1000;
	ASSERT(grow(rig, run, &graph, "runs"));
	rig_pass(rig, 900);
	IS("x", "waiting");
	rig_pass(rig, 200);
	IS("x", "timed_out");
	rig_free(rig);
	PASS();
}

TEST bound_of_run_counts_added_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig->max_jobs = 1;
	graph_job(&graph, "a", "");
	rig_hello(rig, "w", 8);
	run = rig_submit(rig, &graph);
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "");
	ASSERT(grow(rig, run, &graph, ""));
	ASSERT_EQ(1, rig->assigned_count);
	ASSERT_EQ(3, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

static bool loads(struct rig *rig, const char *words)
{
	struct outbox out = { 0 };
	struct error error = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	bool as_expected = core ? words[0] == '\0' : error.code == ERR_STORE_TRUST && strstr(error.text, words);

	if (!as_expected)
		fprintf(stderr, "expected \"%s\", got \"%s\"\n", words, core ? "it loads" : error.text);
	core_free(core);
	outbox_free(&out);
	return as_expected;
}

static bool loads_with(struct rig *rig, int64_t *field, int64_t value, const char *words)
{
	int64_t was = *field;
	bool as_expected;

	*field = value;
	as_expected = loads(rig, words);
	*field = was;
	return as_expected;
}

#define WITH(field, value, words) ASSERT(loads_with(rig, &(field), (value), (words)))

/* Rows of added jobs that contradict each other, their run or another run are refused at load. */
TEST contradicting_rows_of_added_jobs_are_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };
	struct row_spec *parts[3];
	struct row_run *row = &rig->tables[TABLE_run].at[0].row.run;

	graph_job(&graph, "between", "");
	rig_submit(rig, &graph);
	added(&graph, "x", 0, TRIGGER_OK);
	graph_job(&graph, "y", "x");
	ASSERT_EQ(7, grow(rig, run, &graph, "runs"));
	for (size_t i = 0; i < 3; i++)
		parts[i] = &rig->tables[TABLE_spec].at[i].row.spec;
	ASSERT(parts[0]->run == 1 && parts[2]->run == 1 && parts[2]->part == 1 && parts[2]->first == 7 && parts[2]->jobs == 2);
	ASSERT(loads(rig, ""));
	WITH(parts[2]->first, 6, "its jobs overlap with others, or their numbers are above next_job");
	WITH(parts[2]->first, 3, "its jobs overlap with others, or their numbers are above next_job");
	WITH(parts[2]->first, 8, "its jobs overlap with others, or their numbers are above next_job");
	WITH(parts[2]->first, 0, "spec of run 1: part 1 doesn't belong to its submit");
	WITH(parts[2]->first, -7, "part 1 begins with the wrong job, -7");
	WITH(parts[2]->jobs, 1, "spec of run 1: part 1 doesn't belong to its submit");
	WITH(parts[2]->jobs, 3, "specification has");
	WITH(parts[2]->jobs, -2, "spec of run 1: part 1 doesn't belong to its submit");
	WITH(parts[2]->count, 1, "specification has");
	WITH(parts[2]->run, 2, "spec of run 2: part 1 is missing or doesn't belong there");
	WITH(parts[0]->jobs, 4, "spec of run 1: part 0 doesn't belong to its submit");
	WITH(parts[0]->jobs, 6, "spec of run 1: part 1 doesn't belong to its submit");
	WITH(parts[0]->jobs, 0, "");             /* an older version wrote no number of jobs, which is accepted */
	WITH(parts[1]->jobs, 0, "");
	WITH(row->jobs, 6, "specification has");
	WITH(row->jobs, 8, "specification has");
	WITH(row->first, 2, "overlap");
	rig_free(rig);
	PASS();
}

/*
 * Specifications that belong to other rows are refused: their job names are duplicates, or their dependencies unknown.
 */
TEST specs_of_other_rows_are_refused(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt running = { 0 };
	uint64_t run = mixed_run(rig, &running);
	struct graph graph = { 0 };
	struct slice *added_body, *first_body, kept;

	added(&graph, "x", 0, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "runs"));
	first_body = &rig->tables[TABLE_spec].at[0].row.spec.body;
	added_body = &rig->tables[TABLE_spec].at[1].row.spec.body;
	kept = *added_body;
	*added_body = *first_body;
	ASSERT(loads(rig, "'; give the added job another name"));
	added_body->len = 3;
	ASSERT(loads(rig, "run 1"));
	/* The added job claims to be a member of a fan-out of the first extent. */
	for (uint64_t group = 5; group <= 6; group++) {
		struct blob *body;

		graph_job(&graph, "x", "")->group = group;
		body = graph_blob(&graph);
		*added_body = blob_slice(body);
		ASSERT(loads(rig, group == 5 ? "job 5 'x': group: no such job" : ""));
		blob_release(body);
		graph_free(&graph);
	}
	*added_body = kept;
	kept = *first_body;
	*first_body = *added_body;
	ASSERT(loads(rig, "part 0 of the graph has 1 jobs instead of 5"));
	*first_body = kept;
	ASSERT(loads(rig, ""));
	rig_free(rig);
	PASS();
}

/* Submit a run: "b" needs "a"; "end" is a final job; "tell" is a final job with a condition. */
static uint64_t run_with_finals(struct rig *rig)
{
	static const struct expr_step steps[] = {
		{ .op = EXPR_STATE, .a = 0, .b = 1, .c = 1u << STATE_FAILED }, { .op = EXPR_TRUE },
		{ .op = EXPR_GATE, .a = 1, .b = 2 },
	};
	struct graph graph = { 0 };
	struct buf code = { 0 };
	uint64_t run;

	for (size_t i = 0; i < 3; i++)
		expr_put(&code, steps[i]);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "end", "a* b*")->final = true;
	graph_job(&graph, "tell", "a* b*");
	graph.jobs[3].final = true;
	graph.jobs[3].when_code = buf_slice(&code);
	run = rig_submit(rig, &graph);
	buf_free(&code);
	return run;
}

TEST final_jobs_wait_for_added_jobs(void)
{
	struct rig *rig = rig_new();
	uint64_t run = run_with_finals(rig);
	struct graph graph = { 0 };
	struct rig_attempt a, x, y;
	struct rec_job_row row;

	rig_hello(rig, "w", 4);
	a = rig_must_take(rig);
	added(&graph, "x", 0, TRIGGER_DONE);
	added(&graph, "behind", 1, TRIGGER_OK);
	graph_job(&graph, "further", "behind");
	ASSERT(grow(rig, run, &graph, "a end"));
	graph_job(&graph, "y", "");
	ASSERT(grow(rig, run, &graph, ""));
	y = rig_must_take(rig);
	rig_started(rig, a);
	rig_done(rig, a, OUTCOME_EXIT, 1);
	x = rig_must_take(rig);
	rig_restart(rig);
	IS("b", "skipped");
	IS("end", "waiting");
	IS("tell", "waiting");
	row = rig_job(rig, rig_named(rig, run, "end"));
	ASSERT(view_explain(rig->core, row.job, &rig->arena, &row));
	ASSERT(slice_eq(row.why, slice_str("the job waits for 2 added to the run")));
	x.conn = y.conn = rig_hello_held(rig, "w", 4, (struct rec_held[]){
		{ .job = x.job, .epoch = x.epoch, .phase = PHASE_RUNNING },
		{ .job = y.job, .epoch = y.epoch, .phase = PHASE_RUNNING } }, 2);
	rig_done(rig, x, OUTCOME_EXIT, 0);
	IS("end", "waiting");
	rig_done(rig, y, OUTCOME_EXIT, 1);
	IS("tell", "assigned");
	IS("end", "assigned");
	IS("further", "waiting");
	/* An added job before the final jobs would be too late; one after them is accepted. */
	graph_job(&graph, "z", "");
	ASSERT(refused(rig, run, &graph, "", ERR_TERMINAL, "its final job end is assigned"));
	added(&graph, "z", 0, TRIGGER_OK);
	ASSERT(grow(rig, run, &graph, "further"));
	rig_run_all(rig);
	IS("z", "succeeded");
	rig_free(rig);
	PASS();
}

TEST begun_final_job_refuses_additions(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "slow", "");
	graph_job(&graph, "end", "a* slow*")->final = true;
	graph_job(&graph, "tell", "a*")->final = true;
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 4);
	rig_run_one(rig, 0);
	IS("end", "waiting");
	IS("tell", "assigned");
	graph_job(&graph, "z", "");
	ASSERT(refused(rig, run, &graph, "", ERR_TERMINAL, "its final job tell is assigned"));
	rig_free(rig);
	PASS();
}

/* A retry of an added job opens a new round of the final jobs too. */
TEST retry_of_added_job_opens_final_jobs(void)
{
	struct rig *rig = rig_new();
	uint64_t run = run_with_finals(rig), other;
	struct graph graph = { 0 };

	rig_hello(rig, "w", 1);
	graph_job(&graph, "x", "");
	ASSERT(grow(rig, run, &graph, ""));
	graph_job(&graph, "other", "");
	other = rig_submit(rig, &graph);
	for (int i = 0; i < 4; i++)
		rig_run_one(rig, 0);
	rig_cancel(rig, other, "");
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_act(rig, ACT_RETRY, run, "x", RETRY_FROM);
	IS("end", "waiting");
	IS("tell", "waiting");
	IS("b", "succeeded");
	graph_job(&graph, "y", "");
	ASSERT(grow(rig, run, &graph, ""));
	rig_run_one(rig, 0);
	IS("end", "waiting");
	rig_run_one(rig, 0);
	IS("end", "assigned");
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* Add many jobs one at a time with occasional restarts: names, numbers and edges stay right. */
TEST many_small_additions_keep_names_and_edges(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char name[24], before[24] = "j";
	uint64_t run;

	rig->reload_every = 50;
	graph_job(&graph, "j", "");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		added(&graph, name, 0, TRIGGER_OK);
		ASSERT(grow(rig, run, &graph, before));
		memcpy(before, name, sizeof(before));
		if (i % 7 == 0) {
			graph_job(&graph, "other", "");
			ASSERT(rig_submit(rig, &graph));
		}
		if (i % 100 == 50)
			rig_restart(rig);
		snprintf(name, sizeof(name), "j%d", i / 2);
		graph_job(&graph, name, "");
		ASSERT(refused(rig, run, &graph, "", ERR_DUPLICATE, "name"));
	}
	rig_hello(rig, "w", 2);
	ASSERT_EQ(501 + 72, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

SUITE(core_grow)
{
	RUN_TEST(added_jobs_may_need_parents_in_every_state);
	RUN_TEST(added_jobs_run_to_their_end);
	RUN_TEST(bad_additions_are_refused);
	RUN_TEST(a_refused_fan_out_leaves_no_bound);
	RUN_TEST(ended_and_cancelled_runs_refuse_additions);
	RUN_TEST(run_cancelled_after_its_jobs_refuses_additions);
	RUN_TEST(same_key_adds_once);
	RUN_TEST(runs_submitted_between_additions_keep_their_jobs);
	RUN_TEST(deadline_of_added_job_counts_from_addition);
	RUN_TEST(bound_of_run_counts_added_jobs);
	RUN_TEST(contradicting_rows_of_added_jobs_are_refused);
	RUN_TEST(specs_of_other_rows_are_refused);
	RUN_TEST(final_jobs_wait_for_added_jobs);
	RUN_TEST(begun_final_job_refuses_additions);
	RUN_TEST(retry_of_added_job_opens_final_jobs);
	RUN_TEST(many_small_additions_keep_names_and_edges);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_grow);
	GREATEST_MAIN_END();
}
