/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels, and jobs that no worker can serve: they keep no other job waiting. */
#include "tests/unit/core_rig.h"

#include "proto/reasons.h"

static struct slice gpu[] = { { (const uint8_t *)"gpu", 3 } };
static struct slice both[] = { { (const uint8_t *)"ssd", 3 }, { (const uint8_t *)"gpu", 3 } };

static struct rec_job_spec *graph_labelled(struct graph *graph, const char *name, struct slice *labels, size_t n)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	job->labels = (struct slice_list){ .at = labels, .n = n };
	return job;
}

TEST worker_needs_every_label(void)
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
	ASSERT(view_worker(rig->core, 3, &rig->arena, &row));
	ASSERT_EQ(2, row.labels.n);
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

TEST job_without_a_worker_holds_up_no_other(void)
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

TEST worker_gets_the_best_of_all_it_can_serve(void)
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
	ASSERT(rig_error_says(rig, ERR_INVALID, "job 0 'a': labels: not a requirement on labels; it must be KEY, !KEY, KEY=VALUE, KEY!=VALUE, KEY in (A,B) or KEY notin (A,B)"));
	rig_hello_labels(rig, "w", 1, bad, 1);
	ASSERT(rig_error_says(rig, ERR_INVALID, "'a b' isn't a label; a label is KEY or KEY=VALUE"));
	rig_free(rig);
	PASS();
}

static size_t active(struct rig *rig, uint64_t first, size_t count)
{
	size_t holds = 0;

	for (uint64_t job = first; job < first + count; job++)
		holds += rig_state(rig, job) == STATE_ASSIGNED || rig_state(rig, job) == STATE_RUNNING;
	return holds;
}

TEST run_has_no_more_active_jobs_than_its_bound(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, other = { 0 };
	uint64_t run;

	for (int i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "j%d", i);
		graph_labelled(&graph, name, gpu, i % 3 ? 1 : 0)->priority = 91;
	}
	graph_job(&other, "o", "");
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig->max_jobs = 0;
	rig_submit(rig, &other);
	rig_hello_labels(rig, "g", 4, gpu, 1);
	ASSERT_EQ(2, active(rig, 1, 12));
	ASSERT_EQ(1, active(rig, 13, 1));
	rig_restart(rig);
	rig_hello_labels(rig, "g", 4, gpu, 1);
	rig_pass(rig, 1);
	ASSERT_EQ(2, active(rig, 1, 12));
	rig_act(rig, ACT_HOLD, run, "j5", 0);
	rig_act(rig, ACT_PRIORITY, run, "j11", 100);
	rig_cancel(rig, run, "j7");
	ASSERT(rig_run_one(rig, 0) != 0);
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 12));
	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(2, active(rig, 1, 12));
		ASSERT(rig_run_one(rig, 0) != 0);
	}
	rig_run_all(rig);
	rig_act(rig, ACT_RELEASE, run, "j5", 0);
	rig_run_all(rig);
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

static void graph_fan(struct graph *graph, size_t count, uint64_t parallel, bool fail_fast)
{
	for (size_t i = 0; i < count; i++) {
		struct rec_job_spec *job;
		char name[32];

		snprintf(name, sizeof(name), "f[%zu]", i);
		job = graph_job(graph, name, "");
		job->group = 1;
		job->group_parallel = parallel;
		job->group_fail_fast = fail_fast;
	}
}

TEST fan_out_has_no_more_active_members_than_its_bound(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_fan(&graph, 6, 2, false);
	graph_job(&graph, "x", "");
	graph_job(&graph, "y", "");
	rig->max_jobs = 3;
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 8);
	ASSERT_EQ(2, active(rig, 1, 6));
	ASSERT_EQ(3, active(rig, 1, 8));
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	rig_free(rig);
	PASS();
}

TEST fail_fast_ends_a_fan_out(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_fan(&graph, 6, 2, true);
	graph_job(&graph, "x", "");
	rig_hello(rig, "w", 8);
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "f[1]"));
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "f[5]"));
	ASSERT_EQ(2, rig_job(rig, rig_named(rig, run, "f[5]")).cause);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "x"));
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_EQ(5, rig->ok.count);
	rig_free(rig);
	PASS();
}

static enum reason why(struct rig *rig, uint64_t run, const char *name, const char *words)
{
	struct rec_job_row row = { 0 };

	CHECK(view_explain(rig->core, rig_named(rig, run, name), &rig->arena, &row));
	if (!memmem(row.why.data, row.why.len, words, strlen(words))) {
		fprintf(stderr, "%s: %.*s\n", reason_name(row.why_code), (int)row.why.len, (const char *)row.why.data);
		return REASON_NONE;
	}
	return (enum reason)row.why_code;
}

TEST every_wait_is_explained(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_labelled(&graph, "c", both, 2);
	graph_job(&graph, "d", "")->delay_ms = 1500;
	graph_job(&graph, "e", "")->gate_count = 2;
	graph_job(&graph, "f", "");
	graph_job(&graph, "g", "");
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	ASSERT_EQ(REASON_NO_WORKER_UP, why(rig, run, "a", "no worker is connected"));
	rig_hello(rig, "w", 1);
	ASSERT_EQ(REASON_SENT, why(rig, run, "a", "worker w"));
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_EQ(REASON_RUNNING, why(rig, run, "a", "worker w"));
	ASSERT_EQ(REASON_WAITS_FOR_DEPENDENCY, why(rig, run, "b", "the job waits for a (running)"));
	ASSERT_EQ(REASON_NO_WORKER_LABELS, why(rig, run, "c", "no connected worker meets the label requirement gpu, ssd; worker w comes nearest, but doesn't meet gpu, ssd"));
	ASSERT_EQ(REASON_DUE, why(rig, run, "d", "due in 1.5s"));
	ASSERT_EQ(REASON_APPROVAL, why(rig, run, "e", "0 of 2 people"));
	ASSERT_EQ(REASON_ALL_SLOTS_BUSY, why(rig, run, "f", "the only slot that the job could use is busy"));
	rig_act(rig, ACT_HOLD, run, "f", 0);
	ASSERT_EQ(REASON_HELD, why(rig, run, "f", "this job"));
	rig_hello(rig, "v", 4);
	ASSERT_EQ(REASON_SENT, why(rig, run, "g", "worker v"));
	rig_act(rig, ACT_RELEASE, run, "f", 0);
	ASSERT_EQ(REASON_RUN_LIMIT, why(rig, run, "f", "2 jobs of the job's run are active, and the limit is 2"));
	rig_cancel(rig, run, "a");
	ASSERT_EQ(REASON_STOPPING, why(rig, run, "a", "told to end"));
	rig_cancel(rig, run, "d");
	ASSERT_EQ(REASON_ENDED, why(rig, run, "d", "the job has ended: cancelled"));
	rig_free(rig);
	PASS();
}

SUITE(placing)
{
	RUN_TEST(worker_needs_every_label);
	RUN_TEST(job_without_a_worker_holds_up_no_other);
	RUN_TEST(worker_gets_the_best_of_all_it_can_serve);
	RUN_TEST(labels_leave_with_their_runs);
	RUN_TEST(bad_labels_are_refused);
	RUN_TEST(run_has_no_more_active_jobs_than_its_bound);
	RUN_TEST(fan_out_has_no_more_active_members_than_its_bound);
	RUN_TEST(every_wait_is_explained);
	RUN_TEST(fail_fast_ends_a_fan_out);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(placing);
	GREATEST_MAIN_END();
}
