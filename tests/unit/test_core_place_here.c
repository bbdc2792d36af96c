/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that runs where it was submitted gets only workers that share that directory. */
#include <errno.h>

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

static void join_as(struct rig *rig, const char *name, const char *machine, const char *instance)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){ .name = slice_str(name), .instance = slice_str(instance), .slots = 4, .pid = 9,
					    .machine = slice_str(machine), .contexts = 4, .version = PROTOCOL_VERSION };
	rig_step(rig, &input);
}

static void join_on(struct rig *rig, const char *name, const char *machine)
{
	join_as(rig, name, machine, "0123456789abcdef");
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

/* ---- workers of the machine that have another directory there ---- */

/* Let the worker that has the only job say that it doesn't share the directory. */
static void give_back(struct rig *rig, uint64_t code)
{
	struct rig_attempt attempt = rig_must_take(rig);
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_ELSEWHERE, .code = code,
				 .ended_ms = rig->now.wall_ms };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

TEST job_that_is_given_back_goes_to_another_worker(void)
{
	struct rig *rig = rig_new();
	uint64_t run, more;

	submit_on(rig, "m1");
	join_on(rig, "box", "m1");
	run = submit_one(rig, "");
	ASSERT_STR_EQ("box", holder(rig, run, "a"));
	give_back(rig, ESTALE);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "a")).tries);
	ASSERT_STR_EQ("no_worker_shares: the job runs where it was submitted, in /src, and no suitable connected worker shares that directory: worker "
		      "box (has another one there, or none); titan run --private gives jobs an empty directory instead, on any worker",
		      why(rig, run, "a"));
	more = submit_one(rig, "");
	ASSERT_STR_EQ("", holder(rig, more, "a"));
	/* The worker isn't at fault: it gets other jobs. */
	ASSERT_STR_EQ("box", holder(rig, submit_one(rig, "/elsewhere"), "a"));
	join_on(rig, "near", "m1");
	ASSERT_STR_EQ("near", holder(rig, run, "a"));
	ASSERT_STR_EQ("near", holder(rig, more, "a"));
	rig_free(rig);
	PASS();
}

TEST job_in_a_mounted_directory_may_go_to_another_machine(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig->context = context_of(rig, &(struct rec_run_context){ .machine = slice_str("m1"), .here_dir = slice_str("/src"), .here_inode = 7,
								   .here_source = slice_str("files:/export") });
	join_on(rig, "far", "m2");
	run = submit_one(rig, "");
	ASSERT_STR_EQ("far", holder(rig, run, "a"));
	give_back(rig, ENOENT);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	ASSERT_STR_EQ("no_worker_shares: the job runs where it was submitted, in /src, and no suitable connected worker shares that directory: worker "
		      "far (has another one there, or none); titan run --private gives jobs an empty directory instead, on any worker",
		      why(rig, run, "a"));
	join_on(rig, "further", "m3");
	ASSERT_STR_EQ("further", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST worker_of_the_version_before_gets_none_from_another_machine(void)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO };
	struct rig *rig = rig_new();

	rig->context = context_of(rig, &(struct rec_run_context){ .machine = slice_str("m1"), .here_dir = slice_str("/src"), .here_inode = 7,
								   .here_source = slice_str("files:/export") });
	input.conn = ++rig->conn;
	input.hello = (struct input_hello){ .name = slice_str("old"), .instance = slice_str("0123456789abcdef"), .slots = 4, .pid = 9,
					    .machine = slice_str("m2"), .contexts = 4, .version = PROTOCOL_BEFORE };
	rig_step(rig, &input);
	ASSERT_STR_EQ("", holder(rig, submit_one(rig, ""), "a"));
	rig_free(rig);
	PASS();
}

TEST worker_that_is_started_again_is_asked_again(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	submit_on(rig, "m1");
	join_on(rig, "box", "m1");
	run = submit_one(rig, "");
	give_back(rig, ENOENT);
	join_on(rig, "box", "m1");
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	rig_gone(rig, rig->conn);
	join_as(rig, "box", "m1", "fedcba9876543210");
	ASSERT_STR_EQ("box", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST worker_that_lacks_no_directory_rests(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	join_on(rig, "box", "m1");
	run = submit_one(rig, "");
	give_back(rig, ESTALE);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	ASSERT_EQ(ESTALE, (int)worker(rig, "box").refused_code);
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
	RUN_TEST(job_that_is_given_back_goes_to_another_worker);
	RUN_TEST(job_in_a_mounted_directory_may_go_to_another_machine);
	RUN_TEST(worker_of_the_version_before_gets_none_from_another_machine);
	RUN_TEST(worker_that_is_started_again_is_asked_again);
	RUN_TEST(worker_that_lacks_no_directory_rests);
	GREATEST_MAIN_END();
}
