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

SUITE(within)
{
	RUN_TEST(a_sub_run_has_its_bound_and_the_tenant_of_its_job);
	RUN_TEST(a_tenant_with_no_room_for_it_has_it_all_the_same);
	RUN_TEST(however_deep_it_is_of_one_tenant);
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
