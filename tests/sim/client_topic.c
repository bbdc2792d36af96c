/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people say about pools: what they provide, and which topics lead to them. */
#include "sim.h"

bool person_provide(struct sim_world *world, const struct sim_graph *graph)
{
	(void)graph;
	client_set_number(world, OBJECT_POOL, SET_PUT, (uint32_t)world_rand(world, SIM_POOLS), world_rand(world, 1 << SIM_CAPABILITIES));
	return true;
}

bool person_topic(struct sim_world *world, const struct sim_graph *graph)
{
	(void)graph;
	client_set_number(world, OBJECT_TOPIC, world_chance(world, 800) ? SET_PUT : SET_REMOVE, (uint32_t)world_rand(world, SIM_PATTERNS),
			  world_rand(world, SIM_POOLS));
	return true;
}

void tidy_provides(struct sim_world *world, const struct sim_graph *graph)
{
	unsigned all = (1 << SIM_CAPABILITIES) - 1;

	(void)graph;
	for (uint32_t i = 0; i < SIM_POOLS; i++)
		if (world->oracle.provides[i] != all)
			client_set_number(world, OBJECT_POOL, SET_PUT, i, all);
}
