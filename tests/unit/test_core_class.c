/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of jobs: how many a tenant may have, and how much memory they use. */
#include "proto/reasons.h"
#include "tests/unit/core_place.h"

#include <malloc.h>

static size_t memory(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Submit a run whose jobs each require a different label. Return its number; 0: refused. */
static uint64_t wish(struct rig *rig, const char *tenant, const char *prefix, unsigned count)
{
	struct graph graph = { 0 };

	rig->tenant = tenant;
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%u", prefix, i);
		graph_job(&graph, name, "")->only_worker = slice_str(arena_strdup(&rig->arena, slice_str(name)));
	}
	return rig_submit(rig, &graph);
}

TEST classes_of_a_tenant_leave_room_for_others(void)
{
	struct rig *rig = rig_new();
	uint64_t full;

	rig->reload_every = 0;
	full = wish(rig, "greedy", "g", LIMIT_TENANT_CLASSES_MAX);
	ASSERT(full != 0);
	ASSERT_EQ(0, wish(rig, "greedy", "more", 1));
	ASSERT(rig_error_says(rig, ERR_FULL, "the live jobs of tenant greedy have 4096 different sets of worker requirements, and no more are allowed"));
	/*
	 * Sets of requirements that the tenant uses already aren't counted again; another tenant's use counts for that
	 * tenant.
	 */
	ASSERT(wish(rig, "greedy", "g", 3) != 0);
	ASSERT(wish(rig, "other", "g", 3) != 0);
	ASSERT(wish(rig, "other", "o", LIMIT_TENANT_CLASSES_MAX - 3) != 0);
	ASSERT_EQ(0, wish(rig, "other", "g1", 1));
	ASSERT(rig_error_says(rig, ERR_FULL, "the live jobs of tenant other have 4096 different sets of worker requirements, and no more are allowed"));
	core_check(rig->core);
	rig_cancel(rig, full, "");
	core_sweep(rig->core, UINT64_MAX);
	core_check(rig->core);
	ASSERT(wish(rig, "greedy", "again", LIMIT_TENANT_CLASSES_MAX - 3) != 0);
	rig_free(rig);
	PASS();
}

TEST last_quarter_of_classes_is_for_tenants_with_few(void)
{
	struct rig *rig = rig_new();
	const unsigned few = LIMIT_TENANT_CLASSES_MAX / 16;
	char tenant[16];

	rig->reload_every = 0;
	for (unsigned i = 0; i < 3; i++) {
		snprintf(tenant, sizeof(tenant), "t%u", i);
		ASSERT(wish(rig, tenant, tenant, LIMIT_TENANT_CLASSES_MAX) != 0);
	}
	ASSERT_EQ(0, wish(rig, "late", "x", few + 1));
	ASSERT(rig_error_says(rig, ERR_FULL, "different sets of worker requirements, and no more are allowed; try again when jobs have ended"));
	ASSERT(wish(rig, "late", "x", few) != 0);
	/* sets of requirements that another tenant uses already don't count as new */
	ASSERT(wish(rig, "late", "t1", 9) != 0);
	ASSERT(wish(rig, "later", "y", 1) != 0);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

/* A queue for each tenant in each class would take 256 MB here. */
TEST tenant_without_jobs_of_a_class_costs_no_memory_there(void)
{
	struct rig *rig = rig_new();
	char tenant[16];
	size_t before;

	rig->reload_every = 0;
	for (unsigned i = 0; i < 4000; i++) {
		struct graph graph = { 0 };

		snprintf(tenant, sizeof(tenant), "t%u", i);
		rig->tenant = tenant;
		graph_job(&graph, "a", "");
		ASSERT(rig_submit(rig, &graph) != 0);
	}
	before = memory();
	ASSERT(wish(rig, "last", "w", 4000) != 0);
	ASSERT(memory() - before < (size_t)64 << 20);
	rig_free(rig);
	PASS();
}

TEST labels_in_any_order_are_one_class(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->labels = words(rig, "gpu ssd");
	graph_job(&graph, "b", "")->labels = words(rig, "ssd gpu");
	graph_job(&graph, "c", "")->labels = words(rig, "gpu ssd gpu");
	graph_job(&graph, "d", "")->labels = words(rig, "gpu");
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "x ssd gp gpu gpuu", "", "");
	ASSERT(view_explain(rig->core, rig_named(rig, run, "c"), &rig->arena, &row));
	ASSERT_EQ(REASON_ALL_SLOTS_BUSY, row.why_code);
	ASSERT(memmem(row.why.data, row.why.len, "; 2 jobs queue", 14));
	rig_free(rig);
	PASS();
}

static void graph_of_labels(struct rig *rig, struct graph *graph, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "l%zu", i);
		graph_job(graph, name, "")->labels = words(rig, name);
	}
}

TEST classes_of_a_tenant_are_limited(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig->reload_every = 0;
	graph_of_labels(rig, &graph, LIMIT_TENANT_CLASSES_MAX);
	run = rig_submit(rig, &graph);
	ASSERT(run != 0);
	graph_job(&graph, "x", "")->labels = words(rig, "another");
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_FULL, "the live jobs of tenant ana have 4096 different sets of worker requirements, and no more are allowed"));
	graph_job(&graph, "x", "")->labels = words(rig, "l7");
	graph_job(&graph, "y", "");
	ASSERT(rig_submit(rig, &graph) != 0);
	rig_cancel(rig, run, "");
	core_sweep(rig->core, UINT64_MAX / 2);
	graph_job(&graph, "x", "")->labels = words(rig, "another");
	ASSERT(rig_submit(rig, &graph) != 0);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(classes_of_a_tenant_leave_room_for_others);
	RUN_TEST(last_quarter_of_classes_is_for_tenants_with_few);
	RUN_TEST(tenant_without_jobs_of_a_class_costs_no_memory_there);
	RUN_TEST(labels_in_any_order_are_one_class);
	RUN_TEST(classes_of_a_tenant_are_limited);
	GREATEST_MAIN_END();
}
