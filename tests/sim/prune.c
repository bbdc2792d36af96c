/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pruning by the simulated master: it reads the rows of some runs, ended or not, and later offers them to the core to
 * prune. The logs of runs whose pruning is durable are removed at a random time. Rows that were read are lost in a
 * crash.
 */
#include "sim.h"

#include "base/mem.h"
#include "core/rows/outbox.h"

static void keep_row(struct sim_prune *prune, const struct row *row)
{
	struct outbox copy = { .arena = prune->arena };

	if (prune->count == prune->cap) {
		prune->cap = prune->cap ? prune->cap * 2 : 16;
		prune->rows = mem_resize(prune->rows, prune->cap, sizeof(*prune->rows));
	}
	prune->rows[prune->count] = *row;
	outbox_own(&copy, &prune->rows[prune->count++]);
	prune->arena = copy.arena;
}

/*
 * Check whether jobs were added to the run. Such runs aren't pruned here, because the oracle knows only one graph
 * of a pruned run.
 */
static bool was_added_to(const struct sim_world *world, int64_t run)
{
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table == TABLE_spec && row->spec.run == run && row->spec.first > 0)
			return true;
	}
	return false;
}

static void read_some(struct sim_world *world)
{
	struct sim_prune *prune = &world->master.prune;

	prune->as_of = world->disk.turn;
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *run = &world->disk.order[i]->row;

		if (run->table != TABLE_run || !world_chance(world, 500) || was_added_to(world, run->run.run))
			continue;
		keep_row(prune, run);
		for (int64_t part = 0;; part++) {
			const struct row *found = NULL;

			for (size_t at = 0; at < world->disk.count && !found; at++) {
				const struct row *row = &world->disk.order[at]->row;

				if (row->table == TABLE_spec && row->spec.run == run->run.run && row->spec.part == part)
					found = row;
			}
			if (!found)
				break;
			keep_row(prune, found);
		}
	}
}

void prune_forget(struct sim_world *world)
{
	struct sim_prune *prune = &world->master.prune;

	mem_free(prune->rows);
	arena_free(&prune->arena);
	*prune = (struct sim_prune){ 0 };
}

/* List the runs whose logs are removed now. Logs are removed only when the row that announces it is on disk. */
static size_t logs_gone(struct sim_world *world, uint64_t *gone)
{
	size_t count = 0;

	for (size_t i = 0; i < world->disk.count; i++)
		if (world->disk.order[i]->row.table == TABLE_pruning && world_chance(world, 500))
			gone[count++] = (uint64_t)world->disk.order[i]->row.pruning.run;
	return count;
}

bool prune_left(const struct sim_world *world)
{
	bool rows;

	return view_pruning_after(world->master.core, 0, &rows) != 0;
}

bool prune_some(struct sim_world *world)
{
	struct sim_prune *prune = &world->master.prune;
	struct core_input input = { .kind = INPUT_PRUNE };
	uint64_t *gone;

	/* Only a third of the schedules prune; the random numbers of the others stay the same. */
	if (world->seed % 3 != 0)
		return false;
	/* Rows that were read wait for a while; meanwhile their runs may be retried and end again. */
	if (world->faults && !world_chance(world, prune->count == 0 ? 50 : world->seed % 2 ? 8 : 50))
		return prune_left(world);
	if (world->faults && prune->count == 0) {
		read_some(world);
		return true;
	}
	gone = mem_array(world->disk.count + 1, sizeof(*gone));
	input.prune = (struct input_prune){
		.rows = prune->rows, .row_count = prune->count, .gone = gone, .gone_count = logs_gone(world, gone),
		.room = 1 + world_rand(world, 40),
		.rule = { .as_of = prune->as_of, .logs_only = world_chance(world, 400) },
	};
	core_step(world->master.core, &input);
	prune_forget(world);
	mem_free(gone);
	return prune_left(world);
}
