/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What jobs and runs of different graphs share: concurrency groups and locks, and what people do to both. */
#include "sim.h"

#include <stdio.h>

const char *const graph_group_names[SIM_GROUPS] = { "ga", "gb", "gc" };

/* Name concurrency groups, often the same ones as the job before, so that jobs compete. */
void job_concurrency(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *texts = arena_zalloc(&graph->arena, SIM_GROUPS, sizeof(*texts));
	char text[32];

	if (index > 0 && graph->jobs[index - 1].concurrency.n > 0 && rand_below(rand, 2)) {
		job->concurrency = graph->jobs[index - 1].concurrency;
		return;
	}
	job->concurrency.at = texts;
	for (unsigned i = SIM_GROUPS; i-- > 0;) {
		if (rand_below(rand, 2))
			continue;
		snprintf(text, sizeof(text), rand_below(rand, 3) ? "%s" : "%s=%u", graph_group_names[i],
			 1 + (unsigned)rand_below(rand, 4));
		texts[job->concurrency.n++] = arena_copy(&graph->arena, slice_str(text));
	}
}

bool graph_names_group(const struct rec_job_spec *job, unsigned group, uint32_t *ret_states)
{
	for (size_t i = 0; i < job->concurrency.n; i++) {
		struct slice text = job->concurrency.at[i];

		if (memcmp(text.data, graph_group_names[group], 2) != 0)
			continue;
		*ret_states = text.len > 2 ? (uint32_t)(text.data[3] - '0') : 0;
		return true;
	}
	return false;
}

void graph_run_concurrency(struct rand_state *rand, struct sim_graph *graph)
{
	graph->group = 1 + (unsigned)rand_below(rand, SIM_GROUPS);
	graph->group_states = (uint32_t)rand_below(rand, 4);
}

bool person_group(struct sim_world *world, const struct sim_graph *graph)
{
	(void)graph;
	client_set_number(world, OBJECT_GROUP, world_chance(world, 300) ? SET_REMOVE : SET_PUT,
			  (uint32_t)world_rand(world, SIM_GROUPS), 1 + world_rand(world, 4));
	return true;
}


const char *const graph_lock_names[SIM_LOCKS] = { "la", "lb", "lc" };
const char *const graph_owner_names[SIM_OWNERS] = { "oa", "ob" };

/*
 * This feature must come before `modes`: a job with locks may not have mode `retry`, in which two attempts could
 * run at once.
 */
void job_locks(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *texts = arena_zalloc(&graph->arena, SIM_LOCKS, sizeof(*texts));
	char text[32];

	(void)index;
	job->locks.at = texts;
	for (unsigned i = 0; i < SIM_LOCKS; i++) {
		if (rand_below(rand, 3))
			continue;
		snprintf(text, sizeof(text), "%s%s", graph_lock_names[i], rand_below(rand, 5) < 3 ? "=shared" : "");
		texts[job->locks.n++] = arena_copy(&graph->arena, slice_str(text));
	}
	if (job->mode == EXEC_RETRY && job->locks.n > 0)
		job->mode = EXEC_EXCLUSIVE;
}

bool graph_names_lock(const struct rec_job_spec *job, unsigned lock, bool *ret_shared)
{
	for (size_t i = 0; i < job->locks.n; i++) {
		if (memcmp(job->locks.at[i].data, graph_lock_names[lock], 2) != 0)
			continue;
		*ret_shared = job->locks.at[i].len > 2;
		return true;
	}
	return false;
}

bool person_lock(struct sim_world *world, const struct sim_graph *graph)
{
	uint64_t ttl_ms = world_chance(world, 600) ? 1 + world_rand(world, 60000) : 0;

	(void)graph;
	client_set_number(world, OBJECT_LOCK, world_chance(world, 350) ? SET_DROP : SET_TAKE,
			  (uint32_t)world_rand(world, SIM_LOCKS),
			  LOCK_NUMBER(world_rand(world, SIM_OWNERS), world_rand(world, 2), ttl_ms));
	return true;
}

void tidy_locks(struct sim_world *world, const struct sim_graph *graph)
{
	(void)graph;
	for (uint32_t lock = 0; lock < SIM_LOCKS; lock++)
		for (unsigned owner = 0; owner < SIM_OWNERS; owner++)
			if (world->oracle.holds[lock][owner].fence && world->oracle.holds[lock][owner].ttl_ms == 0)
				client_set_number(world, OBJECT_LOCK, SET_DROP, lock, LOCK_NUMBER(owner, 0, 0));
}
