/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where jobs may run, and how many at once: labels, resources, pools, affinity, tenants, limits. */
#include "sim.h"

#include <stdio.h>

const char *const graph_label_names[SIM_LABELS] = { "disk", "gpu", "net" };

/* A quarter of the requirements is that the worker lacks the label. */
static struct slice label_want(struct rand_state *rand, struct sim_graph *graph, const char *name)
{
	char text[16];

	snprintf(text, sizeof(text), "%s%s", rand_below(rand, 4) ? "" : "!", name);
	return arena_copy(&graph->arena, slice_str(text));
}

void job_labels(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *labels = arena_zalloc(&graph->arena, SIM_LABELS, sizeof(*labels));

	(void)index;
	job->labels.at = labels;
	for (size_t i = 0; i < SIM_LABELS; i++)
		if (rand_below(rand, 3) == 0)
			labels[job->labels.n++] = label_want(rand, graph, graph_label_names[SIM_LABELS - 1 - i]);
}

const char *const graph_kind_names[SIM_KINDS] = { "cpus", "licence", "memory" };
const char *const graph_pool_names[SIM_POOLS] = { "default", "east", "west" };

/*
 * Ask for resources. Half of the jobs ask for the same as an earlier job, so that the master may prefetch one
 * behind the other. One in a hundred asks for more than any worker offers.
 */
void job_asks(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *asks = arena_zalloc(&graph->arena, SIM_KINDS, sizeof(*asks));
	char text[32];

	for (uint32_t i = 0; i < index; i++)
		if (graph->jobs[i].asks.n > 0 && rand_below(rand, 2)) {
			job->asks = graph->jobs[i].asks;
			return;
		}
	job->asks.at = asks;
	for (size_t i = SIM_KINDS; i-- > 0;) {
		if (rand_below(rand, 2))
			continue;
		snprintf(text, sizeof(text), "%s=%u", graph_kind_names[i],
			 rand_below(rand, 100) ? 1 + (unsigned)rand_below(rand, SIM_MOST) : SIM_MOST + 1);
		asks[job->asks.n++] = arena_copy(&graph->arena, slice_str(text));
	}
}

void graph_asks(const struct rec_job_spec *job, uint64_t ret_asks[SIM_KINDS])
{
	for (size_t kind = 0; kind < SIM_KINDS; kind++) {
		size_t len = strlen(graph_kind_names[kind]);

		ret_asks[kind] = 0;
		for (size_t i = 0; i < job->asks.n; i++)
			if (job->asks.at[i].len == len + 2 && memcmp(job->asks.at[i].data, graph_kind_names[kind], len) == 0)
				ret_asks[kind] = (uint64_t)(job->asks.at[i].data[len + 1] - '0');
	}
}

void job_pools(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->pool = slice_str(graph_pool_names[rand_below(rand, SIM_POOLS)]);
	job->pool_hard = rand_below(rand, 3) == 0;
}

void job_affinity(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	static const char *const workers[] = { "w0", "w1", "w2", "w3" };
	struct slice *prefer = arena_zalloc(&graph->arena, 1, sizeof(*prefer));

	(void)index;
	switch (rand_below(rand, 5)) {
	case 0:
		*prefer = slice_str(graph_label_names[rand_below(rand, SIM_LABELS)]);
		job->prefer = (struct slice_list){ prefer, 1 };
		break;
	case 1:
		job->prefer_worker = slice_str(workers[rand_below(rand, 4)]);
		break;
	case 2:
		job->only_worker = slice_str(workers[rand_below(rand, 4)]);
		break;
	default:
		job->affinity = 1 + rand_below(rand, 2);
		job->affinity_hard = rand_below(rand, 3) == 0;
	}
}

void graph_tenants(struct rand_state *rand, struct sim_graph *graph)
{
	graph->tenant = 1 + (uint32_t)rand_below(rand, 3);
}

void graph_bounds(struct rand_state *rand, struct sim_graph *graph)
{
	graph->max_jobs = 1 + (uint32_t)rand_below(rand, 4);
}

/* Make fan-outs of neighbouring jobs, some with a limit of active jobs, some that fail fast. */
void graph_groups(struct rand_state *rand, struct sim_graph *graph)
{
	for (uint32_t first = 0; first < graph->count; first++) {
		uint32_t size = 2 + (uint32_t)rand_below(rand, 8);
		uint64_t parallel = rand_below(rand, 3) ? 1 + rand_below(rand, 3) : 0;
		bool fail_fast = rand_below(rand, 3) == 0;

		if (rand_below(rand, 8) || first + size > graph->count)
			continue;
		for (uint32_t i = first; i < first + size; i++) {
			graph->jobs[i].group = first + 1;
			graph->jobs[i].group_parallel = parallel;
			graph->jobs[i].group_fail_fast = fail_fast;
		}
		first += size;
	}
}

/*
 * Let half of the runs belong to a stranger. The descriptions of their jobs say so, too, because the oracle knows a job only by
 * its specification. Sub-runs, and jobs that are added to a run, have the owner of that run.
 */
void graph_strangers(struct rand_state *rand, struct sim_graph *graph)
{
	graph->stranger = graph->into ? graph->into->stranger : graph->within > 0 || rand_below(rand, 2);
	for (uint32_t i = 0; graph->stranger && i < graph->count; i++)
		graph->jobs[i].description = slice_str("stranger");
}
