/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs without a process (noops): joins and milestones. */
#include "sim.h"

#include "proto/spec.h"

/* Clear every setting that a noop may not have, by the table of settings. */
static void strip(struct rec_job_spec *job)
{
	static const size_t sizes[] = {
		[TYPE_U64] = sizeof(uint64_t), [TYPE_I64] = sizeof(int64_t), [TYPE_BOOL] = sizeof(bool),
		[TYPE_STR] = sizeof(struct slice), [TYPE_BIN] = sizeof(struct slice), [TYPE_U64S] = sizeof(struct u64_list),
		[TYPE_STRS] = sizeof(struct slice_list),
	};

	for (size_t i = 0; i < setting_count; i++)
		if (!(setting_table[i].kinds & KIND_BIT(KIND_NOOP)))
			memset((uint8_t *)job + setting_table[i].offset, 0, sizes[setting_table[i].type]);
}

void graph_noops(struct rand_state *rand, struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++) {
		if (rand_below(rand, 6))
			continue;
		strip(&graph->jobs[i]);
		graph->jobs[i].kind = KIND_NOOP;
		if (graph->jobs[i].needs.n > 0 && graph->jobs[i].needs.at[0] < graph->count)
			job_computes(rand, graph, &graph->jobs[i], &graph->jobs[graph->jobs[i].needs.at[0]]);
	}
}
