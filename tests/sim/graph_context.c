/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The working directory and the environment that all jobs of a graph share. */
#include "sim.h"

#include <stdio.h>

void graph_contexts(struct rand_state *rand, struct sim_graph *graph)
{
	struct slice *env = arena_zalloc(&graph->arena, 1, sizeof(*env));
	struct rec_run_context context = { .dir = slice_str("/shared"), .env = { env, 1 } };
	struct buf bytes = { 0 };
	char text[32];

	/* Each graph has another context. */
	snprintf(text, sizeof(text), "GRAPH=%llx", (unsigned long long)rand_next(rand));
	env[0] = arena_copy(&graph->arena, slice_str(text));
	record_encode(&bytes, REC_run_context, &context);
	graph->context = arena_copy(&graph->arena, buf_slice(&bytes));
	buf_free(&bytes);
}
