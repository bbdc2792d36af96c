/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New rounds: which jobs a retry opens again, and which stay, in live runs, ended runs, and runs that left memory. */
#include "tests/unit/core_rig.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"

/* Make a run in which a fails; b needs a, c needs b; d needs a's failure; e is independent. */
static uint64_t failed_run(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "b");
	graph_job(&graph, "d", "a-");
	graph_job(&graph, "e", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 7);
	rig_run_all(rig);
	CHECK(rig_run_state(rig, run) == RUN_FAILED);
	return run;
}

static int64_t row_of_run(const struct rig *rig, uint64_t run)
{
	return rig_run_row(rig, (int64_t)run)->run.ended_ms;
}

TEST retry_opens_failed_jobs_and_descendants(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig);

	ASSERT(row_of_run(rig, run) > 0);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(4, rig->ok.count);
	ASSERT_EQ(0, row_of_run(rig, run));
	ASSERT_EQ(RUN_RUNNING, rig_run_state(rig, run));
	ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "d")).round);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "d"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "e")).round);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(3, rig_run_all(rig));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "c"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "d"));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(0, rig->errors);
	rig_free(rig);
	PASS();
}

TEST retry_from_opens_succeeded_jobs(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig);

	rig_act(rig, ACT_RETRY, run, "", RETRY_ALL);
	ASSERT_EQ(5, rig->ok.count);
	rig_run_all(rig);
	rig_act(rig, ACT_RETRY, run, "b", RETRY_FROM);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(2, rig_job(rig, rig_named(rig, run, "c")).round);
	rig_run_one(rig, 3);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "c"));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST retry_only_leaves_descendants(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig);

	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "b"));
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "d"));
	rig_free(rig);
	PASS();
}

TEST waiting_child_waits_for_retried_parent(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "a b");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "c"));
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(3, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST running_child_keeps_old_result(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_act(rig, ACT_RETRY, run, "b", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_PENDING, "hasn't ended: it is running"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "b"));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "b"));
	ASSERT_EQ(1, rig_run_one(rig, 1));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "b"));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST retry_of_open_job_names_next_command(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t conn, run;

	graph_job(&graph, "qa", "")->gate_count = 1;
	graph_job(&graph, "ship", "")->mode = EXEC_ONCE;
	conn = rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_act(rig, ACT_RETRY, run, "qa", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_PENDING, "hasn't ended: people have to approve or reject it"));
	ASSERT(slice_eq(rig->error.next, slice_str("titan approve 1/qa")));
	rig_act(rig, ACT_RETRY, run, "ship", RETRY_FROM);
	ASSERT(slice_eq(rig->error.next, slice_str("titan cancel 1/ship")));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS + 1000);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "ship"));
	rig_act(rig, ACT_RETRY, run, "ship", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_PENDING, "job 1/ship hasn't ended: the job may have run, and a person has to settle it"));
	ASSERT(slice_eq(rig->error.next, slice_str("titan settle 1/ship retry -m 'HOW YOU KNOW'")));
	rig_free(rig);
	PASS();
}

TEST new_round_has_all_retries(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->retry_max = 1;
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(1, rig_run_one(rig, 1));
		ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
		rig_pass(rig, 2000);
		ASSERT_EQ(1, rig_run_one(rig, 1));
		ASSERT_EQ(STATE_FAILED, rig_state(rig, 1));
		rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
		ASSERT_EQ(0, rig_job(rig, 1).code);
	}
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(7, rig_job(rig, 1).epoch & UINT32_MAX);
	rig_free(rig);
	PASS();
}

static void graph_gate(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
}

/* A gate that was asked about an old result goes back to waiting, and its votes are void. */
TEST retry_sends_open_gate_back_to_waiting(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int only = 0; only < 2; only++) {
		graph_job(&graph, "a", "");
		graph_gate(&graph, "qa", "a");
		graph.jobs[1].gate_count = 2;
		graph.jobs[1].gate_timeout_ms = 9000;
		graph_job(&graph, "b", "qa");
		if (!only)
			rig_hello(rig, "w", 1);
		run = rig_submit(rig, &graph);
		rig_run_one(rig, 0);
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "qa", 0);
		ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "qa")).gate_have);
		rig_act(rig, ACT_RETRY, run, "a", only ? RETRY_ONLY : RETRY_FROM);
		ASSERT_EQ(2, rig->ok.count);
		ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "qa"));
		ASSERT_EQ(1, rig_job(rig, rig_named(rig, run, "qa")).round);
		rig_act_as(rig, "cem", 3, ACT_APPROVE, run, "qa", 0);
		ASSERT(rig_error_says(rig, ERR_PENDING, "/qa isn't waiting for approval: it is waiting"));
		rig_pass(rig, 9000);
		rig_run_one(rig, 0);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
		ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "qa")).gate_have);
		rig_act_as(rig, "cem", 3, ACT_APPROVE, run, "qa", 0);
		ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
		rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "qa", 0);
		ASSERT_EQ(rig_named(rig, run, "b"), rig_run_one(rig, 0));
	}
	rig_free(rig);
	PASS();
}

/* Jobs that haven't started on the old result go back to waiting. */
TEST retry_sends_ready_and_delayed_back_to_waiting(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "queued", "a")->priority = 2;
	graph_job(&graph, "delayed", "a")->delay_ms = 5000;
	graph_job(&graph, "behind", "queued");
	graph_job(&graph, "first", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "queued"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "queued"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "delayed"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "behind")).round);
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_pass(rig, 5000);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "delayed"));
	ASSERT_EQ(4, rig_run_all(rig));
	rig_pass(rig, 5000);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

/* A decided gate isn't asked again if its answer no longer decides anything. */
TEST gate_in_use_stays_decided(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_gate(&graph, "qa", "a");
	graph_job(&graph, "b", "qa");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_act(rig, ACT_RETRY, run, "qa", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_PENDING, "asking gate qa again would change nothing, because a job that it let run hasn't ended: b is running"));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_FROM);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "qa"));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(rig_named(rig, run, "a"), rig_run_one(rig, 0));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_act(rig, ACT_RETRY, run, "qa", RETRY_ONLY);
	ASSERT(rig_error_says(rig, ERR_INVALID, "asking gate qa alone again would change nothing, because the jobs after it have ended"));
	rig_act(rig, ACT_RETRY, run, "qa", RETRY_FROM);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig_free(rig);
	PASS();
}

/* Collect the rows of a run as the store would return them. */
static size_t rows_of_run(const struct rig *rig, int64_t run, struct row *rows)
{
	static const enum row_table tables[] = { TABLE_run, TABLE_spec, TABLE_job };
	size_t count = 0;

	for (size_t t = 0; t < 3; t++) {
		size_t first = count;

		for (size_t i = 0; i < rig->tables[tables[t]].count; i++) {
			const struct row *row = &rig->tables[tables[t]].at[i].row;
			int64_t of = row->table == TABLE_run ? row->run.run :
				     row->table == TABLE_spec ? row->spec.run : row->job.run;

			if (of == run)
				rows[count++] = *row;
		}
		for (size_t i = first; tables[t] == TABLE_job && i < count; i++)
			for (size_t j = i + 1; j < count; j++)
				if (rows[j].job.job < rows[i].job.job) {
					struct row other = rows[i];

					rows[i] = rows[j];
					rows[j] = other;
				}
	}
	return count;
}

static void reopen(struct rig *rig, uint64_t run, struct row *rows, size_t count)
{
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = ++rig->request };

	input.reopen = (struct input_reopen){ .act = { .verb = ACT_RETRY, .run = run, .value = RETRY_FAILED },
		.rows = rows, .row_count = count };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
}

TEST retry_brings_run_back_into_memory(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig), later;
	struct graph graph = { 0 };
	struct row rows[16];
	size_t count;

	graph_job(&graph, "x", "");
	later = rig_submit(rig, &graph);
	core_sweep(rig->core, UINT64_MAX);
	ASSERT_EQ(0, view_job_at(rig->core, run, 0));
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "not live"));
	count = rows_of_run(rig, (int64_t)run, rows);
	ASSERT_EQ(7, count);
	reopen(rig, run, rows, count);
	ASSERT_EQ(4, rig->ok.count);
	ASSERT_EQ(4, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, later));

	/* With nothing to do the run leaves memory again, and is loaded again. */
	core_sweep(rig->core, UINT64_MAX);
	count = rows_of_run(rig, (int64_t)run, rows);
	reopen(rig, run, rows, count);
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(0, rig->error.code);
	core_sweep(rig->core, UINT64_MAX);
	core_check(rig->core);
	ASSERT_EQ(0, view_job_at(rig->core, run, 0));

	/* Contradicting rows of a reopened run are refused, and nothing of it stays in memory. */
	rows[2].job.state = STATE_RUNNING;
	reopen(rig, run, rows, count);
	ASSERT_EQ(ERR_STORE_TRUST, rig->error.code);
	reopen(rig, run, rows, count - 1);
	ASSERT_EQ(ERR_STORE_TRUST, rig->error.code);
	ASSERT_EQ(0, view_job_at(rig->core, run, 0));
	rig_free(rig);
	PASS();
}

TEST bad_scope_of_retry_is_refused(void)
{
	struct rig *rig = rig_new();
	uint64_t run = failed_run(rig);

	rig_act(rig, ACT_RETRY, run, "", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_INVALID, "name the job of run 1 that is to run again"));
	rig_act(rig, ACT_RETRY, run, "a", 77);
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown scope of a retry: 77"));
	rig_act(rig, ACT_RETRY, run, "zz", RETRY_FROM);
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "no job 'zz'"));
	ASSERT(row_of_run(rig, run) > 0);
	rig_free(rig);
	PASS();
}

SUITE(rounds)
{
	RUN_TEST(retry_opens_failed_jobs_and_descendants);
	RUN_TEST(retry_from_opens_succeeded_jobs);
	RUN_TEST(retry_only_leaves_descendants);
	RUN_TEST(waiting_child_waits_for_retried_parent);
	RUN_TEST(running_child_keeps_old_result);
	RUN_TEST(retry_of_open_job_names_next_command);
	RUN_TEST(new_round_has_all_retries);
	RUN_TEST(retry_sends_open_gate_back_to_waiting);
	RUN_TEST(retry_sends_ready_and_delayed_back_to_waiting);
	RUN_TEST(gate_in_use_stays_decided);
	RUN_TEST(retry_brings_run_back_into_memory);
	RUN_TEST(bad_scope_of_retry_is_refused);
}

TEST new_round_keeps_priority(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->priority = 81;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_PRIORITY, run, "b", 70);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 3);
	rig_run_one(rig, 3);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(2, rig->ok.count);
	ASSERT_EQ(81, rig_job(rig, 1).priority);
	ASSERT_EQ(71, rig_job(rig, 2).priority);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(rounds);
	RUN_TEST(new_round_keeps_priority);
	GREATEST_MAIN_END();
}
