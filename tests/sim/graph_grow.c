/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs that are added to a run: some of their jobs need jobs of that run. And final jobs, which also wait for
 * jobs that are added.
 */
#include "sim.h"

#include "proto/spec.h"

#define PARENTS 6

static void take_parent(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint64_t need)
{
	size_t n = job->needs.n;
	uint64_t *needs = arena_zalloc(&graph->arena, n + 1, sizeof(*needs));
	uint64_t *triggers = arena_zalloc(&graph->arena, n + 1, sizeof(*triggers));

	for (size_t i = 0; i < n; i++) {
		if (job->needs.at[i] == need)
			return;
		needs[i] = job->needs.at[i];
		triggers[i] = job->triggers.n ? job->triggers.at[i] : TRIGGER_OK;
	}
	needs[n] = need;
	triggers[n] = rand_below(rand, 3) ? TRIGGER_OK : TRIGGER_FAILED + rand_below(rand, 2);
	job->needs = (struct u64_list){ .at = needs, .n = n + 1 };
	job->triggers = (struct u64_list){ .at = triggers, .n = n + 1 };
}

static bool is_parent(const struct sim_graph *graph, const struct sim_parent *parent)
{
	for (uint32_t i = 0; i < graph->parent_count; i++)
		if (graph->parents[i].graph == parent->graph && graph->parents[i].index == parent->index)
			return true;
	return false;
}

void graph_take_parents(struct rand_state *rand, struct sim_graph *graph, struct sim_graph *const *others,
			size_t other_count)
{
	size_t want = rand_below(rand, PARENTS + 1);

	graph->parents = arena_zalloc(&graph->arena, PARENTS, sizeof(*graph->parents));
	while (want-- > 0) {
		struct sim_parent parent = { .graph = others[rand_below(rand, other_count)] };

		parent.index = (uint32_t)rand_below(rand, parent.graph->count);
		/* Only final jobs may wait for services. */
		if (!is_parent(graph, &parent) && parent.graph->jobs[parent.index].kind != KIND_SERVICE)
			graph->parents[graph->parent_count++] = parent;
	}
	for (uint32_t i = 0; i < graph->count && graph->parent_count > 0; i++)
		for (unsigned more = (unsigned)rand_below(rand, 3); more > 0; more--)
			take_parent(rand, graph, &graph->jobs[i], graph->count + rand_below(rand, graph->parent_count));
}

static void run_in_any_case(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job)
{
	uint64_t *triggers = arena_zalloc(&graph->arena, job->needs.n + 1, sizeof(*triggers));

	job->always = rand_below(rand, 2) ? ALWAYS_RUN : ALWAYS_PAST_DEADLINE;
	if (job->needs_code.len > 0 || job->when_code.len > 0)
		return;
	for (size_t i = 0; i < job->needs.n; i++)
		triggers[i] = TRIGGER_DONE;
	job->triggers = (struct u64_list){ .at = triggers, .n = job->needs.n };
}

/*
 * Make the last job of a run a final job. Without a condition it also needs all other jobs. Some of the other jobs get
 * `always`: they run even if their run is told to end.
 */
void graph_finals(struct rand_state *rand, struct sim_graph *graph)
{
	struct rec_job_spec *last = &graph->jobs[graph->count - 1];
	uint64_t *needs = arena_zalloc(&graph->arena, graph->count, sizeof(*needs));
	uint64_t *triggers = arena_zalloc(&graph->arena, graph->count, sizeof(*triggers));

	for (uint32_t i = 0; i + 1 < graph->count; i++)
		if (rand_below(rand, 4) == 0)
			run_in_any_case(rand, graph, &graph->jobs[i]);
	if (graph->into || graph->count < 2)
		return;
	last->final = true;
	last->always = rand_below(rand, 2) ? ALWAYS_RUN : ALWAYS_PAST_DEADLINE;
	if (last->needs_code.len > 0 || last->when_code.len > 0)
		return;
	for (uint32_t i = 0; i + 1 < graph->count; i++) {
		needs[i] = i;
		triggers[i] = TRIGGER_DONE;
	}
	last->needs = (struct u64_list){ .at = needs, .n = graph->count - 1 };
	last->triggers = (struct u64_list){ .at = triggers, .n = graph->count - 1 };
}
