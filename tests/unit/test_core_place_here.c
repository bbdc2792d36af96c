/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that runs where it was submitted gets only workers that share that directory. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_place.h"
#include "tests/unit/core_why.h"

static struct slice context_of(struct rig *rig, const struct rec_run_context *context)
{
	struct buf bytes = { 0 };
	struct slice copy;

	record_encode(&bytes, REC_run_context, context);
	copy = arena_copy(&rig->arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

/* Let the next runs be submitted in /src of this machine. */
static void submit_on(struct rig *rig, const char *machine)
{
	rig->context = context_of(rig, &(struct rec_run_context){ .machine = slice_str(machine), .here_dir = slice_str("/src") });
}

static void join_on(struct rig *rig, const char *name, const char *machine)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){ .name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = 4, .pid = 9,
					    .machine = slice_str(machine), .contexts = 4 };
	rig_step(rig, &input);
}

static uint64_t submit_one(struct rig *rig, const char *dir)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->dir = slice_str(dir);
	return rig_submit(rig, &graph);
}

TEST job_waits_for_a_worker_of_its_machine_and_says_why(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	submit_on(rig, "m1");
	run = submit_one(rig, "");
	join_on(rig, "far", "m2");
	join_on(rig, "silent", "");
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	ASSERT_STR_EQ("no_worker_shares: the job runs where it was submitted, in /src, and no suitable connected worker shares that directory: worker "
		      "far (on another machine), silent (on another machine); titan run --private gives jobs an empty directory instead, on any worker",
		      why(rig, run, "a"));
	join_on(rig, "near", "m1");
	ASSERT_STR_EQ("near", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST job_waits_after_a_restart_too(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	submit_on(rig, "m1");
	run = submit_one(rig, "");
	rig_restart(rig);
	join_on(rig, "far", "m2");
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	join_on(rig, "far", "m1");               /* the same worker, started again on another machine */
	ASSERT_STR_EQ("far", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST jobs_of_two_machines_run_each_on_its_own(void)
{
	struct rig *rig = rig_new();
	uint64_t one, two;

	join_on(rig, "w2", "m2");
	join_on(rig, "w1", "m1");
	submit_on(rig, "m1");
	one = submit_one(rig, "");
	submit_on(rig, "m2");
	two = submit_one(rig, "");
	ASSERT_STR_EQ("w1", holder(rig, one, "a"));
	ASSERT_STR_EQ("w2", holder(rig, two, "a"));
	rig_free(rig);
	PASS();
}

TEST job_that_names_a_directory_runs_anywhere(void)
{
	static const char *const dirs[] = { "/elsewhere", "private" };
	struct rig *rig = rig_new();

	join_on(rig, "far", "m2");
	submit_on(rig, "m1");
	for (size_t i = 0; i < 2; i++)
		ASSERT_STR_EQ("far", holder(rig, submit_one(rig, dirs[i]), "a"));
	rig->context = context_of(rig, &(struct rec_run_context){ .machine = slice_str("m1"), .here_dir = slice_str("/src"), .dir = slice_str("private") });
	ASSERT_STR_EQ("far", holder(rig, submit_one(rig, ""), "a"));
	rig->context = context_of(rig, &(struct rec_run_context){ .machine = slice_str("m1") });
	ASSERT_STR_EQ("far", holder(rig, submit_one(rig, ""), "a"));
	rig_free(rig);
	PASS();
}

TEST added_jobs_have_the_directory_of_their_own_submit(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, more = { 0 };
	uint64_t run;

	join_on(rig, "far", "m2");
	submit_on(rig, "m1");
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	submit_on(rig, "m2");
	graph_job(&more, "b", "");
	ASSERT(grow(rig, run, &more, "") > 0);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	ASSERT_STR_EQ("far", holder(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST job_bound_to_a_worker_elsewhere_says_so(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join_on(rig, "far", "m2");
	join_on(rig, "near", "m1");
	submit_on(rig, "m1");
	graph_job(&graph, "a", "")->only_worker = slice_str("far");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("no_worker_shares: the job must run on worker far, which doesn't share the directory in which it was submitted, /src; titan run "
		      "--private gives jobs an empty directory instead, on any worker", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(job_waits_for_a_worker_of_its_machine_and_says_why);
	RUN_TEST(job_waits_after_a_restart_too);
	RUN_TEST(jobs_of_two_machines_run_each_on_its_own);
	RUN_TEST(job_that_names_a_directory_runs_anywhere);
	RUN_TEST(added_jobs_have_the_directory_of_their_own_submit);
	RUN_TEST(job_bound_to_a_worker_elsewhere_says_so);
	GREATEST_MAIN_END();
}
