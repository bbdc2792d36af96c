/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates: jobs that ask people for approval. */
#include "sim.h"

void job_gates(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *from = arena_zalloc(&graph->arena, SIM_PEOPLE, sizeof(*from));

	(void)index;
	job->gate_count = 1 + rand_below(rand, 2);
	if (rand_below(rand, 2)) {
		job->argv.n = job->outputs.n = job->takes.n = job->inputs.len = 0;
		job->retry_max = 0;
	}
	if (rand_below(rand, 2)) {
		job->gate_timeout_ms = 1 + rand_below(rand, 60000);
		job->gate_expiry = rand_below(rand, 2);
	}
	switch (rand_below(rand, 6)) {
	case 0:
		for (size_t i = 0; i < 3; i++)
			from[i] = slice_str(graph_people[i]);
		job->gate_from.at = from;
		job->gate_from.n = 3;
		break;
	case 1:                          /* the same people, as one team, or as a person and a team */
		from[0] = slice_str("@" SIM_TEAM);
		from[1] = slice_str(graph_people[1]);
		job->gate_from.at = from;
		job->gate_from.n = 1 + rand_below(rand, 2);
		break;
	}
}
