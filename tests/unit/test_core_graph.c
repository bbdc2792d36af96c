/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs: the order in which jobs run, submit keys, triggers, and how a failure spreads. */
#include "tests/unit/core_rig.h"
#include "tests/unit/core_grow.h"
#include "proto/expr.h"

TEST sequence_runs_in_order(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "b");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(1, run);
	ASSERT_EQ(3, rig->accepted.jobs);
	ASSERT_EQ(1, rig->accepted.first);
	rig_hello(rig, "w", 4);
	for (uint64_t job = 1; job <= 3; job++)
		ASSERT_EQ(job, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST diamond_joins_once(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 4);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "a");
	graph_job(&graph, "d", "b c");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "d"));
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "d"));
	ASSERT_EQ(4, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST fan_out_and_in(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *last;
	char name[32];
	uint64_t run, all[2000];

	rig->reload_every = 211;
	rig_hello(rig, "w", 16);
	graph_job(&graph, "root", "");
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "leaf-%d", i);
		graph_job(&graph, name, "root");
		all[i] = (uint64_t)i + 1;
	}
	last = graph_job(&graph, "last", "");
	last->needs = (struct u64_list){ .at = all, .n = 2000 };
	last->triggers = (struct u64_list){ 0 };
	run = rig_submit(rig, &graph);
	ASSERT_EQ(1, run);
	ASSERT_EQ(2002, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "last"));
	rig_free(rig);
	PASS();
}

TEST chain_of_500(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char name[32], before[32] = "";

	rig->reload_every = 41;
	rig_hello(rig, "w", 1);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, before);
		memcpy(before, name, sizeof(name));
	}
	rig_submit(rig, &graph);
	for (uint64_t job = 1; job <= 500; job++)
		ASSERT_EQ(job, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

/* Two submit keys whose digests differ only in later bytes are different. */
TEST submit_key_compares_whole_digest(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = 1 };
	struct graph_part part = { .count = 1 };
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	graph_free(&graph);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("deploy"),
		.parts = &part, .part_count = 1, .key = { 9 } };
	rig_step(rig, &input);
	ASSERT_EQ(1, rig->accepted.run);
	input.submit.digest[31] = 1;
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "run 1"));
	blob_release(part.body);
	rig_free(rig);
	PASS();
}

TEST submit_is_idempotent(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct blob *body;

	graph_job(&graph, "a", "");
	body = graph_blob(&graph);
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 1, 99, 5));
	ASSERT_FALSE(rig->accepted.existing);
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 1, 99, 5));
	ASSERT(rig->accepted.existing);
	ASSERT_EQ(1, rig->accepted.first);
	ASSERT_EQ(0, rig->out.row_count);
	ASSERT_EQ(0, rig_submit_bytes(rig, body, 1, 99, 6));
	ASSERT(rig_error_says(rig, ERR_KEY_REUSED, "run 1"));
	ASSERT_EQ(2, rig_submit_bytes(rig, body, 1, 100, 5));

	/* The key is known also after the run has ended and left memory, and after a restart. */
	rig_hello(rig, "w", 2);
	rig_run_all(rig);
	core_sweep(rig->core, rig->out.turn);
	ASSERT_EQ(0, view_run_before(rig->core, UINT64_MAX));
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 1, 99, 5));
	rig_restart(rig);
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 1, 99, 5));
	ASSERT(rig->accepted.existing);
	blob_release(body);
	graph_free(&graph);
	rig_free(rig);
	PASS();
}

TEST higher_priority_runs_first(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "low", "")->priority = 1;
	graph_job(&graph, "normal", "");
	graph_job(&graph, "high", "")->priority = 101;
	graph_job(&graph, "normal-2", "");
	rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(4, rig_run_one(rig, 0));
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST failure_cascades_in_one_turn(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;
	size_t skipped = 0;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "a");
	graph_job(&graph, "d", "b c");
	graph_job(&graph, "e", "d");
	graph_job(&graph, "other", "");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(1, rig_run_one(rig, 3));
	for (size_t i = 0; i < rig->out.row_count; i++)
		skipped += rig->out.rows[i].table == TABLE_job && rig->out.rows[i].job.state == STATE_SKIPPED;
	ASSERT_EQ(4, skipped);
	ASSERT_STR_EQ("failed", rig_state_named(rig, run, "a"));
	ASSERT_EQ(3, rig_job(rig, 1).code);
	ASSERT_EQ(2, rig_job(rig, 2).cause);     /* the cause is job a: its serial number plus 1 */
	ASSERT_EQ(2, rig_job(rig, 3).cause);
	ASSERT_EQ(3, rig_job(rig, 4).cause);     /* b's end came first */
	ASSERT_EQ(5, rig_job(rig, 5).cause);
	ASSERT_EQ(RUN_RUNNING, rig_run_state(rig, run));
	ASSERT_EQ(6, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST triggers_choose_by_end_of_parent(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "on-ok", "a");
	graph_job(&graph, "on-failed", "a-");
	graph_job(&graph, "always", "a*");
	graph_job(&graph, "after-skip", "on-ok*");
	graph_job(&graph, "skip-is-no-failure", "on-ok-");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "on-ok"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "skip-is-no-failure"));
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(4, rig_run_one(rig, 0));
	ASSERT_EQ(5, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_FAILED, rig_run_state(rig, run));

	graph_job(&graph, "a", "");
	graph_job(&graph, "on-failed", "a-");
	graph_job(&graph, "always", "a*");
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "on-failed"));
	ASSERT_EQ(9, rig_run_one(rig, 0));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST views_find_jobs_by_name_and_place(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice argv[3] = { slice_str("echo"), slice_str("it's"), slice_str("b") };
	struct rec_job_row row;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a-")->argv = (struct slice_list){ .at = argv, .n = 3 };
	run = rig_submit(rig, &graph);
	ASSERT_EQ(2, view_job_named(rig->core, run, slice_str("b")));
	ASSERT_EQ(0, view_job_named(rig->core, run, slice_str("c")));
	ASSERT_EQ(0, view_job_named(rig->core, run + 1, slice_str("a")));
	ASSERT_EQ(2, view_job_at(rig->core, run, 1));
	ASSERT_EQ(0, view_job_at(rig->core, run, 2));
	ASSERT(view_job(rig->core, 2, VIEW_FULL, &rig->arena, &row));
	ASSERT_EQ(1, row.needs.n);
	ASSERT_EQ(TRIGGER_FAILED, row.triggers.at[0]);
	ASSERT(slice_eq(row.command, slice_str("echo 'it'\\''s' b")));
	ASSERT_FALSE(view_job(rig->core, 3, VIEW_BRIEF, &rig->arena, &row));
	ASSERT_EQ(1, view_run_before(rig->core, UINT64_MAX));
	ASSERT_EQ(0, view_run_before(rig->core, 1));
	rig_free(rig);
	PASS();
}

SUITE(admission)
{
	RUN_TEST(submit_key_compares_whole_digest);
	RUN_TEST(submit_is_idempotent);
	RUN_TEST(views_find_jobs_by_name_and_place);
}

SUITE(order)
{
	RUN_TEST(sequence_runs_in_order);
	RUN_TEST(diamond_joins_once);
	RUN_TEST(fan_out_and_in);
	RUN_TEST(chain_of_500);
	RUN_TEST(higher_priority_runs_first);
	RUN_TEST(failure_cascades_in_one_turn);
	RUN_TEST(triggers_choose_by_end_of_parent);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(admission);
	RUN_SUITE(order);
	GREATEST_MAIN_END();
}
