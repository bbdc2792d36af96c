/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs submitted by jobs: only the current attempt of a live job may submit, and the run remembers that job. */
#include "tests/unit/core_prune.h"
#include "tests/unit/core_sub.h"

static uint64_t submit_one(struct rig *rig, const char *name)
{
	struct graph graph = { 0 };

	graph_job(&graph, name, "");
	return rig_submit(rig, &graph);
}

/*
 * Submit as a job and return the run's number, or 0 with rig->error set. into: the run to add to; 0: begin a new run.
 */
static uint64_t submit_into(struct rig *rig, struct rig_attempt attempt, uint64_t key, const char *tenant, uint64_t into)
{
	struct graph graph = { 0 };
	struct blob *body;
	struct graph_part part = { .count = 1 };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };

	graph_job(&graph, "helper", "");
	part.body = body = graph_blob(&graph);
	input.submit = (struct input_submit){
		.principal = 1, .owner = slice_str("master"), .name = slice_str("helpers"), .parts = &part, .part_count = 1,
		.tenant = slice_str(tenant), .caller = { attempt.job, attempt.epoch }, .into = into };
	if (into > 0)
		input.submit.name = slice_make(NULL, 0);
	memcpy(input.submit.key, &key, sizeof(key));
	rig->accepted = (struct msg_accepted){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	blob_release(body);
	graph_free(&graph);
	return rig->accepted.run;
}

static uint64_t submit_as(struct rig *rig, struct rig_attempt attempt, uint64_t key, const char *tenant)
{
	return submit_into(rig, attempt, key, tenant, 0);
}

static enum err asks(struct rig *rig, struct rig_attempt attempt, uint64_t *ret_run)
{
	const struct caller caller = { attempt.job, attempt.epoch };
	struct error error;

	return view_caller(rig->core, &caller, ret_run, &error);
}

TEST a_job_submits_with_its_submitters_name(void)
{
	struct rig *rig = rig_new();
	struct rec_run_row row;
	struct rig_attempt attempt;
	uint64_t run, child, asked = 0;

	rig->tenant = "team";
	run = submit_one(rig, "a");
	rig->tenant = NULL;
	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	child = submit_as(rig, attempt, 77, NULL);
	ASSERT(child > run);
	ASSERT(view_run(rig->core, child, &rig->arena, &row));
	ASSERT(slice_eq(row.owner, slice_str("ana")));
	ASSERT(slice_eq(row.tenant, slice_str("team")));
	ASSERT_EQ(run, view_begun_by(rig->core, child));
	ASSERT_EQ(0, view_begun_by(rig->core, run));
	ASSERT_EQ(0, view_begun_by(rig->core, 4711));
	/* The same key again, after a restart, gives the same run, which still belongs to the job. */
	rig_restart(rig);
	ASSERT_EQ(child, submit_as(rig, attempt, 77, NULL));
	ASSERT(rig->accepted.existing);
	ASSERT_EQ(run, view_begun_by(rig->core, child));
	ASSERT_EQ(ERR_NONE, asks(rig, attempt, &asked));
	ASSERT_EQ(run, asked);
	rig_free(rig);
	PASS();
}

TEST a_job_cannot_charge_another_tenant(void)
{
	struct rig *rig = rig_new();
	struct rec_run_row row;
	struct rig_attempt attempt;
	uint64_t child;

	rig->tenant = "team";
	submit_one(rig, "a");
	rig->tenant = NULL;
	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	ASSERT_EQ(0, submit_as(rig, attempt, 78, "others"));
	ASSERT(rig_error_says(rig, ERR_DENIED, "a job of run 1 submits runs for its own tenant, team, and may not name another"));
	/* The submitter's own tenant is refused too: ana is the default tenant, but the run has another one. */
	ASSERT_EQ(0, submit_as(rig, attempt, 78, "ana"));
	ASSERT(rig_error_says(rig, ERR_DENIED, "and may not name another; leave out the tenant"));
	child = submit_as(rig, attempt, 78, "team");
	ASSERT(child > 0);
	ASSERT(view_run(rig->core, child, &rig->arena, &row));
	ASSERT(slice_eq(row.tenant, slice_str("team")));
	rig_free(rig);
	PASS();
}

TEST caller_of_ended_run_is_known_after_restart(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_one(rig, "a"), child;
	struct rig_attempt attempt;

	rig_hello(rig, "w", 2);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	child = submit_as(rig, attempt, 5, NULL);
	rig_run_one(rig, 0);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_pass(rig, 1);
	rig_restart(rig);
	ASSERT_EQ(run, view_begun_by(rig->core, child));
	rig_free(rig);
	PASS();
}

TEST a_stale_attempt_is_refused(void)
{
	struct rig *rig = rig_new();
	uint64_t conn, run = 0;
	struct rig_attempt first, second, wrong;

	submit_one(rig, "a");
	conn = rig_hello(rig, "w", 1);
	first = rig_must_take(rig);
	ASSERT_EQ(ERR_NONE, asks(rig, first, &run));
	wrong = first;
	wrong.epoch++;
	ASSERT_EQ(0, submit_as(rig, wrong, 1, NULL));
	ASSERT(rig_error_says(rig, ERR_STALE, "the calling process belongs to an old attempt of its job: the job has ended, or a worker has a new attempt"));
	wrong = first;
	wrong.job += 7;
	ASSERT_EQ(0, submit_as(rig, wrong, 1, NULL));
	ASSERT(rig_error_says(rig, ERR_STALE, "the calling process belongs to an old attempt of its job: the job has ended, or a worker has a new attempt"));
	/* The worker is lost and the job is assigned again: the old attempt may no longer submit. */
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS + 1000);
	ASSERT_EQ(ERR_STALE, asks(rig, first, &run));
	rig_hello(rig, "v", 1);
	second = rig_must_take(rig);
	ASSERT_EQ(second.job, first.job);
	ASSERT(second.epoch > first.epoch);
	ASSERT_EQ(0, submit_as(rig, first, 2, NULL));
	ASSERT(rig_error_says(rig, ERR_STALE, "or a worker has a new attempt"));
	ASSERT(submit_as(rig, second, 2, NULL) > 0);
	/* An ended attempt gets no answer even for a submit that was accepted earlier. */
	rig_started(rig, second);
	rig_done(rig, second, OUTCOME_EXIT, 0);
	ASSERT_EQ(0, submit_as(rig, second, 2, NULL));
	ASSERT_EQ(ERR_STALE, asks(rig, second, &run));
	rig_free(rig);
	PASS();
}

TEST job_adds_to_its_own_run_alone(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_one(rig, "a"), other, child;
	struct rig_attempt attempt, stranger;
	struct rec_run_row row;

	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	other = submit_one(rig, "b");
	child = submit_as(rig, attempt, 91, NULL);
	ASSERT_EQ(0, submit_into(rig, attempt, 92, NULL, other));
	ASSERT(rig_error_says(rig, ERR_DENIED, "may not add jobs to run"));
	ASSERT_EQ(0, submit_into(rig, attempt, 92, NULL, 4711));
	ASSERT(rig_error_says(rig, ERR_DENIED, "may not add jobs to run"));
	ASSERT_EQ(run, submit_into(rig, attempt, 93, NULL, run));
	ASSERT(view_run(rig->core, run, &rig->arena, &row));
	ASSERT_EQ(2, row.jobs);
	/* Added jobs don't make the run one that the job began. */
	ASSERT_EQ(0, view_begun_by(rig->core, run));
	ASSERT_EQ(run, submit_into(rig, attempt, 93, NULL, run));
	ASSERT(rig->accepted.existing);
	ASSERT_EQ(0, rig->accepted.first);       /* the serial number of the first added job isn't kept */
	ASSERT(view_run(rig->core, other, &rig->arena, &row));
	ASSERT_EQ(1, row.jobs);
	ASSERT_EQ(run, view_begun_by(rig->core, child));
	/* A job can't add to a run that a job of another run began. */
	rig_hello(rig, "v", 1);
	stranger = rig_must_take(rig);
	ASSERT_EQ(other, rig_job(rig, stranger.job).run);
	ASSERT_EQ(0, submit_into(rig, stranger, 94, NULL, child));
	ASSERT(rig_error_says(rig, ERR_DENIED, "may not add jobs to run"));
	ASSERT_EQ(0, submit_into(rig, attempt, 95, NULL, child));
	/* the added job's only fault is its duplicate name */
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "run 3 already has a job 'helper'"));
	rig_free(rig);
	PASS();
}

/* A job of a sub-run may add to its own sub-run but not to the run around it. */
TEST job_of_sub_run_adds_to_sub_run_alone(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run, within;

	rig_hello(rig, "w", 1);
	sub_plain(&graph, "build", "");
	run = rig_submit(rig, &graph);
	within = child_of(rig, run, "build");
	attempt = rig_must_take(rig);
	ASSERT_EQ(0, submit_into(rig, attempt, 91, NULL, run));
	ASSERT(rig_error_says(rig, ERR_DENIED, "may not add jobs to run"));
	ASSERT_EQ(within, submit_into(rig, attempt, 92, NULL, within));
	ASSERT_EQ(STATE_READY, named(rig, within, "helper"));
	rig_free(rig);
	PASS();
}

TEST stopping_attempt_may_still_call(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit_one(rig, "a"), asked = 0;
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_cancel(rig, run, "a");
	ASSERT_EQ(ERR_NONE, asks(rig, attempt, &asked));
	rig_done(rig, attempt, OUTCOME_STOPPED, 143);
	ASSERT_EQ(ERR_STALE, asks(rig, attempt, &asked));
	rig_free(rig);
	PASS();
}

SUITE(callers)
{
	RUN_TEST(a_job_submits_with_its_submitters_name);
	RUN_TEST(a_job_cannot_charge_another_tenant);
	RUN_TEST(caller_of_ended_run_is_known_after_restart);
	RUN_TEST(a_stale_attempt_is_refused);
	RUN_TEST(job_adds_to_its_own_run_alone);
	RUN_TEST(job_of_sub_run_adds_to_sub_run_alone);
	RUN_TEST(stopping_attempt_may_still_call);
}

/* When a run is pruned, the core forgets which job began it. */
TEST caller_of_pruned_run_is_forgotten(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t child;

	submit_one(rig, "a");
	rig_hello(rig, "w", 2);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	child = submit_as(rig, attempt, 5, NULL);
	rig_run_one(rig, 0);
	prune(rig, (int64_t)child);
	ASSERT(view_pruned(rig->core, child, NULL));
	ASSERT_EQ(0, view_begun_by(rig->core, child));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(callers);
	RUN_TEST(caller_of_pruned_run_is_forgotten);
	GREATEST_MAIN_END();
}
