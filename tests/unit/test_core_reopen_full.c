/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that comes back to be done again while there is no room for it: it isn't its rows that are wrong. */
#include "tests/unit/core_prune.h"

static void want_everything(struct rig *rig)
{
	struct graph graph = { 0 };

	for (int i = 0; i < LIMIT_TENANT_CLASSES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w-%d", i);
		graph_job(&graph, name, "")->only_worker = slice_str(arena_strdup(&rig->arena, slice_str(name)));
	}
	CHECK(rig_submit(rig, &graph) != 0);
}

TEST its_labels_are_too_many_now(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_REOPEN, .conn = 1000000, .request = 7 };
	struct graph graph = { 0 };
	struct row rows[64];
	uint64_t run;

	rig->reload_every = 0;
	graph_job(&graph, "a", "")->only_worker = slice_str("mine");
	run = rig_submit(rig, &graph);
	rig_hello(rig, "mine", 1);
	rig_run_one(rig, 1);
	core_sweep(rig->core, UINT64_MAX);
	input.reopen.row_count = rows_of(rig, (int64_t)run, rows);
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.run == (int64_t)run)
			rows[input.reopen.row_count++] = rig->tables[TABLE_job].at[i].row;
	input.reopen.act = (struct input_act){ .verb = ACT_RETRY, .run = run, .value = RETRY_ALL };
	input.reopen.rows = rows;
	want_everything(rig);
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_FULL, "live jobs want"));
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

SUITE(reopen_full)
{
	RUN_TEST(its_labels_are_too_many_now);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(reopen_full);
	GREATEST_MAIN_END();
}
