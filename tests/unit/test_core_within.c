/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that nobody submits: what they have of the schedule that begins them, or of the job whose sub-run they are. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

#define HOUR_MS INT64_C(3600000)

static void two(struct graph *graph)
{
	graph_job(graph, "x", "");
	graph_job(graph, "y", "");
}

/* One at a time, in the share of a tenant that is not who owns it. */
static enum greatest_test_res is_bound(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = { 0 };

	ASSERT(view_run(rig->core, run, &rig->arena, &row));
	ASSERT(slice_eq(slice_str("team"), row.tenant) && slice_eq(slice_str("ana"), row.owner));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "x"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "y"));
	PASS();
}

TEST a_sub_run_has_its_bound_and_the_tenant_of_its_job(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 9);
	two(&inner);
	sub_job(&graph, "build", "", &inner)->sub_max_jobs = 1;
	rig->tenant = "team";
	run = rig_submit(rig, &graph);
	CHECK_CALL(is_bound(rig, child_of(rig, run, "build")));
	rig_free(rig);
	PASS();
}

TEST a_scheduled_run_has_what_its_schedule_says(bool restarts)
{
	struct rec_schedule_spec spec = { .cron = slice_str("0 * * * *") };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = 1 };
	struct graph_part part = { .count = 2 };
	struct rec_schedule_row row = { 0 };
	struct rec_run_row shown = { 0 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct buf bytes = { 0 };

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	two(&graph);
	part.body = graph_blob(&graph);
	graph_free(&graph);
	record_encode(&bytes, REC_schedule_spec, &spec);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("hourly"),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes), .key = { 9 }, .digest = { 9 },
		.tenant = slice_str("team"), .max_jobs = 1 };
	rig_step(rig, &input);
	blob_release(part.body);
	buf_free(&bytes);
	if (restarts)
		rig_restart(rig);
	rig_hello(rig, "w", 9);
	rig_pass(rig, HOUR_MS);
	rig_hello(rig, "w", 9);
	ASSERT(view_schedule(rig->core, 0, 1, &rig->arena, &row) && row.fired == 1);
	CHECK_CALL(is_bound(rig, row.last_run));
	ASSERT(view_run(rig->core, row.last_run, &rig->arena, &shown) && slice_eq(shown.schedule, slice_str("hourly")));
	rig_free(rig);
	PASS();
}

/* --- between a sub-run and its job --- */

/* Its jobs came in with the run that it is within. */
TEST a_tenant_with_no_room_for_it_has_it_all_the_same(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	uint64_t run;

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .most = 1 + 1 });
	two(&inner);
	sub_job(&graph, "build", "", &inner);
	run = rig_submit(rig, &graph);
	ASSERT_EQ(ERR_NONE, rig->error.code);
	ASSERT_EQ(STATE_RUNNING, named(rig, run, "build"));
	rig_free(rig);
	PASS();
}

/* How it ended is what its jobs came to, not what was said to it: one by one they may all be cancelled. */
TEST it_was_cancelled_if_its_jobs_were(void)
{
	for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 }, inner = { 0 };
		uint64_t run, child;

		rig_hello(rig, "w", 1);
		two(&inner);
		sub_job(&graph, "build", "", &inner)->retry_max = 1;
		run = rig_submit(rig, &graph);
		child = child_of(rig, run, "build");
		rig_run_one(rig, one_by_one ? 0 : 7);
		if (one_by_one) {
			rig_cancel(rig, child, "y");
			rig_done(rig, rig_must_take(rig), OUTCOME_RECALLED, 0);
		} else {
			rig_cancel(rig, child, "");
			rig_done(rig, rig_must_take(rig), OUTCOME_SIGNAL, 15);
		}
		ASSERT_EQ(one_by_one ? STATE_FAILED : STATE_DELAYED, named(rig, run, "build"));
		ASSERT_EQ(one_by_one ? 2 : 1, rig_job(rig, rig_named(rig, run, "build")).code);
		rig_free(rig);
	}
	PASS();
}

TEST when_it_began_is_known_when_it_has_ended(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row;
	int64_t began_ms;
	uint64_t run;

	sub_plain(&graph, "build", "");
	run = rig_submit(rig, &graph);
	began_ms = rig_job(rig, rig_named(rig, run, "build")).started_ms;
	ASSERT(began_ms > 0);
	rig_pass(rig, 5000);
	rig_hello(rig, "w", 1);
	rig_run_all(rig);
	row = rig_job(rig, rig_named(rig, run, "build"));
	ASSERT_EQ(STATE_SUCCEEDED, (enum job_state)row.state);
	ASSERT(row.started_ms == began_ms && row.ended_ms >= began_ms + 5000);
	rig_free(rig);
	PASS();
}

static bool run_held(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = { 0 };

	CHECK(view_run(rig->core, run, &rig->arena, &row));
	return row.held;
}

TEST what_is_done_to_a_run_reaches_all_that_is_within_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, middle = { 0 }, inner = { 0 };
	uint64_t run, within;

	graph_job(&inner, "x", "");
	sub_job(&middle, "deep", "", &inner);
	sub_job(&graph, "build", "", &middle);
	run = rig_submit(rig, &graph);
	within = child_of(rig, child_of(rig, run, "build"), "deep");
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT(run_held(rig, within));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	ASSERT_FALSE(run_held(rig, within));
	rig_act(rig, ACT_PRIORITY, run, "build", 77);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_EQ(77 + 1, rig_job(rig, rig_named(rig, within, "x")).priority);
	rig_free(rig);
	PASS();
}

TEST what_is_added_to_it_comes_as_what_it_began_with(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	sub_plain(&graph, "build", "")->priority = 91;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	graph_job(&graph, "more", "");
	ASSERT(grow(rig, child, &graph, "") != 0);
	ASSERT_EQ(91, rig_job(rig, rig_named(rig, child, "more")).priority);
	rig_free(rig);
	PASS();
}

TEST however_deep_it_is_of_one_tenant(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, middle = { 0 };
	struct rec_run_row row = { 0 };
	uint64_t run;

	sub_plain(&middle, "deep", "");
	sub_job(&graph, "build", "", &middle);
	rig->tenant = "team";
	run = rig_submit(rig, &graph);
	ASSERT(view_run(rig->core, child_of(rig, child_of(rig, run, "build"), "deep"), &rig->arena, &row));
	ASSERT(slice_eq(slice_str("team"), row.tenant));
	rig_free(rig);
	PASS();
}

/* Neither holds the run that an attempt was, nor is its letter a way to have it done for nobody. */
TEST one_that_has_ended_is_left_alone(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, child;

	rig_hello(rig, "w", 1);
	sub_plain(&graph, "build", "")->retry_max = 1;
	run = rig_submit(rig, &graph);
	child = child_of(rig, run, "build");
	rig_run_one(rig, 1);
	ASSERT_EQ(STATE_DELAYED, named(rig, run, "build"));
	rig_act(rig, ACT_HOLD, run, "build", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_FALSE(run_held(rig, child));
	rig_act(rig, ACT_REQUEUE, child, "x", 0);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "which doesn't wait for it any more"));
	ASSERT_EQ(STATE_FAILED, named(rig, child, "x"));
	rig_free(rig);
	PASS();
}

SUITE(within)
{
	RUN_TEST(a_sub_run_has_its_bound_and_the_tenant_of_its_job);
	RUN_TEST(a_tenant_with_no_room_for_it_has_it_all_the_same);
	RUN_TEST(it_was_cancelled_if_its_jobs_were);
	RUN_TEST(when_it_began_is_known_when_it_has_ended);
	RUN_TEST(what_is_added_to_it_comes_as_what_it_began_with);
	RUN_TEST(however_deep_it_is_of_one_tenant);
	RUN_TEST(one_that_has_ended_is_left_alone);
	RUN_TEST(what_is_done_to_a_run_reaches_all_that_is_within_it);
	RUN_TESTp(a_scheduled_run_has_what_its_schedule_says, false);
	RUN_TESTp(a_scheduled_run_has_what_its_schedule_says, true);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(within);
	GREATEST_MAIN_END();
}
