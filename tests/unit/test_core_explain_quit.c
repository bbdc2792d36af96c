/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explain says about quitting workers and about groups of runs. */
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

/* A worker that was told to quit isn't counted as one that could take the job. */
TEST explain_counts_no_quitting_worker(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };

	rig_hello(rig, "w", 1);
	rig_step(rig, &quit);
	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	ASSERT(view_explain(rig->core, 1, &rig->arena, &row));
	ASSERT_EQ(REASON_NO_WORKER_UP, (int)row.why_code);
	rig_free(rig);
	PASS();
}

/* Explain names the runs that hold a place in the group, not those that wait for one. */
TEST explain_names_runs_that_hold_group(void)
{
	struct rig *rig = rig_new();
	struct rec_job_row row = { 0 };
	uint64_t run = 0;

	rig_hello(rig, "w", 3);
	rig->concurrency = "g";
	for (int i = 0; i < 3; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		run = rig_submit(rig, &graph);
	}
	ASSERT(view_explain(rig->core, rig_named(rig, run, "a"), &rig->arena, &row));
	ASSERT_EQ(REASON_CONCURRENCY_RUNS, (int)row.why_code);
	ASSERT(row.why.len > 9 && memcmp(row.why.data + row.why.len - 7, ": run 1", 7) == 0);
	rig_free(rig);
	PASS();
}

SUITE(explain_quit)
{
	RUN_TEST(explain_counts_no_quitting_worker);
	RUN_TEST(explain_names_runs_that_hold_group);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(explain_quit);
	GREATEST_MAIN_END();
}
