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
	size_t cursor = 0;
	uint64_t run, out = 0;
	void *value;

	(void)job;
	if (!given || given->tenant == 0)
		return;
	while (map_next(&world->oracle.runs, &cursor, &run, &value)) {
		const struct sim_graph *graph = value;
		const struct row *row = disk_get(&world->disk, TABLE_run, run);

		for (uint32_t i = 0; row && graph->tenant == given->tenant && i < graph->count; i++)
			out += holds(oracle_job(world, (uint64_t)row->run.first + i)->decided);
	}
	if (out > given->tenant)
		world_fail(world, "%u jobs of tenant t%u are out", (unsigned)out, given->tenant);
}

const struct oracle_check oracle_share = { .given = share_given };
