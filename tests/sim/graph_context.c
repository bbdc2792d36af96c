/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The working directory, perhaps that of a machine, and the environment that all jobs of a graph share. */
#include "sim.h"

#include <stdio.h>

const char *const graph_machine_names[SIM_MACHINES] = { "m1", "m2" };

void graph_contexts(struct rand_state *rand, struct sim_graph *graph)
{
	struct slice *env = arena_zalloc(&graph->arena, 1, sizeof(*env));
	struct rec_run_context context = { .env = { env, 1 } };
	struct buf bytes = { 0 };
	char text[32];

	/* Each graph has another context. */
	snprintf(text, sizeof(text), "GRAPH=%llx", (unsigned long long)rand_next(rand));
	env[0] = arena_copy(&graph->arena, slice_str(text));
	/* Half of the graphs are submitted in a directory of one of two machines, and run there. */
	graph->machine = (uint32_t)rand_below(rand, 4);
	if (graph->machine > SIM_MACHINES)
		graph->machine = 0;
	if (graph->machine > 0) {
		context.machine = slice_str(graph_machine_names[graph->machine - 1]);
		context.here_dir = slice_str("/here");
	} else {
		context.dir = slice_str("/shared");
	}
	record_encode(&bytes, REC_run_context, &context);
	graph->context = arena_copy(&graph->arena, buf_slice(&bytes));
	buf_free(&bytes);
}
