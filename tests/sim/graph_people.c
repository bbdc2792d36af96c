/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates: jobs that ask people for approval. */
#include "sim.h"

void job_gates(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *from = arena_zalloc(&graph->arena, SIM_PEOPLE, sizeof(*from));

	(void)index;
	job->gate_count = 1 + rand_below(rand, 2);
	if (rand_below(rand, 2)) {
		job->argv.n = job->outputs.n = job->artifacts.n = job->takes.n = job->inputs.len = 0;
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

/* Let a gate that runs nothing have fields. One that is approved when it expires has none that must be given. */
void job_wanted_values(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	bool opens = job->gate_timeout_ms > 0 && job->gate_expiry == GATE_APPROVE;

	(void)index;
	if (job->gate_count == 0 || job->argv.n > 0 || rand_below(rand, 3) == 0)
		return;
	job->gate_fields.at = arena_zalloc(&graph->arena, 2, sizeof(struct slice));
	job->gate_fields.at[job->gate_fields.n++] = slice_str(opens ? "ver? enum a|b" : "ver enum a|b");
	job->gate_fields.at[job->gate_fields.n++] = slice_str("n? number");
}

struct slice_list sim_given(enum sim_given given)
{
	static struct slice texts[SIM_GIVEN_COUNT];
	static const char *const words[SIM_GIVEN_COUNT] = { [SIM_GIVEN_A] = "ver=a", [SIM_GIVEN_B] = "ver=b", [SIM_GIVEN_WRONG] = "ver=c" };

	if (given == SIM_GIVEN_NONE || given >= SIM_GIVEN_COUNT)
		return (struct slice_list){ 0 };
	texts[given] = slice_str(words[given]);
	return (struct slice_list){ &texts[given], 1 };
}
