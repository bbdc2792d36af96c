/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pruning: only ended runs are pruned, together with their submit keys, in one turn; their other rows follow later,
 * completely.
 */
#include "oracle.h"

static uint64_t run_of(const struct row *row)
{
	switch (row->table) {
	case TABLE_run:
		return (uint64_t)row->run.run;
	case TABLE_spec:
		return (uint64_t)row->spec.run;
	case TABLE_job:
		return (uint64_t)row->job.run;
	case TABLE_decision:
		return (uint64_t)row->decision.run;
	case TABLE_dead:
		return (uint64_t)row->dead.run;
	case TABLE_attempt:
		return (uint64_t)row->attempt.run;
	case TABLE_submit_key:
		return (uint64_t)row->submit_key.run;
	default:
		return 0;
	}
}

static bool is_noted(const struct sim_world *world, int64_t run)
{
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table == TABLE_pruned && row->pruned.first <= run && run <= row->pruned.last)
			return true;
	}
	return false;
}

/* Check a pruned run by its last row. Some other rows of it may still exist, but not its run row or its key. */
static void run_gone(struct sim_world *world, const struct row_run *run)
{
	const struct row *parent = run->parent_run ? disk_get(&world->disk, TABLE_run, (uint64_t)run->parent_run) : NULL;

	if (run->ended_ms == 0)
		world_fail(world, "run %u lives and was pruned", (unsigned)run->run);
	if (run->dead > 0)
		world_fail(world, "run %u has dead letters and was pruned", (unsigned)run->run);
	if (parent && parent->run.ended_ms == 0)
		world_fail(world, "run %u was pruned, and what it is within lives", (unsigned)run->run);
	if (!is_noted(world, run->run))
		world_fail(world, "run %u was pruned, and nothing says so", (unsigned)run->run);
	for (size_t i = 0; i < world->disk.count; i++)
		if (world->disk.order[i]->row.table == TABLE_submit_key && world->disk.order[i]->row.submit_key.run == run->run)
			world_fail(world, "run %u was pruned, its submit key is there", (unsigned)run->run);
	for (int64_t i = 0; i < run->jobs; i++)
		if (oracle_job(world, (uint64_t)(run->first + i))->row.state != STATE_SUCCEEDED &&
		    !oracle_job(world, (uint64_t)(run->first + i))->terminal)
			world_fail(world, "run %u was pruned before its job %u had ended", (unsigned)run->run,
				   (unsigned)(run->first + i));
}

/* Check that pruning only the logs of a run changes nothing else in its row. */
static void prune_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	struct sim_graph *graph = row->table == TABLE_run ? map_get(&world->oracle.runs, (uint64_t)row->run.run) : NULL;
	const struct row_run *before = graph ? &graph->last_row : NULL;

	(void)job;
	(void)outbox;
	if (!graph)
		return;
	if (before->run == row->run.run && before->logs_gone_ms != row->run.logs_gone_ms &&
	    (before->ended_ms != row->run.ended_ms || before->ended_ms == 0 || before->dead != row->run.dead ||
	     before->state != row->run.state))
		world_fail(world, "run %u: its logs were pruned, and it isn't what it was", (unsigned)row->run.run);
	graph->last_row = row->run;
}

static void prune_committed(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];

		if (row->table == TABLE_run && row->deleted)
			run_gone(world, &disk_get(&world->disk, TABLE_run, (uint64_t)row->run.run)->run);
		if (row->table == TABLE_job && row->until != 0) {
			for (int64_t job = row->job.job; job < row->until; job++) {
				const struct row *old = disk_get(&world->disk, TABLE_job, (uint64_t)job);

				if (old && !disk_is_buried(&world->disk, run_of(old)))
					world_fail(world, "job %u was pruned, and its run is there", (unsigned)job);
			}
		}
	}
}

/* Check that when nothing is left to prune, no row of a pruned run is left. */
static void prune_rest(struct sim_world *world)
{
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table == TABLE_pruning)
			world_fail(world, "run %u is being pruned for ever", (unsigned)row->pruning.run);
		if (run_of(row) != 0 && disk_is_buried(&world->disk, run_of(row)))
			world_fail(world, "run %u was pruned, and a row of it stays", (unsigned)run_of(row));
	}
}

const struct oracle_check oracle_prune = { .row = prune_row, .committed = prune_committed, .rest = prune_rest };
