/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services: jobs that are meant to stay up. How they are started again, when they end, and what nobody may ask of them. */
#include "tests/unit/core_rig.h"

#include "proto/reasons.h"
#include "proto/spec.h"

static struct rec_job_spec *service(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->kind = KIND_SERVICE;
	return job;
}

/* Let time pass while the worker sends heartbeats. */
static void pass(struct rig *rig, uint64_t conn, int64_t ms)
{
	for (; ms > 0; ms -= 1000) {
		rig_pass(rig, ms < 1000 ? ms : 1000);
		rig_heartbeat(rig, conn);
	}
}

/* Submit a service "api" and a job "work"; both run. */
static uint64_t begin(struct rig *rig, struct graph *graph, struct rig_attempt *ret_api, struct rig_attempt *ret_work)
{
	uint64_t run;

	graph_job(graph, "work", "");
	rig_hello(rig, "w", 4);
	run = rig_submit(rig, graph);
	for (int i = 0; i < 2; i++) {
		struct rig_attempt attempt = rig_must_take(rig);

		rig_started(rig, attempt);
		if (attempt.job == rig_named(rig, run, "api"))
			*ret_api = attempt;
		else
			*ret_work = attempt;
	}
	return run;
}

TEST service_that_ends_is_started_again_after_its_wait(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 }, again;
	uint64_t run;

	service(&graph, "api", "");
	run = begin(rig, &graph, &api, &work);
	rig_done(rig, api, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "api"));
	ASSERT_FALSE(rig_take(rig, &again));
	rig_pass(rig, 999);
	ASSERT_FALSE(rig_take(rig, &again));
	rig_restart(rig);
	rig_hello_held(rig, "w", 4, &(struct rec_held){ .job = work.job, .epoch = work.epoch, .phase = PHASE_RUNNING }, 1);
	rig_pass(rig, 252);
	again = rig_must_take(rig);
	ASSERT(again.epoch > api.epoch);
	ASSERT_EQ(0, rig_job(rig, api.job).crashes);
	ASSERT_EQ_FMT((uint64_t)1, rig_job(rig, api.job).restarts, "%lu");
	rig_free(rig);
	PASS();
}

/* End the attempt, wait as long as the service waits, and return the next one, which runs. *ret_waited_ms: the wait. */
static struct rig_attempt end_and_begin(struct rig *rig, struct rig_attempt api, uint64_t code, int64_t *ret_waited_ms)
{
	struct rig_attempt again;

	rig_done(rig, api, OUTCOME_EXIT, code);
	for (*ret_waited_ms = 0; !rig_take(rig, &again); *ret_waited_ms += 250)
		pass(rig, api.conn, 250);
	rig_started(rig, again);
	return again;
}

TEST waits_double_and_begin_anew_after_the_stable_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };
	struct rec_job_spec *job = service(&graph, "api", "");
	int64_t waited_ms;

	job->loop_ends = 20;
	job->restart_wait_ms = 1000;
	job->restart_wait_max_ms = 3000;
	job->stable_ms = 20000;
	begin(rig, &graph, &api, &work);
	api = end_and_begin(rig, api, 1, &waited_ms);
	ASSERT(waited_ms >= 1000 && waited_ms <= 1500);
	api = end_and_begin(rig, api, 1, &waited_ms);
	ASSERT(waited_ms >= 2000 && waited_ms <= 2750);
	api = end_and_begin(rig, api, 1, &waited_ms);
	ASSERT(waited_ms >= 3000 && waited_ms <= 4000);
	pass(rig, api.conn, 19000);
	rig_restart(rig);
	api.conn = rig_hello_held(rig, "w", 4, (struct rec_held[]){
		{ .job = api.job, .epoch = api.epoch, .phase = PHASE_RUNNING }, { .job = work.job, .epoch = work.epoch, .phase = PHASE_RUNNING } }, 2);
	pass(rig, api.conn, 1100);
	api = end_and_begin(rig, api, 1, &waited_ms);
	ASSERT(waited_ms >= 1000 && waited_ms <= 1500);
	rig_free(rig);
	PASS();
}

TEST service_is_stopped_when_the_other_jobs_have_ended(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };
	struct outgoing stop;
	uint64_t run;

	service(&graph, "api", "");
	run = begin(rig, &graph, &api, &work);
	rig_done(rig, work, OUTCOME_EXIT, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_STOP, &stop));
	ASSERT_EQ(api.job, stop.stop.job);
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "api"));
	rig_done(rig, api, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(RUN_SUCCEEDED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	pass(rig, api.conn, 600000);
	ASSERT_FALSE(rig_take(rig, &api));
	rig_free(rig);
	PASS();
}

TEST service_ends_well_though_it_waits_for_its_start(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };
	uint64_t run;

	service(&graph, "api", "");
	run = begin(rig, &graph, &api, &work);
	rig_done(rig, api, OUTCOME_EXIT, 7);
	rig_done(rig, work, OUTCOME_EXIT, 1);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "api"));
	ASSERT_EQ(RUN_FAILED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	rig_free(rig);
	PASS();
}

TEST service_whose_worker_is_lost_runs_elsewhere(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api;
	uint64_t conn = rig_hello(rig, "w", 1), run;

	service(&graph, "api", "");
	run = rig_submit(rig, &graph);
	/* More often than an attempt of another job may be lost. */
	for (int i = 0; i < 9; i++) {
		api = rig_must_take(rig);
		rig_started(rig, api);
		rig_gone(rig, conn);
		rig_pass(rig, LIMIT_GRACE_MS + 10);
		ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "api"));
		conn = rig_hello(rig, i % 2 ? "w" : "v", 1);
		pass(rig, conn, 2000);
	}
	ASSERT_EQ_FMT((uint64_t)9, rig_job(rig, api.job).restarts, "%lu");
	rig_free(rig);
	PASS();
}

TEST intended_stop_is_the_last_end(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };
	uint64_t run;

	service(&graph, "api", "");
	run = begin(rig, &graph, &api, &work);
	rig_cancel(rig, run, "api");
	rig_done(rig, api, OUTCOME_EXIT, 1);
	ASSERT_STR_EQ("cancelled", rig_state_named(rig, run, "api"));
	pass(rig, api.conn, 600000);
	ASSERT_FALSE(rig_take(rig, &api));
	rig_free(rig);
	PASS();
}

TEST some_ends_are_final_if_the_service_says_so(void)
{
	static const struct {
		enum service_restart restart;
		uint64_t never, code;
		const char *state;
	} cases[] = {
		{ RESTART_NEVER, 99, 0, "succeeded" }, { RESTART_NEVER, 99, 1, "failed" }, { RESTART_ON_FAILURE, 99, 0, "succeeded" },
		{ RESTART_ON_FAILURE, 99, 1, "delayed" }, { RESTART_ALWAYS, 3, 3, "failed" }, { RESTART_ALWAYS, 0, 0, "succeeded" },
		{ RESTART_ALWAYS, 3, 4, "delayed" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rig_attempt api = { 0 }, work = { 0 };
		struct rec_job_spec *job = service(&graph, "api", "");
		uint64_t never = cases[i].never, run;

		job->restart = cases[i].restart;
		job->restart_never = (struct u64_list){ &never, 1 };
		run = begin(rig, &graph, &api, &work);
		rig_done(rig, api, OUTCOME_EXIT, cases[i].code);
		ASSERT_STR_EQ(cases[i].state, rig_state_named(rig, run, "api"));
		rig_free(rig);
		}
	PASS();
}

TEST crash_loop_is_told_and_tried_every_five_minutes(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 }, again;
	struct rec_job_row row = { 0 };
	struct rec_run_row of_run = { 0 };
	int64_t waited_ms;
	uint64_t run, conn;

	service(&graph, "api", "");
	run = begin(rig, &graph, &api, &work);
	for (int i = 0; i < 4; i++) {
		ASSERT_FALSE(rig_job(rig, api.job).crash_loop);
		api = end_and_begin(rig, api, 1, &waited_ms);
	}
	rig_done(rig, api, OUTCOME_EXIT, 1);
	ASSERT(view_explain(rig->core, api.job, &rig->arena, &row));
	ASSERT_EQ(REASON_CRASH_LOOP, (enum reason)row.why_code);
	ASSERT(view_run(rig->core, run, &rig->arena, &of_run));
	ASSERT(slice_eq(of_run.crash_loop, slice_str("api")));
	rig_restart(rig);
	conn = rig_hello_held(rig, "w", 4, &(struct rec_held){ .job = work.job, .epoch = work.epoch, .phase = PHASE_RUNNING }, 1);
	ASSERT(rig_job(rig, api.job).crash_loop);
	pass(rig, conn, 299000);
	ASSERT_FALSE(rig_take(rig, &again));
	pass(rig, conn, 1100);
	api = rig_must_take(rig);
	rig_started(rig, api);
	ASSERT(rig_job(rig, api.job).crash_loop);
	pass(rig, conn, 60100);
	ASSERT_FALSE(rig_job(rig, api.job).crash_loop);
	ASSERT_EQ(STATE_RUNNING, rig_state(rig, api.job));
	rig_free(rig);
	PASS();
}

TEST new_round_of_a_job_starts_the_service_again(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };
	uint64_t run;

	service(&graph, "api", "");
	run = begin(rig, &graph, &api, &work);
	rig_done(rig, work, OUTCOME_EXIT, 1);
	rig_act(rig, ACT_RETRY, run, "work", RETRY_ONLY);
	/* The retry came while the service was being stopped, so it is started again. */
	rig_done(rig, api, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "api"));
	rig_run_one(rig, 1);
	ASSERT_EQ(RUN_FAILED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	rig_act(rig, ACT_RETRY, run, "", RETRY_FAILED);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "api"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "work"));
	rig_free(rig);
	PASS();
}

TEST run_of_services_alone_goes_on(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api;
	uint64_t run;

	service(&graph, "api", "");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	api = rig_must_take(rig);
	rig_started(rig, api);
	pass(rig, api.conn, 600000);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "api"));
	rig_cancel(rig, run, NULL);
	rig_done(rig, api, OUTCOME_SIGNAL, 15);
	ASSERT_EQ(RUN_CANCELLED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	rig_free(rig);
	PASS();
}

TEST final_jobs_follow_the_services(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };
	struct rec_job_spec *last;
	uint64_t run;

	service(&graph, "api", "");
	last = graph_job(&graph, "last", "api*");
	last->final = true;
	run = begin(rig, &graph, &api, &work);
	rig_done(rig, work, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "last"));
	rig_done(rig, api, OUTCOME_SIGNAL, 15);
	rig_run_all(rig);
	ASSERT_EQ(RUN_SUCCEEDED, (enum run_state)rig_run_row(rig, (int64_t)run)->run.state);
	rig_free(rig);
	PASS();
}

TEST service_takes_no_room_of_its_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt api = { 0 }, work = { 0 };

	rig->max_jobs = 1;
	service(&graph, "api", "");
	begin(rig, &graph, &api, &work);
	ASSERT(api.job != 0 && work.job != 0);
	rig_free(rig);
	PASS();
}

/* Submit a job "a" and a service "api", one of which is spoiled. */
static uint64_t submit_spoiled(struct rig *rig, int fault)
{
	struct graph graph = { 0 };
	struct rec_job_spec *api;

	service(&graph, "api", "");
	graph_job(&graph, "a", fault == 1 ? "api" : "");
	api = &graph.jobs[0];
	if (fault == 2)
		api->mode = EXEC_ONCE;
	else if (fault == 3)
		api->timeout_ms = 5;
	else if (fault == 4)
		api->loop_ends = 1;
	else if (fault == 5)
		graph.jobs[1].stable_ms = 1;
	return rig_submit(rig, &graph);
}

TEST graphs_that_could_never_end_are_refused(void)
{
	static const char *const words[] = { NULL, "is a service, which ends only when the other jobs of the run have ended",
		"can't have mode once", "timeout_ms", "from 2 to 20", "isn't a service" };
	struct rig *rig = rig_new();

	for (int fault = 1; fault <= 5; fault++) {
		ASSERT_EQ(0, submit_spoiled(rig, fault));
		ASSERTm(words[fault], rig_error_says(rig, ERR_INVALID, words[fault]));
	}
	ASSERT(submit_spoiled(rig, 0) > 0);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(service_that_ends_is_started_again_after_its_wait);
	RUN_TEST(waits_double_and_begin_anew_after_the_stable_time);
	RUN_TEST(service_is_stopped_when_the_other_jobs_have_ended);
	RUN_TEST(service_ends_well_though_it_waits_for_its_start);
	RUN_TEST(service_whose_worker_is_lost_runs_elsewhere);
	RUN_TEST(intended_stop_is_the_last_end);
	RUN_TEST(some_ends_are_final_if_the_service_says_so);
	RUN_TEST(crash_loop_is_told_and_tried_every_five_minutes);
	RUN_TEST(new_round_of_a_job_starts_the_service_again);
	RUN_TEST(run_of_services_alone_goes_on);
	RUN_TEST(final_jobs_follow_the_services);
	RUN_TEST(service_takes_no_room_of_its_run);
	RUN_TEST(graphs_that_could_never_end_are_refused);
	GREATEST_MAIN_END();
}
