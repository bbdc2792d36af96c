/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many timers: those that aren't needed any more are swept out, and each of the others fires once. */
#include "tests/unit/core_rig.h"

#define JOBS 200

/* Job 199 is due among those that were cancelled last, the others in their order. */
static int64_t due_ms(int i)
{
	return i == JOBS - 1 ? 150500 : (i + 1) * INT64_C(1000);
}

static const char *name_of(struct rig *rig, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "j%d", i);
	return arena_strdup(&rig->arena, slice_str(name));
}

TEST each_that_is_left_after_a_sweep_fires_once(void)
{
	static const int left[] = { 1, 2, 39, JOBS - 1, 190, 198 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t begun_ms = rig->now.wall_ms;
	uint64_t run;

	for (int i = 0; i < JOBS; i++)
		graph_job(&graph, name_of(rig, i), "")->delay_ms = (uint64_t)due_ms(i);
	run = rig_submit(rig, &graph);
	rig_pass(rig, due_ms(0));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "j0"));
	/* The next that is due stays: none of them is dropped because it surfaced. */
	for (int i = 40; i < 190; i++)
		rig_cancel(rig, run, name_of(rig, i));
	for (size_t at = 0; at < sizeof(left) / sizeof(left[0]); at++) {
		ASSERT_STR_EQ("delayed", rig_state_named(rig, run, name_of(rig, left[at])));
		rig_pass(rig, begun_ms + due_ms(left[at]) - rig->now.wall_ms);
		ASSERT_STR_EQ("ready", rig_state_named(rig, run, name_of(rig, left[at])));
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
