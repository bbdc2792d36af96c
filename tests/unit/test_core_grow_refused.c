/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is added to a run and refused leaves nothing behind, however often. */
#include "tests/unit/core_grow.h"

/* There are so many sets of labels for everybody. */
TEST its_labels_are_free_for_others(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char name[32];
	uint64_t run;

	rig->reload_every = 0;
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	for (int i = 0; i < LIMIT_TENANT_CLASSES_MAX; i++) {
		snprintf(name, sizeof(name), "w-%d", i);
		graph_job(&graph, "b", "")->only_worker = slice_str(name);
		graph_job(&graph, "a", "");
		ASSERT_EQ(0, grow(rig, run, &graph, ""));
		ASSERT_EQ(ERR_DUPLICATE, rig->error.code);
	}
	graph_job(&graph, "c", "")->only_worker = slice_str("mine");
	ASSERT(rig_submit(rig, &graph) != 0);
	graph_job(&graph, "d", "")->only_worker = slice_str("mine");
	ASSERT(grow(rig, run, &graph, "") != 0);
	rig_hello(rig, "mine", 3);
	ASSERT_EQ(3, rig_run_all(rig));
	core_check(rig->core);
	rig_compare(rig);
	rig_free(rig);
	PASS();
}

SUITE(grow_refused)
{
	RUN_TEST(its_labels_are_free_for_others);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(grow_refused);
	GREATEST_MAIN_END();
}
