/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs: I1 (an acknowledged submit is durable, and is one run), I16 (the state of a run follows from its jobs), I9 (the
 * run ends).
 */
#include "oracle.h"

static void durable_key(struct sim_world *world, const struct row_submit_key *row)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		struct sim_graph *graph = world->graphs[i];

		if (!slice_eq(row->submit_key, slice_make(graph->key, sizeof(graph->key))))
			continue;
		if (graph->invalid)
			world_fail(world, "an invalid graph became part of run %u", (unsigned)row->run);
		if (graph->durable_run && !disk_is_buried(&world->disk, graph->durable_run))
			world_fail(world, "I1: one submit was taken twice");
		graph->durable_run = (uint64_t)row->run;
		/* the graph was refused at first, and accepted when it was submitted again */
		if (graph->into && graph->answered)
			graph->run = graph->durable_run;
		graph->first = world->oracle.came;
		if (graph->into) {
			graph->submitted_ns = world->oracle.decided_ns;
			return;
		}
		if (map_get(&world->oracle.runs, (uint64_t)row->run))
			world_fail(world, "two graphs share run %u", (unsigned)row->run);
		graph->first = (uint64_t)disk_get(&world->disk, TABLE_run, (uint64_t)row->run)->run.first;
		if (graph->run)
			/* the run that the graph was before has been pruned */
			graph->run = (uint64_t)row->run;
		map_put(&world->oracle.runs, (uint64_t)row->run, graph);
	}
}

/* Check I16: the row of an ended run agrees with its jobs, including those that were added. */
static void durable_run(struct sim_world *world, const struct row_run *row)
{
	uint32_t counts[STATE_COUNT] = { 0 }, forgiven = 0, dead = 0;
	struct sim_graph *graph = map_get(&world->oracle.runs, (uint64_t)row->run);
	int64_t jobs = 0;
	uint64_t serial;

	if (graph)
		graph->was_closed |= row->ended_ms != 0 || row->cancelled;
	if (row->ended_ms == 0)
		return;
	for (struct oracle_walk walk = { 0 }; (serial = oracle_run_next(world, (uint64_t)row->run, &walk)) != 0; jobs++) {
		const struct row *job = disk_get(&world->disk, TABLE_job, serial);

		if (!job)
			world_fail(world, "I16: run %u ended without its job %u", (unsigned)row->run, (unsigned)serial);
		counts[job->job.state]++;
		forgiven += oracle_forgiven(world, serial, (enum job_state)job->job.state);
		dead += disk_get(&world->disk, TABLE_dead, serial) != NULL;
	}
	if (jobs != row->jobs)
		world_fail(world, "I16: run %u ended with %u jobs, and %u were its", (unsigned)row->run, (unsigned)row->jobs,
			   (unsigned)jobs);
	if (row->forgiven != forgiven || row->dead != dead)
		world_fail(world, "run %u says that %u ends are forgiven and %u are dead letters: %u and %u are", (unsigned)row->run,
			   (unsigned)row->forgiven, (unsigned)row->dead, forgiven, dead);
	if ((int64_t)run_state_of(counts, forgiven) != row->state || !run_state_terminal(run_state_of(counts, forgiven)))
		world_fail(world, "I16: run %u isn't what its jobs are", (unsigned)row->run);
}

static void runs_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	(void)job;
	(void)outbox;
	if (row->table == TABLE_spec && row->spec.first > 0)
		world->oracle.came = (uint64_t)row->spec.first;
	if (row->table == TABLE_submit_key)
		durable_key(world, &row->submit_key);
	else if (row->table == TABLE_run)
		durable_run(world, &row->run);
}

void oracle_accepted(struct sim_world *world, struct sim_graph *graph, uint64_t run)
{
	world_note(world, "%s is run %u", graph->name, (unsigned)run);
	if (graph->invalid)
		world_fail(world, "an invalid graph was accepted");
	if (run < graph->durable_run && disk_is_buried(&world->disk, run))
		return;                  /* the run was pruned meanwhile, and the graph submitted again */
	if (graph->durable_run != run || (graph->into && graph->into->run != run) || !disk_get(&world->disk, TABLE_run, run))
		world_fail(world, "I1: run %u was acknowledged and isn't durable", (unsigned)run);
	if (graph->run && graph->run != run)
		world_fail(world, "I1: one submit became two runs");
	graph->run = run;
}

static void runs_rest(struct sim_world *world)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];
		const struct row *row = graph->run ? disk_get(&world->disk, TABLE_run, graph->run) : NULL;

		if (graph->invalid || (graph->into && !graph->run))
			continue;
		if (!row || row->run.ended_ms == 0)
			world_fail(world, "I9: %s never ended", graph->name);
	}
}

const struct oracle_check oracle_runs = { .row = runs_row, .rest = runs_rest };
