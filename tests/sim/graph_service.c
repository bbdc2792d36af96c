/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services: jobs that are meant to stay up. At least one other job of the run isn't one, and no job waits for their end. */
#include "sim.h"

#include "proto/spec.h"

static void strip(struct rec_job_spec *job)
{
	static const size_t sizes[] = {
		[TYPE_U64] = sizeof(uint64_t), [TYPE_I64] = sizeof(int64_t), [TYPE_BOOL] = sizeof(bool),
		[TYPE_STR] = sizeof(struct slice), [TYPE_BIN] = sizeof(struct slice), [TYPE_U64S] = sizeof(struct u64_list),
		[TYPE_STRS] = sizeof(struct slice_list),
	};

	for (size_t i = 0; i < setting_count; i++)
		if (!(setting_table[i].kinds & FOR_SERVICE))
			memset((uint8_t *)job + setting_table[i].offset, 0, sizes[setting_table[i].type]);
}

static bool is_needed(const struct sim_graph *graph, uint32_t index)
{
	for (uint32_t i = 0; i < graph->count; i++)
		for (size_t n = 0; n < graph->jobs[i].needs.n; n++)
			if (graph->jobs[i].needs.at[n] == index)
				return true;
	return false;
}

/* The first job stays what it is, so that the run has work. */
static bool may_serve(const struct sim_graph *graph, uint32_t index)
{
	const struct rec_job_spec *job = &graph->jobs[index];

	return index > 0 && job->kind == 0 && job->argv.n > 0 && job->sub_count == 0 && job->gate_count == 0 && job->group == 0 &&
	       job->outputs.n == 0 && job->takes.n == 0 && job->always == 0 && !job->final && job->deadline_ms == 0 &&
	       job->deadline_at_ms == 0 && !is_needed(graph, index);
}

void graph_services(struct rand_state *rand, struct sim_graph *graph)
{
	static const uint64_t codes[] = { 0, 3 };

	if (graph->jobs[0].final || graph->jobs[0].kind != 0)
		return;
	for (uint32_t i = 0; i < graph->count; i++) {
		struct rec_job_spec *job = &graph->jobs[i];

		if (!may_serve(graph, i) || rand_below(rand, 3) == 0)
			continue;
		strip(job);
		job->kind = KIND_SERVICE;
		if (job->mode == EXEC_ONCE)
			job->mode = EXEC_EXCLUSIVE;
		job->restart = rand_below(rand, 4) ? RESTART_ALWAYS : rand_below(rand, 3);
		job->restart_wait_ms = rand_below(rand, 2) ? 1 + rand_below(rand, 3000) : 0;
		if (job->restart_wait_ms > 0 && rand_below(rand, 2))
			job->restart_wait_max_ms = job->restart_wait_ms * (1 + rand_below(rand, 8));
		job->stable_ms = rand_below(rand, 3) ? 1 + rand_below(rand, 5000) : 0;
		if (rand_below(rand, 5) == 0)
			job->restart_never = (struct u64_list){ (uint64_t *)(uintptr_t)(codes + rand_below(rand, 2)), 1 };
		job->loop_ends = rand_below(rand, 2) ? 2 + rand_below(rand, 4) : 0;
		job->loop_ms = rand_below(rand, 2) ? 1 + rand_below(rand, 60000) : 0;
	}
}
