/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows a failure: retry policies, crash limits, and forgiven failures. */
#include "sim.h"

/* This feature must come after `modes`, because a job with mode `once` has no retries. */
void job_retry_policies(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	uint64_t *codes = arena_zalloc(&graph->arena, 5, sizeof(*codes));

	(void)index;
	if (!job->argv.n)
		return;
	if (job->mode != EXEC_ONCE)
		job->retry_max = rand_below(rand, 5);
	if (rand_below(rand, 2))
		job->backoff_ms = 1 + rand_below(rand, 3000);
	if (rand_below(rand, 2))
		job->backoff_max_ms = (job->backoff_ms ? job->backoff_ms : LIMIT_RETRY_BACKOFF_MS) + rand_below(rand, 6000);
	job->backoff_exact = rand_below(rand, 3) == 0;
	job->retry_on = rand_below(rand, RETRY_ON_ALL + 1);
	if (rand_below(rand, 2) && (job->retry_on == 0 || job->retry_on & RETRY_ON_EXIT)) {
		job->retry_codes.at = codes;
		for (uint64_t code = 1; code <= 5; code++)
			if (rand_below(rand, 2))
				codes[job->retry_codes.n++] = code;
	}
}

void job_crash_limits(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	if (job->argv.n)
		job->crash_limit = 1 + rand_below(rand, 4);
}

void job_continue_on(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->continue_on = rand_below(rand, CONTINUE_ALL + 1);
}

void job_worker_deaths(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	if (job->argv.n && rand_below(rand, 2))
		job->worker_death = DEATH_KILL;
}
