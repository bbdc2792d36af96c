/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many timers: those that aren't needed any more are swept out, and each of the others fires once. */
#include "tests/unit/core_rig.h"

#define JOBS 200

TEST each_that_is_left_after_a_sweep_fires_once(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	char name[32];
	uint64_t run;

	for (int i = 0; i < JOBS; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "")->delay_ms = (uint64_t)(i + 1) * 1000;
	}
	run = rig_submit(rig, &graph);
	rig_pass(rig, 1000);
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "j0"));
	for (int i = 1; i <= 150; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		rig_cancel(rig, run, name);
	}
	for (int i = 151; i < JOBS; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		ASSERT_STR_EQ("delayed", rig_state_named(rig, run, name));
		rig_pass(rig, (i + 1) * INT64_C(1000) - (rig->now.mono_ns / NS_PER_MS - 5000));
		ASSERT_STR_EQ("ready", rig_state_named(rig, run, name));
	}
	ASSERT_EQ(TIME_NEVER, core_next_due(rig->core));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(each_that_is_left_after_a_sweep_fires_once);
	GREATEST_MAIN_END();
}
