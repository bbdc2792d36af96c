/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dependencies, priorities, modes, retries and time limits of jobs. */
#include "sim.h"

void job_needs(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	uint32_t want = index ? (uint32_t)rand_below(rand, index > 4 ? 4 : index + 1) : 0;
	uint64_t *needs = arena_zalloc(&graph->arena, want + 1, sizeof(*needs));
	uint64_t *triggers = arena_zalloc(&graph->arena, want + 1, sizeof(*triggers));
	bool plain = true;
	size_t n = 0;

	for (uint32_t parent = 0; parent < index && n < want; parent++) {
		if (rand_below(rand, index - parent) >= want - n)
			continue;
		needs[n] = parent;
		triggers[n] = rand_below(rand, 6) ? TRIGGER_OK : TRIGGER_FAILED + rand_below(rand, 2);
		plain = plain && triggers[n] == TRIGGER_OK;
		n++;
	}
	job->needs.at = needs;
	job->needs.n = n;
	job->triggers.at = triggers;
	job->triggers.n = plain ? 0 : n;
}

void job_priorities(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->priority = 1 + rand_below(rand, 101);
}

void job_only_once(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)rand;
	(void)graph;
	(void)index;
	job->mode = EXEC_ONCE;
}

void job_modes(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->mode = rand_below(rand, EXEC_MODE_COUNT);
	if (job->mode == EXEC_RETRY && job->locks.n > 0)
		job->mode = EXEC_EXCLUSIVE;
}

/* This feature must come after `modes`, because a job with mode `once` has no retries. */
void job_retries(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	if (job->mode != EXEC_ONCE && job->argv.n)
		job->retry_max = rand_below(rand, 4);
}

void job_timeouts(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->timeout_ms = 1 + rand_below(rand, 3000);
}

void job_delays(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->delay_ms = 1 + rand_below(rand, 8000);
}

void job_deadlines(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	if (rand_below(rand, 4))
		job->deadline_ms = 1 + rand_below(rand, rand_below(rand, 2) ? 60000 : 4000);
	else
		job->deadline_at_ms = WALL_START_MS + (int64_t)rand_below(rand, 200000);
}

void job_dispatch(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->dispatch_timeout_ms = 1 + rand_below(rand, 20000);
}

void job_not_before(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->not_before_ms = WALL_START_MS + (int64_t)rand_below(rand, 200000);
}
