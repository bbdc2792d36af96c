/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the queue across classes, tenants and bounds. */
#include "proto/limits.h"
#include "proto/reasons.h"
#include "tests/unit/core_place.h"

static uint64_t submit(struct rig *rig, const char *tenant, unsigned jobs, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	char name[16];

	rig->tenant = tenant;
	for (unsigned i = 0; i < jobs; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "j%u", i);
		job = graph_job(&graph, name, "");
		wanted.name = job->name;
		wanted.argv = job->argv;
		*job = wanted;
	}
	return rig_submit(rig, &graph);
}

/* The order of tenants doesn't depend on what their jobs require of a worker. */
TEST tenants_take_turns_across_classes(void)
{
	struct rig *rig = rig_new();
	uint64_t plain = submit(rig, "a", 3, (struct rec_job_spec){ 0 });
	uint64_t gpu = submit(rig, "b", 3, (struct rec_job_spec){ .labels = words(rig, "gpu") });

	join(rig, "w", 1, "gpu", "", "");
	for (unsigned i = 0; i < 6; i++)
		ASSERT_EQ(i % 2 ? gpu : plain, rig_job(rig, rig_run_one(rig, 0)).run);
	rig_free(rig);
	PASS();
}

static uint64_t one(struct rig *rig, struct rec_job_spec wanted)
{
	return submit(rig, "ana", 1, wanted);
}

/* Job `both` needs groups x and y, and y was just taken: the place that is left in x goes to the next job. */
TEST place_left_in_a_group_goes_to_the_next_job(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[3];
	uint64_t both, one;

	join(rig, "w", 3, "", "", "");
	submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "x") });
	both = submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "x y"), .priority = 61 });
	one = submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "x") });
	submit(rig, "a", 2, (struct rec_job_spec){ 0 });
	submit(rig, "a", 1, (struct rec_job_spec){ .concurrency = words(rig, "y"), .priority = 71 });
	for (int i = 0; i < 3; i++)
		rig_started(rig, attempts[i] = rig_must_take(rig));
	rig_done(rig, attempts[0], OUTCOME_EXIT, 0);
	rig_done(rig, attempts[1], OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, both, "j0"));
	ASSERT_STR_EQ("w", holder(rig, one, "j0"));
	rig_free(rig);
	PASS();
}

static uint64_t two_jobs(struct rig *rig, const char *tenant)
{
	struct graph graph = { 0 };

	rig->tenant = tenant;
	graph_job(&graph, "first", "")->retry_max = 1;
	graph_job(&graph, "second", "");
	return rig_submit(rig, &graph);
}

/*
 * An attempt is charged when it is assigned, however it ends. After one attempt each, age decides between the tenants.
 */
TEST attempt_is_charged_once_to_its_tenant(bool comes_back)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t a = two_jobs(rig, "a"), b = two_jobs(rig, "b");

	rig_hello(rig, "w", 2);
	attempt = rig_must_take(rig);
	ASSERT_EQ(rig_named(rig, a, "first"), attempt.job);
	ASSERT_EQ(rig_named(rig, b, "first"), rig_must_take(rig).job);
	if (comes_back) {
		rig_act(rig, ACT_HOLD, a, "first", 0);
		rig_done(rig, attempt, OUTCOME_RECALLED, 0);
	} else {
		rig_started(rig, attempt);
		rig_done(rig, attempt, OUTCOME_EXIT, 1);
	}
	ASSERT_EQ(rig_named(rig, a, "second"), rig_must_take(rig).job);
	ASSERT_STR_EQ("", holder(rig, b, "second"));
	rig_free(rig);
	PASS();
}

/* Two jobs must follow their parents to different workers, and only the second one's worker has room. */
TEST job_waiting_for_its_worker_lets_its_neighbour_go(void)
{
	static const char *const workers[] = { "u", "v" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	for (int k = 0; k < 2; k++) {
		join(rig, workers[k], 1, "", "", "");
		graph_job(&graph, k ? "parent_v" : "parent_u", "")->only_worker = slice_str(workers[k]);
	}
	for (int k = 0; k < 2; k++) {
		job = graph_job(&graph, k ? "long_v" : "long_u", k ? "parent_v" : "parent_u");
		job->only_worker = slice_str(workers[k]);
		job->priority = 100;
	}
	for (int k = 0; k < 2; k++) {
		job = graph_job(&graph, k ? "child_v" : "child_u", k ? "parent_v" : "parent_u");
		job->affinity = AFFINITY_PARENT;
		job->affinity_hard = true;
	}
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("u", holder(rig, run, "long_u"));
	ASSERT_STR_EQ("v", holder(rig, run, "long_v"));
	rig_started(rig, rig_must_take(rig));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "long_v"));
	ASSERT_STR_EQ("", holder(rig, run, "child_u"));
	ASSERT_STR_EQ("v", holder(rig, run, "child_v"));
	rig_free(rig);
	PASS();
}

/*
 * A cancelled job is still in the queue behind the job that waits for its worker. The jobs behind both must not wait
 * for it.
 */
TEST job_waiting_for_its_worker_lets_others_go_after_a_cancel(void)
{
	static const char *const workers[] = { "u", "v" };
	struct rec_job_spec follows = { .affinity = AFFINITY_PARENT, .affinity_hard = true, .priority = 11 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, other;

	for (int k = 0; k < 2; k++) {
		join(rig, workers[k], 1, "", "", "");
		graph_job(&graph, k ? "parent_v" : "parent_u", "")->only_worker = slice_str(workers[k]);
	}
	for (int k = 0; k < 2; k++) {
		struct rec_job_spec *job = graph_job(&graph, k ? "long_v" : "long_u", k ? "parent_v" : "parent_u");

		job->only_worker = slice_str(workers[k]);
		job->priority = 100;
		job = graph_job(&graph, k ? "child_v" : "child_u", k ? "parent_v" : "parent_u");
		job->affinity = AFFINITY_PARENT;
		job->affinity_hard = true;
	}
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig->max_jobs = 0;
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	other = submit(rig, "ana", 1, follows);
	rig_cancel(rig, other, "");
	rig_started(rig, rig_must_take(rig));
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "long_v"));
	ASSERT_STR_EQ("", holder(rig, run, "child_u"));
	ASSERT_STR_EQ("v", holder(rig, run, "child_v"));
	rig_free(rig);
	PASS();
}

/*
 * A job of another run is assigned meanwhile. The job that was parked behind the first job still has a free worker and
 * starts.
 */
TEST job_waiting_for_its_worker_parks_no_job_behind_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, other = { 0 };
	struct rig_attempt long_u, long_v, blocker;
	uint64_t run, behind;

	join(rig, "u", 1, "", "", "");
	join(rig, "v", 2, "", "", "");
	for (int k = 0; k < 2; k++)
		graph_on(&graph, k ? "parent_v" : "parent_u", k ? "v" : "u");
	for (int k = 0; k < 2; k++) {
		struct rec_job_spec *job = graph_job(&graph, k ? "long_v" : "long_u", k ? "parent_v" : "parent_u");

		job->only_worker = slice_str(k ? "v" : "u");
		job->priority = 101;
		job = graph_job(&graph, k ? "child_v" : "child_u", k ? "parent_v" : "parent_u");
		job->affinity = AFFINITY_PARENT;
		job->affinity_hard = true;
	}
	graph_on(&other, "parent", "v");
	graph_job(&other, "child", "parent")->affinity = AFFINITY_PARENT;
	other.jobs[1].affinity_hard = true;
	behind = rig_submit(rig, &other);
	rig_act(rig, ACT_HOLD, behind, "child", 0);
	rig_run_one(rig, 0);
	rig->max_jobs = 2;
	run = rig_submit(rig, &graph);
	rig->max_jobs = 0;
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	rig_started(rig, long_u = rig_must_take(rig));
	rig_started(rig, long_v = rig_must_take(rig));
	given(rig, (struct rec_job_spec){ .only_worker = slice_str("v") });
	rig_started(rig, blocker = rig_must_take(rig));
	rig_act(rig, ACT_PRIORITY, behind, "child", 10);
	rig_act(rig, ACT_RELEASE, behind, "child", 0);
	ASSERT_STR_EQ("", holder(rig, behind, "child"));
	done_together(rig, long_v, blocker);
	ASSERT_STR_EQ("", holder(rig, run, "child_u"));
	ASSERT_STR_EQ("v", holder(rig, behind, "child"));
	ASSERT_STR_EQ("v", holder(rig, run, "child_v"));
	rig_free(rig);
	PASS();
}

/*
 * Jobs wait at the bound of a group or of a run. The bound gets room while no slot is free, so only one of them enters
 * the queue; a later one of higher priority must still come first.
 */
TEST priority_counts_among_jobs_at_a_bound(bool of_run, bool raised)
{
	struct rec_job_spec bounded = { .priority = 51 };
	struct rig *rig = rig_new();
	struct rig_attempt first, urgent;
	uint64_t run[3];

	join(rig, "w", 1, "", "", "");
	bounded.concurrency = of_run ? bounded.concurrency : words(rig, "db");
	rig->max_jobs = of_run;
	for (int i = 0; i < 3; i++)
		run[i] = of_run && i ? run[0] : submit(rig, "ana", of_run ? 3 : 1, bounded);
	rig->max_jobs = 0;
	rig_started(rig, first = rig_must_take(rig));
	join(rig, "v", 1, "", "", "");           /* all waiting jobs but the first have been examined in this turn */
	set(rig, OBJECT_WORKER, SET_PAUSE, "v");
	one(rig, (struct rec_job_spec){ .priority = 101 });
	rig_done(rig, first, OUTCOME_EXIT, 0);
	rig_started(rig, urgent = rig_must_take(rig));
	if (raised)
		rig_act(rig, ACT_PRIORITY, run[2], of_run ? "j2" : "j0", 90);
	else
		rig_act(rig, ACT_PRIORITY, run[1], of_run ? "j1" : "j0", 10);
	rig_done(rig, urgent, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, run[1], of_run ? "j1" : "j0"));
	ASSERT_STR_EQ("w", holder(rig, run[2], of_run ? "j2" : "j0"));
	rig_free(rig);
	PASS();
}

/* The best job of the class finds no room in its group, so the class is ranked by the next job. */
TEST class_ranks_by_its_best_job_that_may_start(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt filler;
	uint64_t low, middle;

	join(rig, "w", 2, "gpu", "", "");
	one(rig, (struct rec_job_spec){ .concurrency = words(rig, "db") });
	rig_started(rig, rig_must_take(rig));
	one(rig, (struct rec_job_spec){ 0 });
	rig_started(rig, filler = rig_must_take(rig));
	one(rig, (struct rec_job_spec){ .concurrency = words(rig, "db"), .priority = 91 });
	low = one(rig, (struct rec_job_spec){ .priority = 11 });
	middle = one(rig, (struct rec_job_spec){ .labels = words(rig, "gpu") });
	rig_done(rig, filler, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, low, "j0"));
	ASSERT_STR_EQ("w", holder(rig, middle, "j0"));
	rig_free(rig);
	PASS();
}

/* The class of the writer is examined after that of the reader; the reader must be kept out all the same. */
TEST class_ranks_without_readers_behind_a_writer(void)
{
	struct rec_job_spec reader = { .mode = EXEC_EXCLUSIVE, .priority = 81 };
	struct rec_job_spec writer = { .mode = EXEC_EXCLUSIVE, .priority = 91 };
	struct rig *rig = rig_new();
	struct rig_attempt filler;
	uint64_t low, middle;

	reader.locks = words(rig, "db=shared");
	writer.locks = words(rig, "db");
	writer.labels = words(rig, "gpu");
	join(rig, "w", 2, "gpu", "", "");
	one(rig, reader);
	rig_started(rig, rig_must_take(rig));
	one(rig, (struct rec_job_spec){ 0 });
	rig_started(rig, filler = rig_must_take(rig));
	one(rig, reader);
	low = one(rig, (struct rec_job_spec){ .priority = 11 });
	one(rig, writer);
	middle = one(rig, (struct rec_job_spec){ .labels = words(rig, "gpu") });
	rig_done(rig, filler, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, low, "j0"));
	ASSERT_STR_EQ("w", holder(rig, middle, "j0"));
	rig_free(rig);
	PASS();
}

/* A class that no worker can serve holds up no other class. */
TEST writer_without_a_worker_keeps_no_reader_out(bool served)
{
	struct rec_job_spec reader = { .mode = EXEC_EXCLUSIVE }, writer = { .mode = EXEC_EXCLUSIVE, .priority = 91 };
	struct rig *rig = rig_new();

	reader.locks = words(rig, "db=shared");
	writer.locks = words(rig, "db");
	writer.labels = words(rig, "gpu");
	join(rig, "w", 4, served ? "gpu" : "", "", "");
	ASSERT_STR_EQ("w", given(rig, reader));
	ASSERT_STR_EQ("", given(rig, writer));
	ASSERT_STR_EQ(served ? "" : "w", given(rig, reader));
	rig_free(rig);
	PASS();
}

TEST cancelled_job_leaves_the_waiting_count_of_its_group(void)
{
	struct rig *rig = rig_new();
	struct rec_group_row row = { 0 };
	uint64_t run;

	join(rig, "w", 4, "", "", "");
	run = submit(rig, "a", 4, (struct rec_job_spec){ .concurrency = words(rig, "db") });
	ASSERT(view_group(rig->core, 0, &row));
	ASSERT_EQ(3, row.waiting);
	rig_cancel(rig, run, "j2");
	ASSERT(view_group(rig->core, 0, &row));
	ASSERT_EQ(2, row.waiting);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(tenants_take_turns_across_classes);
	RUN_TEST(place_left_in_a_group_goes_to_the_next_job);
	RUN_TESTp(attempt_is_charged_once_to_its_tenant, true);
	RUN_TESTp(attempt_is_charged_once_to_its_tenant, false);
	RUN_TEST(job_waiting_for_its_worker_lets_its_neighbour_go);
	RUN_TEST(job_waiting_for_its_worker_lets_others_go_after_a_cancel);
	RUN_TEST(job_waiting_for_its_worker_parks_no_job_behind_it);
	for (int way = 0; way < 4; way++)
		RUN_TESTp(priority_counts_among_jobs_at_a_bound, way & 1, way & 2);
	RUN_TEST(class_ranks_by_its_best_job_that_may_start);
	RUN_TEST(class_ranks_without_readers_behind_a_writer);
	RUN_TESTp(writer_without_a_worker_keeps_no_reader_out, true);
	RUN_TESTp(writer_without_a_worker_keeps_no_reader_out, false);
	RUN_TEST(cancelled_job_leaves_the_waiting_count_of_its_group);
	GREATEST_MAIN_END();
}
