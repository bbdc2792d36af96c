/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who gets what: labels, and what is never held up by what nobody can serve. */
#include "tests/unit/core_rig.h"

static struct slice gpu[] = { { (const uint8_t *)"gpu", 3 } };
static struct slice both[] = { { (const uint8_t *)"ssd", 3 }, { (const uint8_t *)"gpu", 3 } };

static struct rec_job_spec *graph_labelled(struct graph *graph, const char *name, struct slice *labels, size_t n)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	job->labels = (struct slice_list){ .at = labels, .n = n };
	return job;
}

TEST a_worker_needs_every_label(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_worker_row row;

	graph_labelled(&graph, "a", both, 2);
	graph_labelled(&graph, "b", gpu, 1);
	graph_job(&graph, "c", "");
	rig_submit(rig, &graph);
	rig_hello(rig, "plain", 4);
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_hello_labels(rig, "g", 4, gpu, 1);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_restart(rig);
	rig_hello_labels(rig, "g", 4, gpu, 1);
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_hello_labels(rig, "all", 1, both, 2);
	ASSERT(view_worker(rig->core, 3, &row));
	ASSERT_EQ(2, row.labels.n);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST what_nobody_can_serve_holds_up_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%d", i);
		graph_labelled(&graph, name, gpu, 1)->priority = 101;
	}
	graph_job(&graph, "low", "")->priority = 1;
	rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(21, rig_run_one(rig, 0));
	ASSERT_EQ(0, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST the_best_of_all_that_it_can_serve(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_labelled(&graph, "b", gpu, 1);
	graph_labelled(&graph, "c", gpu, 1)->priority = 81;
	graph_job(&graph, "d", "");
	rig_submit(rig, &graph);
	rig_hello_labels(rig, "g", 1, both, 2);
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(1, rig_run_one(rig, 0));
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(4, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST labels_leave_with_their_runs(void)
{
	struct rig *rig = rig_new();

	rig_hello_labels(rig, "g", 1, both, 2);
	for (int i = 0; i < 5; i++) {
		struct graph graph = { 0 };
		uint64_t run;

		graph_labelled(&graph, "a", i % 2 ? gpu : both, i % 2 ? 1 : 2);
		run = rig_submit(rig, &graph);
		if (i == 3)
			rig_cancel(rig, run, "");
		rig_run_all(rig);
		ASSERT(run_state_terminal(rig_run_state(rig, run)));
		core_sweep(rig->core, UINT64_MAX);
		core_check(rig->core);
	}
	rig_free(rig);
	PASS();
}

TEST bad_labels_are_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice bad[] = { slice_str("a b") };

	graph_labelled(&graph, "a", bad, 1);
	rig_submit(rig, &graph);
	ASSERT(rig_error_says(rig, ERR_INVALID, "labels: a label has"));
	rig_hello_labels(rig, "w", 1, bad, 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "a label has"));
	rig_free(rig);
	PASS();
}

SUITE(placing)
{
	RUN_TEST(a_worker_needs_every_label);
	RUN_TEST(what_nobody_can_serve_holds_up_nothing);
	RUN_TEST(the_best_of_all_that_it_can_serve);
	RUN_TEST(labels_leave_with_their_runs);
	RUN_TEST(bad_labels_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(placing);
	GREATEST_MAIN_END();
}
