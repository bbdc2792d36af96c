/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sub-runs: jobs whose work is a graph of its own, whose jobs may be sub-runs, too. */
#include "sim.h"

#include <stdio.h>

#define WITHIN_MOST 3

/* Clear all settings that need a worker, because a sub-run has none. */
static void unplace(struct rec_job_spec *job)
{
	job->argv.n = job->labels.n = job->asks.n = job->prefer.n = job->requires.n = job->concurrency.n = job->locks.n = job->outputs.n = job->artifacts.n = job->takes.n = job->inputs.len = 0;
	job->prefer_worker.len = job->only_worker.len = job->pool.len = job->topic.len = 0;
	job->pool_hard = job->affinity_hard = false;
	job->affinity = AFFINITY_NONE;
	job->mode = EXEC_RETRY;
	job->worker_death = 0;
}

void graph_subruns(struct rand_state *rand, struct sim_graph *graph)
{
	uint64_t features = graph->features;

	if (graph->within == WITHIN_MOST)
		return;
	/* No concurrency groups inside a sub-run: it could wait for the group place of the run that waits for it. */
	features &= ~(UINT64_C(1) << FEATURE_concurrency | UINT64_C(1) << FEATURE_run_concurrency);
	/* A sub-run has the owner of the run around it: it has strangers' jobs only if that run has. */
	if (!graph->stranger)
		features &= ~(UINT64_C(1) << FEATURE_strangers);
	graph->subs = arena_zalloc(&graph->arena, graph->count, sizeof(struct sim_graph *));
	for (uint32_t i = 0; i < graph->count; i++) {
		struct rec_job_spec *job = &graph->jobs[i];

		if (job->gate_count > 0 || job->kind != 0 || rand_below(rand, 6))
			continue;
		unplace(job);
		if (job->loop_max > 2)
			job->loop_max = 2;
		graph->subs[i] = graph_make_within(rand, i, 4, features, graph->within + 1, NULL, NULL, 0);
		snprintf(graph->subs[i]->name, sizeof(graph->subs[i]->name), "sub-%u", i);
		graph->invalid |= graph->subs[i]->invalid;
		job->sub_jobs = blob_slice(graph->subs[i]->body);
		job->sub_count = graph->subs[i]->count;
		job->sub_name = slice_str(graph->subs[i]->name);
		job->sub_max_jobs = graph->subs[i]->max_jobs;
		job->sub_context = graph->subs[i]->context;
		job->computes.n = 0;
		job_computes(rand, graph, job, &graph->subs[i]->jobs[0]);
		/* Most time-outs would end the sub-run before any of its jobs has run, so lengthen half of them. */
		if (job->timeout_ms > 0 && rand_below(rand, 2))
			job->timeout_ms *= 10;
	}
}
