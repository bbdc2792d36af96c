/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noops, jobs without a process: they never have an attempt, and they end in the turn in which they may begin. */
#include "oracle.h"

#include "proto/spec.h"

static void noops_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	const struct rec_job_spec *spec = job ? oracle_spec(world, job->job) : NULL;

	(void)outbox;
	if (!spec || spec->kind != KIND_NOOP)
		return;
	if (row->job.epoch || row->job.tries || row->job.worker || state_has_attempt((enum job_state)row->job.state))
		world_fail(world, "job %u runs nothing, and had an attempt", (unsigned)job->job);
	if (row->job.state == STATE_FAILED)
		world_fail(world, "job %u runs nothing, and failed", (unsigned)job->job);
}

/*
 * Must the noop have ended by now? Only a hold by a person, or a run that waits for its concurrency group, may delay
 * it.
 */
static bool must_be_over(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	const struct oracle_job *job = oracle_job(world, graph->first + index);
	const struct rec_job_spec *spec = &graph->jobs[index];
	const struct sim_graph *root = oracle_root(graph);

	if (root->group || job->held_decided || map_get(&world->oracle.held_runs, root->durable_run))
		return false;
	if (job->moved)
		return job->decided == STATE_READY;
	return spec->needs_code.len == 0 && spec->when_code.len == 0 && spec->delay_ms == 0 && spec->not_before_ms == 0 &&
	       !oracle_final(graph, index) && oracle_may_wait(world, graph, index);
}

static void noops_committed(struct sim_world *world, const struct outbox *outbox)
{
	(void)outbox;
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		for (uint32_t i = 0; graph->first && graph->durable_run && i < graph->count; i++)
			if (graph->jobs[i].kind == KIND_NOOP && must_be_over(world, graph, i))
				world_fail(world, "job %u runs nothing, may begin, and waits", (unsigned)(graph->first + i));
	}
}

const struct oracle_check oracle_noops = { .row = noops_row, .committed = noops_committed };
