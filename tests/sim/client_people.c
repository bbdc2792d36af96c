/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What people do to runs and jobs at random, and how they settle, approve and release everything after the faults
 * have stopped.
 */
#include "sim.h"

static const struct rec_job_spec *some_job(struct sim_world *world, const struct sim_graph *graph)
{
	return &graph->jobs[world_rand(world, graph->count)];
}

bool person_cancel(struct sim_world *world, const struct sim_graph *graph)
{
	const struct rec_job_spec *job = world_chance(world, 500) ? some_job(world, graph) : NULL;

	client_act(world, graph, ACT_CANCEL, world_chance(world, 150) ? CANCEL_ALL : CANCEL_FIRST, job, 1);
	if (!job && world_chance(world, 100))
		client_act(world, graph, ACT_CANCEL, CANCEL_FIRST, NULL, 1);
	return true;
}

bool person_priority(struct sim_world *world, const struct sim_graph *graph)
{
	if (world->fair)
		return false;
	client_act(world, graph, ACT_PRIORITY, world_rand(world, 101),
		   world_chance(world, 700) ? some_job(world, graph) : NULL, 1);
	return true;
}

bool person_hold(struct sim_world *world, const struct sim_graph *graph)
{
	client_act(world, graph, ACT_HOLD, 0, world_chance(world, 700) ? some_job(world, graph) : NULL, 1);
	return true;
}

bool person_release(struct sim_world *world, const struct sim_graph *graph)
{
	client_act(world, graph, ACT_RELEASE, 0, world_chance(world, 500) ? some_job(world, graph) : NULL, 1);
	return true;
}

bool person_retry(struct sim_world *world, const struct sim_graph *graph)
{
	if (world_chance(world, 333))
		client_act(world, graph, ACT_RETRY, world_chance(world, 500) ? RETRY_FROM : RETRY_ONLY,
			   some_job(world, graph), 1);
	else
		client_act(world, graph, ACT_RETRY, world_chance(world, 700) ? RETRY_FAILED : RETRY_ALL, NULL, 1);
	return true;
}

bool person_answer(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++) {
		if (!oracle_job_asks(world, graph, i))
			continue;
		client_answer(world, graph, world_chance(world, 200) ? ACT_REJECT : ACT_APPROVE, i, world_chance(world, 150),
			      NULL, 1 + world_rand(world, SIM_PEOPLE));
		return true;
	}
	return false;
}

/* Push a gate back, mostly to one of its parents, else to any job before it. Some people send the request twice. */
bool person_push_back(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 1; i < graph->count; i++) {
		const struct rec_job_spec *gate = &graph->jobs[i], *target;
		uint64_t person = 1 + world_rand(world, SIM_PEOPLE);

		if (!oracle_job_asks(world, graph, i))
			continue;
		target = &graph->jobs[world_rand(world, i)];
		if (gate->needs.n && world_chance(world, 800)) {
			uint64_t need = gate->needs.at[world_rand(world, gate->needs.n)];
			const struct sim_parent *parent = need < graph->count ? NULL : &graph->parents[need - graph->count];

			target = parent ? &parent->graph->jobs[parent->index] : &graph->jobs[need];
		}
		client_answer(world, graph, ACT_PUSHBACK, i, world_chance(world, 100), target, person);
		if (world_chance(world, 200))
			client_answer(world, graph, ACT_PUSHBACK, i, true, target, person);
		return true;
	}
	return false;
}

bool person_settle(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++) {
		if (!oracle_job_unknown(world, graph, i))
			continue;
		if (world_chance(world, 150))
			client_act(world, graph, ACT_CANCEL, 0, &graph->jobs[i], 1);
		else
			client_act(world, graph, ACT_SETTLE, world_chance(world, 500) ? 2 : world_rand(world, 2),
				   &graph->jobs[i], 1);
		return true;
	}
	return false;
}

void tidy_unknown(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		if (oracle_job_unknown(world, graph, i))
			client_act(world, graph, ACT_SETTLE, world_rand(world, 2), &graph->jobs[i], 1);
}

/* Everybody approves. Of a gate with fields an earlier vote says which values fit, so each person tries both. */
void tidy_gates(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		for (uint64_t person = 1; oracle_job_asks(world, graph, i) && person <= SIM_PEOPLE; person++) {
			bool asked = graph->jobs[i].gate_fields.n > 0;

			client_answer_given(world, graph, ACT_APPROVE, i, false, NULL, person, asked ? SIM_GIVEN_A : SIM_GIVEN_NONE);
			if (asked)
				client_answer_given(world, graph, ACT_APPROVE, i, false, NULL, person, SIM_GIVEN_B);
		}
}

void tidy_held(struct sim_world *world, const struct sim_graph *graph)
{
	if (oracle_run_held(world, graph->run))
		client_act(world, graph, ACT_RELEASE, 0, NULL, 1);
	for (uint32_t i = 0; i < graph->count; i++)
		if (oracle_job_held(world, graph, i))
			client_act(world, graph, ACT_RELEASE, 0, &graph->jobs[i], 1);
}
