/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random graphs, most of them valid, with every feature that a specification can ask for. */
#include "sim.h"

#include <stdio.h>

#include "base/mem.h"

static void job_needs(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
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

/* Fan-outs of neighbours, some with bounds. */
static void graph_groups(struct rand_state *rand, struct sim_graph *graph)
{
	for (uint32_t first = 0; first < graph->count; first++) {
		uint32_t size = 2 + (uint32_t)rand_below(rand, 8);
		uint64_t parallel = rand_below(rand, 3) ? 1 + rand_below(rand, 3) : 0;
		bool fail_fast = rand_below(rand, 3) == 0;

		if (rand_below(rand, 8) || first + size > graph->count)
			continue;
		for (uint32_t i = first; i < first + size; i++) {
			graph->jobs[i].group = first + 1;
			graph->jobs[i].group_parallel = parallel;
			graph->jobs[i].group_fail_fast = fail_fast;
		}
		first += size;
	}
}

/* A chain through the whole graph closed behind itself, or a parent that doesn't exist. */
static void graph_spoil(struct rand_state *rand, struct sim_graph *graph)
{
	struct rec_job_spec *first = &graph->jobs[0];
	uint64_t *needs = arena_zalloc(&graph->arena, 1, sizeof(*needs));

	graph->invalid = true;
	needs[0] = graph->count;
	if (graph->count > 1 && rand_below(rand, 2)) {
		uint64_t *back = arena_zalloc(&graph->arena, 1, sizeof(*back));

		back[0] = 0;
		graph->jobs[graph->count - 1].needs.at = back;
		graph->jobs[graph->count - 1].needs.n = 1;
		graph->jobs[graph->count - 1].triggers.n = 0;
		needs[0] = graph->count - 1;
	}
	first->needs.at = needs;
	first->needs.n = 1;
}

static void graph_encode(struct sim_graph *graph)
{
	struct buf bytes = { 0 };
	uint64_t hash;

	for (uint32_t i = 0; i < graph->count; i++)
		record_encode(&bytes, REC_job_spec, &graph->jobs[i]);
	graph->body = blob_make(buf_slice(&bytes));
	for (size_t i = 0; i < sizeof(graph->digest); i += 8) {
		hash = hash_bytes(bytes.data, bytes.len, i);
		memcpy(graph->digest + i, &hash, 8);
	}
	buf_free(&bytes);
}

const char *const graph_people[SIM_PEOPLE] = { "sim", "ana", "ben", "cem" };

static void job_gate(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job)
{
	struct slice *from = arena_zalloc(&graph->arena, SIM_PEOPLE, sizeof(*from));

	job->gate_count = 1 + rand_below(rand, 2);
	if (rand_below(rand, 2)) {
		job->argv.n = 0;
		job->retry_max = 0;
	}
	if (rand_below(rand, 2)) {
		job->gate_timeout_ms = 1 + rand_below(rand, 60000);
		job->gate_expiry = rand_below(rand, 2);
	}
	if (rand_below(rand, 3) == 0) {
		for (size_t i = 0; i < 3; i++)
			from[i] = slice_str(graph_people[i]);
		job->gate_from.at = from;
		job->gate_from.n = 3;
	}
}

const char *const graph_labels[SIM_LABELS] = { "disk", "gpu", "net" };

static void job_labels(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job)
{
	struct slice *labels = arena_zalloc(&graph->arena, SIM_LABELS, sizeof(*labels));

	job->labels.at = labels;
	for (size_t i = 0; i < SIM_LABELS; i++)
		if (rand_below(rand, 3) == 0)
			labels[job->labels.n++] = slice_str(graph_labels[SIM_LABELS - 1 - i]);
}

static void job_stages(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job)
{
	if (rand_below(rand, 5) == 0)
		job_labels(rand, graph, job);
	if (rand_below(rand, 10) == 0)
		job->delay_ms = 1 + rand_below(rand, 8000);
	if (rand_below(rand, 20) == 0)
		job->not_before_ms = WALL_START_MS + (int64_t)rand_below(rand, 200000);
	if (rand_below(rand, 10) == 0)
		job_gate(rand, graph, job);
}

struct sim_graph *graph_make(struct rand_state *rand, uint64_t number, uint32_t most)
{
	static const char *const argv_true[] = { "true" };
	struct sim_graph *graph = mem_zalloc(sizeof(*graph));
	struct slice *argv = arena_zalloc(&graph->arena, 1, sizeof(*argv));

	*argv = slice_str(argv_true[0]);
	for (size_t i = 0; i < sizeof(graph->key); i += 8) {
		uint64_t part = rand_next(rand);

		memcpy(graph->key + i, &part, 8);
	}
	snprintf(graph->name, sizeof(graph->name), "graph-%u", (unsigned)number);
	graph->count = 1 + (uint32_t)rand_below(rand, most);
	graph->jobs = arena_zalloc(&graph->arena, graph->count, sizeof(*graph->jobs));
	for (uint32_t i = 0; i < graph->count; i++) {
		struct rec_job_spec *job = &graph->jobs[i];
		char name[16];

		snprintf(name, sizeof(name), "j%u", i);
		job->name = arena_copy(&graph->arena, slice_str(name));
		job->argv.at = argv;
		job->argv.n = 1;
		job->priority = rand_below(rand, 4) ? 0 : 1 + rand_below(rand, 101);
		job->retry_max = rand_below(rand, 3) ? 0 : rand_below(rand, 4);
		job->mode = rand_below(rand, 3) ? EXEC_RETRY : rand_below(rand, EXEC_MODE_COUNT);
		if (job->mode == EXEC_ONCE)
			job->retry_max = 0;
		job->timeout_ms = rand_below(rand, 5) ? 0 : 1 + rand_below(rand, 3000);
		job_needs(rand, graph, job, i);
		job_stages(rand, graph, job);
	}
	graph->max_jobs = rand_below(rand, 3) ? 0 : 1 + (uint32_t)rand_below(rand, 4);
	graph_groups(rand, graph);
	if (rand_below(rand, 16) == 0)
		graph_spoil(rand, graph);
	graph_encode(graph);
	return graph;
}

void graph_free(struct sim_graph *graph)
{
	if (!graph)
		return;
	blob_release(graph->body);
	arena_free(&graph->arena);
	mem_free(graph);
}
