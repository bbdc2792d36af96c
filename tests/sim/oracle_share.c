/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs share: no tenant has more jobs out than it may. */
#include "oracle.h"

static bool holds(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

static void share_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	const struct sim_graph *given = map_get(&world->oracle.runs, assign->run);
	uint64_t out = 0;

	(void)job;
	if (!given || given->tenant == 0)
		return;
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		for (uint32_t i = 0; graph->first && oracle_root(graph)->tenant == given->tenant && i < graph->count; i++)
			out += !(graph->subs && graph->subs[i]) && holds(oracle_job(world, graph->first + i)->decided);
	}
	if (out > given->tenant)
		world_fail(world, "%u jobs of tenant t%u are out", (unsigned)out, given->tenant);
}

const struct oracle_check oracle_share = { .given = share_given };
