/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random graphs, most of them valid, with the features that the schedule drew (graph_TOPIC.c, topics.def). */
#include "sim.h"

#include <stdio.h>

#include "base/mem.h"

struct job_feature {
	unsigned per_mille;
	void (*make)(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index);
};

struct graph_feature {
	unsigned per_mille;
	void (*make)(struct rand_state *rand, struct sim_graph *graph);
};

static const struct job_feature job_features[] = {
#define JOB_FEATURE(name, per_mille, what) { per_mille, job_##name },
#include "topics.def"
#undef JOB_FEATURE
};

static const struct graph_feature graph_features[] = {
#define GRAPH_FEATURE(name, per_mille, what) { per_mille, graph_##name },
#include "topics.def"
#undef GRAPH_FEATURE
};

const char *const graph_people[SIM_PEOPLE] = { "sim", "ana", "ben", "cem" };

/*
 * Make the graph invalid: either the first and the last job need each other, or the first job needs a job that doesn't
 * exist.
 */
static void graph_spoil(struct rand_state *rand, struct sim_graph *graph)
{
	struct rec_job_spec *first = &graph->jobs[0];
	uint64_t *needs = arena_zalloc(&graph->arena, 1, sizeof(*needs));

	graph->invalid = true;
	needs[0] = graph->count + graph->parent_count;
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
	first->triggers.n = 0;
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

static void job_make(struct rand_state *rand, struct sim_graph *graph, uint32_t index, uint64_t features)
{
	static const char *const argv_true[] = { "true" };
	struct slice *argv = arena_zalloc(&graph->arena, 1, sizeof(*argv));
	struct rec_job_spec *job = &graph->jobs[index];
	char name[24];

	/* The name must be unique in the run, so jobs of an added graph carry the number of that graph. */
	if (graph->into)
		snprintf(name, sizeof(name), "%.5s-%u", strchr(graph->name, '-') + 1, index);
	else
		snprintf(name, sizeof(name), "j%u", index);
	*argv = slice_str(argv_true[0]);
	job->name = arena_copy(&graph->arena, slice_str(name));
	job->argv.at = argv;
	job->argv.n = 1;
	for (unsigned i = 0; i < JOB_FEATURES; i++)
		if (features >> i & 1 && rand_below(rand, 1000) < job_features[i].per_mille)
			job_features[i].make(rand, graph, job, index);
}

struct sim_graph *graph_make(struct rand_state *rand, uint64_t number, uint32_t most, uint64_t features,
			     struct sim_graph *into, struct sim_graph *const *others, size_t other_count)
{
	return graph_make_within(rand, number, most, features, 0, into, others, other_count);
}

struct sim_graph *graph_make_within(struct rand_state *rand, uint64_t number, uint32_t most, uint64_t features,
				    unsigned within, struct sim_graph *into, struct sim_graph *const *others,
				    size_t other_count)
{
	struct sim_graph *graph = mem_zalloc(sizeof(*graph));

	graph->into = into;
	graph->within = within;
	graph->features = features;

	for (size_t i = 0; i < sizeof(graph->key); i += 8) {
		uint64_t part = rand_next(rand);

		memcpy(graph->key + i, &part, 8);
	}
	snprintf(graph->name, sizeof(graph->name), "graph-%u", (unsigned)number);
	graph->count = 1 + (uint32_t)rand_below(rand, most);
	graph->jobs = arena_zalloc(&graph->arena, graph->count, sizeof(*graph->jobs));
	for (uint32_t i = 0; i < graph->count; i++)
		job_make(rand, graph, i, features);
	if (into)
		graph_take_parents(rand, graph, others, other_count);
	for (unsigned i = JOB_FEATURES; i < FEATURE_COUNT; i++)
		if (features >> i & 1 && rand_below(rand, 1000) < graph_features[i - JOB_FEATURES].per_mille)
			graph_features[i - JOB_FEATURES].make(rand, graph);
	if (rand_below(rand, 16) == 0)
		graph_spoil(rand, graph);
	if (into)
		/* limits, tenant and group belong to the run, not to a graph that is added to it */
		graph->max_jobs = graph->tenant = graph->group = 0;
	graph_encode(graph);
	return graph;
}

/*
 * Draw the features of the schedule's graphs. Few schedules have all features, because a feature's effect shows best
 * alone.
 */
uint64_t graph_features_draw(struct rand_state *rand)
{
	uint64_t features = rand_below(rand, 4) ? 0 : UINT64_MAX;

	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		features |= (uint64_t)(rand_below(rand, 5) < 3) << i;
	if (rand_below(rand, 10))
		features |= UINT64_C(1) << FEATURE_needs;
	return features;
}

void graph_free(struct sim_graph *graph)
{
	if (!graph)
		return;
	if (graph->borrowed) {
		mem_free(graph);
		return;
	}
	for (uint32_t i = 0; graph->subs && i < graph->count; i++)
		graph_free(graph->subs[i]);
	if (graph->body)
		blob_release(graph->body);
	arena_free(&graph->arena);
	mem_free(graph);
}
