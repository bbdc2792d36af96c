/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where jobs may run, and how many at once. */
#include "sim.h"

const char *const graph_label_names[SIM_LABELS] = { "disk", "gpu", "net" };

void job_labels(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *labels = arena_zalloc(&graph->arena, SIM_LABELS, sizeof(*labels));

	(void)index;
	job->labels.at = labels;
	for (size_t i = 0; i < SIM_LABELS; i++)
		if (rand_below(rand, 3) == 0)
			labels[job->labels.n++] = slice_str(graph_label_names[SIM_LABELS - 1 - i]);
}

void graph_tenants(struct rand_state *rand, struct sim_graph *graph)
{
	graph->tenant = 1 + (uint32_t)rand_below(rand, 3);
}

void graph_bounds(struct rand_state *rand, struct sim_graph *graph)
{
	graph->max_jobs = 1 + (uint32_t)rand_below(rand, 4);
}

/* Fan-outs of neighbours, some with bounds. */
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
