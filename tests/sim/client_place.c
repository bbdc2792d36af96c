/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people do to workers, pools and tenants, and how they take it back after the faults have stopped. */
#include "sim.h"

bool person_worker(struct sim_world *world, const struct sim_graph *graph)
{
	static const enum set_verb verbs[] = { SET_PAUSE, SET_PAUSE, SET_DRAIN, SET_DRAIN, SET_RESUME, SET_REMOVE };

	(void)graph;
	client_set(world, OBJECT_WORKER, verbs[world_rand(world, sizeof(verbs) / sizeof(verbs[0]))],
		   (uint32_t)world_rand(world, world->worker_count));
	return true;
}

/*
 * Set or remove a tenant: its weight, and its limits of active and of queued jobs. The limit of queued jobs is
 * drawn from a hash, not from the world's random numbers, so that it doesn't change the rest of the schedule. In a
 * world that checks shares (fair) only weights are set.
 */
bool person_tenant(struct sim_world *world, const struct sim_graph *graph)
{
	uint64_t weight = 1 + world_rand(world, 4), limit = world->fair ? 0 : world_rand(world, 5);
	uint64_t lot = hash_u64(world->seed * 31 + world->act_count);

	(void)graph;
	if (!(world->features >> FEATURE_tenants & 1))
		return false;
	client_set_number(world, OBJECT_TENANT, world_chance(world, 800) ? SET_PUT : SET_REMOVE,
			  (uint32_t)world_rand(world, SIM_TENANTS),
			  TENANT_NUMBER(weight, limit, lot % 2 || world->fair ? 0 : 1 + lot / 2 % 40));
	return true;
}

/* Remove the tenants' limits of queued jobs, so that the master accepts the graphs that it refused so far. */
void client_admit_all(struct sim_world *world)
{
	for (uint32_t i = 0; i < SIM_TENANTS; i++) {
		const struct oracle_tenant *tenant = &world->oracle.tenants[i];

		if (tenant->most > 0)
			client_set_number(world, OBJECT_TENANT, SET_PUT, i, TENANT_NUMBER(tenant->weight, tenant->limit, 0));
	}
}

bool person_pool(struct sim_world *world, const struct sim_graph *graph)
{
	static const enum set_verb verbs[] = { SET_PAUSE, SET_DRAIN, SET_RESUME, SET_RESUME };

	(void)graph;
	client_set(world, OBJECT_POOL, verbs[world_rand(world, sizeof(verbs) / sizeof(verbs[0]))],
		   (uint32_t)world_rand(world, SIM_POOLS));
	return true;
}

void tidy_workers(struct sim_world *world, const struct sim_graph *graph)
{
	(void)graph;
	for (uint32_t i = 0; i < world->worker_count; i++)
		if (world->oracle.workers[i].standing != STANDING_NONE)
			client_set(world, OBJECT_WORKER, SET_RESUME, i);
	for (uint32_t i = 0; i < SIM_POOLS; i++)
		if (world->oracle.pools[i] != POOL_ACTIVE)
			client_set(world, OBJECT_POOL, SET_RESUME, i);
}

void tidy_hopeless(struct sim_world *world, const struct sim_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		if (oracle_job_hopeless(world, graph, i))
			client_act(world, graph, ACT_CANCEL, 0, &graph->jobs[i], 1);
}
