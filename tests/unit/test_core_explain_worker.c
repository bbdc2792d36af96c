/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences of titan explain for a job that isn't placed: workers that are absent, unfit or closed. */
#include "tests/unit/core_place.h"
#include "tests/unit/core_why.h"

TEST explain_names_the_absent_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->only_worker = slice_str("best");
	run = rig_submit(rig, &graph);
	join(rig, "other", 1, "", "", "");
	ASSERT_STR_EQ("no_worker_named: the job must run on worker best, which isn't connected", why(rig, run, "a"));
	join(rig, "best", 1, "", "", "");
	ASSERT_STR_EQ("sent: the job was given to worker best, which hasn't reported the job's start", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_names_the_required_pool_without_workers(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->pool = slice_str("night");
	job->pool_hard = true;
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "", "", "day");
	ASSERT_STR_EQ("no_worker_pool: no suitable connected worker is in pool night", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

/* Of several workers the one that meets most requirements is named, with what it has instead. */
TEST explain_names_the_requirement_and_the_nearest_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice wants[] = { slice_str("disk=ssd"), slice_str("!spot"), slice_str("zone in (a,b)") };
	uint64_t run;

	graph_job(&graph, "a", "")->labels = (struct slice_list){ wants, 3 };
	run = rig_submit(rig, &graph);
	join(rig, "far", 1, "spot", "", "");
	join(rig, "near", 1, "disk=ssd zone=c", "", "");
	ASSERT_STR_EQ("no_worker_labels: no connected worker meets the label requirement zone in (a,b); worker near comes nearest, "
		      "but doesn't meet zone in (a,b) (it has zone=c)", why(rig, run, "a"));
	join(rig, "other", 1, "spot zone=a", "", "");
	ASSERT_STR_EQ("no_worker_labels: no connected worker meets all of the label requirements !spot, disk=ssd, zone in (a,b); worker near "
		      "comes nearest, but doesn't meet zone in (a,b) (it has zone=c)", why(rig, run, "a"));
	join(rig, "right", 1, "zone=b disk=ssd", "", "");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_tells_of_labels_before_the_pool(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->pool = slice_str("night");
	job->pool_hard = true;
	job->labels = words(rig, "gpu");
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "", "", "night");
	ASSERT_STR_EQ("no_worker_labels: no connected worker meets the label requirement gpu; worker w comes nearest, but doesn't meet gpu", why(rig, run, "a"));
	join(rig, "v", 1, "gpu", "", "day");
	ASSERT_STR_EQ("no_worker_pool: no suitable connected worker is in pool night", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_compares_a_request_with_the_largest_offer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice asks[2] = { slice_str("disk=5"), slice_str("tape=3") };
	uint64_t run;

	graph_job(&graph, "a", "")->asks = (struct slice_list){ .at = asks, .n = 2 };
	run = rig_submit(rig, &graph);
	join(rig, "none", 1, "", "", "");
	ASSERT_STR_EQ("no_worker_resources: the job asks for disk=5, and the most that a worker offers is disk=0, "
		      "and for tape=3, and the most that a worker offers is tape=0", why(rig, run, "a"));
	join(rig, "w", 1, "", "tape=2", "");
	join(rig, "v", 1, "", "disk=5", "");
	ASSERT_STR_EQ("no_worker_resources: the job asks for tape=3, and the most that a worker offers is tape=2", why(rig, run, "a"));
	join(rig, "u", 1, "", "tape=1", "");
	ASSERT_STR_EQ("no_worker_resources: the job asks for tape=3, and the most that a worker offers is tape=2", why(rig, run, "a"));
	join(rig, "t", 1, "", "tape=3", "");
	ASSERT_STR_EQ("no_worker_resources: no connected worker offers all resources that the job asks for", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_ignores_offers_of_workers_that_left(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, conn;

	graph_job(&graph, "a", "")->asks = words(rig, "tape=9");
	run = rig_submit(rig, &graph);
	conn = join(rig, "rich", 1, "", "tape=8", "");
	join(rig, "poor", 1, "", "tape=1", "");
	ASSERT_STR_EQ("no_worker_resources: the job asks for tape=9, and the most that a worker offers is tape=8", why(rig, run, "a"));
	rig_gone(rig, conn);
	ASSERT_STR_EQ("no_worker_resources: the job asks for tape=9, and the most that a worker offers is tape=1", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_names_cordoned_and_draining_workers(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 1, "", "", "");
	join(rig, "v", 1, "", "", "");
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	set(rig, OBJECT_WORKER, SET_DRAIN, "v");
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("worker_cordoned: worker w (cordoned), v (draining): a person ordered this with titan cordon or titan drain",
		      why(rig, run, "a"));
	set(rig, OBJECT_WORKER, SET_RESUME, "v");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_names_at_most_five_workers(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 1; i <= 6; i++) {
		char name[8];

		snprintf(name, sizeof(name), "w%d", i);
		join(rig, name, 1, "", "", "");
		set(rig, OBJECT_WORKER, SET_PAUSE, name);
	}
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("worker_cordoned: worker w1 (cordoned), w2 (cordoned), w3 (cordoned), w4 (cordoned), w5 (cordoned)"
		      ": a person ordered this with titan cordon or titan drain", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_names_the_inactive_or_draining_pool(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	/* A drained pool isn't the reason if its worker couldn't take the job anyway. */
	join(rig, "v", 1, "", "", "day");
	set(rig, OBJECT_WORKER, SET_PAUSE, "v");
	set(rig, OBJECT_POOL, SET_DRAIN, "day");
	join(rig, "w", 1, "", "", "night");
	set(rig, OBJECT_POOL, SET_PAUSE, "night");
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("pool_inactive: worker w (pool night is inactive): no new jobs start in this pool", why(rig, run, "a"));
	set(rig, OBJECT_POOL, SET_DRAIN, "night");
	ASSERT_STR_EQ("pool_draining: worker w (pool night is draining): no new jobs start in this pool", why(rig, run, "a"));
	set(rig, OBJECT_POOL, SET_RESUME, "night");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST explain_names_the_worker_that_hard_affinity_waits_for(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	struct rig_attempt attempt;
	uint64_t run, conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	graph_job(&graph, "long", "a")->priority = 100;
	job = graph_job(&graph, "b", "a");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_hello(rig, "free", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "long"));
	ASSERT_STR_EQ("affinity_busy: the job must run on worker w, which ran an earlier job, and that worker is busy", why(rig, run, "b"));
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	ASSERT_STR_EQ("affinity_busy: the job must run on worker w, which ran an earlier job, and that worker gets no new jobs",
		      why(rig, run, "b"));
	rig_gone(rig, conn);
	ASSERT_STR_EQ("affinity_busy: the job must run on worker w, which ran an earlier job, and that worker is unreachable",
		      why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST explain_says_that_hard_affinity_waits_for_ever(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice labels[] = { slice_str("gpu") };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello_labels(rig, "w", 1, labels, 1);
	graph_job(&graph, "a", "");
	job = graph_job(&graph, "b", "a");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	job->labels = (struct slice_list){ labels, 1 };
	job = graph_job(&graph, "c", "");
	job->only_worker = slice_str("plain");
	job->labels = (struct slice_list){ labels, 1 };
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "b", 0);
	rig_run_one(rig, 0);
	rig_hello(rig, "w", 1);                  /* the worker reconnects without its label */
	rig_hello(rig, "plain", 1);
	rig_act(rig, ACT_RELEASE, run, "b", 0);
	ASSERT_STR_EQ("affinity_never: the job must run on worker w, which ran an earlier job, and that worker doesn't meet the label requirement gpu: "
		      "the job waits for ever, unless that worker changes or the job is cancelled", why(rig, run, "b"));
	ASSERT_STR_EQ("no_worker_labels: the job must run on worker plain, which doesn't meet the label requirement gpu", why(rig, run, "c"));
	rig_hello_labels(rig, "w", 1, labels, 1);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

/* No worker is connected at all: explain says that, not that the parent's worker is missing. */
TEST explain_tells_of_no_workers_before_affinity(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	struct rig_attempt attempt;
	uint64_t run, conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	job = graph_job(&graph, "b", "a");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_gone(rig, conn);
	ASSERT_STR_EQ("no_worker_up: no worker is connected", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(explain_names_the_absent_worker);
	RUN_TEST(explain_names_the_required_pool_without_workers);
	RUN_TEST(explain_names_the_requirement_and_the_nearest_worker);
	RUN_TEST(explain_tells_of_labels_before_the_pool);
	RUN_TEST(explain_compares_a_request_with_the_largest_offer);
	RUN_TEST(explain_ignores_offers_of_workers_that_left);
	RUN_TEST(explain_names_cordoned_and_draining_workers);
	RUN_TEST(explain_names_at_most_five_workers);
	RUN_TEST(explain_names_the_inactive_or_draining_pool);
	RUN_TEST(explain_names_the_worker_that_hard_affinity_waits_for);
	RUN_TEST(explain_says_that_hard_affinity_waits_for_ever);
	RUN_TEST(explain_tells_of_no_workers_before_affinity);
	GREATEST_MAIN_END();
}
