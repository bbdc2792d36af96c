/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Topics of jobs, and the capabilities that they require of a pool. */
#include "sim.h"

const char *const graph_topic_names[SIM_TOPICS] = { "film.cut", "film.mix" };
/* The first matches both topics, the second is longer and matches both, the third is one of the topics. */
const char *const graph_pattern_names[SIM_PATTERNS] = { "f*", "film.?*", "film.mix" };
const char *const graph_capability_names[SIM_CAPABILITIES] = { "cuda", "render" };

void job_topics(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)graph;
	(void)index;
	job->topic = slice_str(graph_topic_names[rand_below(rand, SIM_TOPICS)]);
}

void job_requires(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	struct slice *requires = arena_zalloc(&graph->arena, SIM_CAPABILITIES, sizeof(*requires));
	uint64_t bits = 1 + rand_below(rand, (1 << SIM_CAPABILITIES) - 1);

	(void)index;
	job->requires.at = requires;
	for (size_t i = SIM_CAPABILITIES; i-- > 0;)
		if (bits >> i & 1)
			requires[job->requires.n++] = slice_str(graph_capability_names[i]);
}

unsigned graph_requires(const struct rec_job_spec *job)
{
	unsigned bits = 0;

	for (size_t i = 0; i < job->requires.n; i++)
		for (unsigned bit = 0; bit < SIM_CAPABILITIES; bit++)
			if (slice_eq(job->requires.at[i], slice_str(graph_capability_names[bit])))
				bits |= 1U << bit;
	return bits;
}
