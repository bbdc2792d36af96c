/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of pruning: ended runs, and a store that hands their rows to the core. */
#ifndef TITAN_TESTS_CORE_PRUNE_H
#define TITAN_TESTS_CORE_PRUNE_H

#include "tests/unit/core_rig.h"

/* Collect the rows of an ended run and of its specification, as the store would return them. */
static inline size_t rows_of(const struct rig *rig, int64_t run, struct row rows[64])
{
	size_t count = 0;

	rows[count++] = *rig_run_row(rig, run);
	for (size_t i = 0; i < rig->tables[TABLE_spec].count && count < 64; i++)
		if (rig->tables[TABLE_spec].at[i].row.spec.run == run)
			rows[count++] = rig->tables[TABLE_spec].at[i].row;
	return count;
}

static inline uint64_t rig_submit_plain(struct rig *rig, size_t jobs)
{
	struct graph graph = { 0 };
	char name[32];

	for (size_t i = 0; i < jobs; i++) {
		snprintf(name, sizeof(name), "j%zu", i);
		graph_job(&graph, arena_strdup(&graph.arena, slice_str(name)), "");
	}
	return rig_submit(rig, &graph);
}

static inline struct core_input prune_of(struct rig *rig, const struct row *rows, size_t count)
{
	struct core_input input = { .kind = INPUT_PRUNE };

	input.prune.rows = rows;
	input.prune.row_count = count;
	input.prune.rule.as_of = rig->out.turn;
	return input;
}

static inline void sweep(struct rig *rig)
{
	core_sweep(rig->core, rig->out.turn);
}

static inline void prune(struct rig *rig, int64_t run)
{
	struct row rows[64];
	struct core_input input;

	sweep(rig);
	input = prune_of(rig, rows, rows_of(rig, run, rows));
	rig_step(rig, &input);
}

static inline void more(struct rig *rig, const uint64_t *gone, size_t gone_count)
{
	struct core_input input = { .kind = INPUT_PRUNE };

	input.prune.gone = gone;
	input.prune.gone_count = gone_count;
	rig_step(rig, &input);
}

static inline size_t rows_left(const struct rig *rig, int64_t run)
{
	size_t count = rig_run_row(rig, run) != NULL;

	for (size_t i = 0; i < rig->tables[TABLE_spec].count; i++)
		count += rig->tables[TABLE_spec].at[i].row.spec.run == run;
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		count += rig->tables[TABLE_job].at[i].row.job.run == run;
	for (size_t i = 0; i < rig->tables[TABLE_submit_key].count; i++)
		count += rig->tables[TABLE_submit_key].at[i].row.submit_key.run == run;
	for (size_t i = 0; i < rig->tables[TABLE_dead].count; i++)
		count += rig->tables[TABLE_dead].at[i].row.dead.run == run;
	return count;
}

static inline uint64_t ended_run(struct rig *rig, size_t jobs)
{
	uint64_t run = rig_submit_plain(rig, jobs);

	rig_cancel(rig, run, NULL);
	sweep(rig);
	return run;
}

#endif
