/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where jobs run. */
#include "oracle.h"

static void place_start(struct sim_world *world, const struct oracle_start *start)
{
	for (size_t i = 0; i < start->spec->labels.n; i++)
		for (unsigned bit = 0; bit < SIM_LABELS; bit++)
			if (slice_eq(start->spec->labels.at[i], slice_str(graph_label_names[bit])) &&
			    !(start->worker->labels >> bit & 1))
				world_fail(world, "job %u starts on %s, which lacks a label", (unsigned)start->job->job,
					   start->worker->name);
}

const struct oracle_check oracle_place = { .start = place_start };
