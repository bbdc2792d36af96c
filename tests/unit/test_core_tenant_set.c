/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tenants: changes of one limit, and the tenant of scheduled runs and sub-runs. */
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* The limit of a removed tenant is gone, even if the tenant still has a live run. */
TEST removed_tenant_has_no_queue_limit(void)
{
	struct rig *rig = rig_new();

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .most = 2 });
	for (int i = 0; i < 3; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		ASSERT_EQ(i == 1, rig_submit(rig, &graph) == 0);
		if (i == 1)
			rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("ana") });
	}
	rig_free(rig);
	PASS();
}

static struct rec_tenant_row set_tenant(struct rig *rig, uint64_t weight, uint64_t number, uint64_t most)
{
	struct rec_tenant_row row = { 0 };

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("team"), .weight = weight,
				       .number = number, .most = most });
	CHECK(view_tenant(rig->core, 0, &row) != 0);
	return row;
}

TEST change_of_one_limit_of_tenant_keeps_others(void)
{
	struct rig *rig = rig_new();
	struct rec_tenant_row row;

	set_tenant(rig, 3, 5, 7);
	row = set_tenant(rig, 4, 0, 0);
	ASSERT(row.weight == 4 && row.max_jobs == 4 && row.max_queued == 6);
	row = set_tenant(rig, 0, 9, 0);
	ASSERT(row.weight == 4 && row.max_jobs == 8 && row.max_queued == 6);
	row = set_tenant(rig, 0, 0, 9);
	ASSERT(row.weight == 4 && row.max_jobs == 8 && row.max_queued == 8);
	row = set_tenant(rig, 0, 1, 1);
	ASSERT(row.weight == 4 && row.max_jobs == 0 && row.max_queued == 0);
	rig_free(rig);
	PASS();
}

static void two(struct graph *graph)
{
	graph_job(graph, "x", "");
	graph_job(graph, "y", "");
}

/* Does the run go by its tenant's limit of one job, though the owner is somebody else? */
static enum greatest_test_res is_bound(struct rig *rig, uint64_t run)
{
	struct rec_run_row row = { 0 };

	ASSERT(view_run(rig->core, run, &rig->arena, &row));
	ASSERT(slice_eq(slice_str("team"), row.tenant) && slice_eq(slice_str("ana"), row.owner));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "x"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "y"));
	PASS();
}

TEST sub_run_has_own_bound_and_tenant_of_parent_job(void)
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

#define HOUR_MS INT64_C(3600000)

TEST scheduled_run_has_tenant_and_bound_of_schedule(bool restarts)
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

/* A sub-run starts although its tenant's queue limit is reached: its jobs were counted with the run around it. */
TEST sub_run_begins_beyond_queue_limit_of_tenant(void)
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

TEST nested_sub_run_has_tenant_of_outer_run(void)
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

SUITE(tenants_set)
{
	RUN_TEST(removed_tenant_has_no_queue_limit);
	RUN_TEST(change_of_one_limit_of_tenant_keeps_others);
	RUN_TEST(sub_run_has_own_bound_and_tenant_of_parent_job);
	RUN_TESTp(scheduled_run_has_tenant_and_bound_of_schedule, false);
	RUN_TESTp(scheduled_run_has_tenant_and_bound_of_schedule, true);
	RUN_TEST(sub_run_begins_beyond_queue_limit_of_tenant);
	RUN_TEST(nested_sub_run_has_tenant_of_outer_run);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tenants_set);
	GREATEST_MAIN_END();
}
