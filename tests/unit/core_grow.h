/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of jobs that are added to a live run. */
#ifndef TITAN_TESTS_CORE_GROW_H
#define TITAN_TESTS_CORE_GROW_H

#include "tests/unit/core_rig.h"

/* marks a dependency on a job that the run already has: OLD + index in the list of parents' names */
#define OLD 1000000u

static inline void need_old(struct rec_job_spec *job, uint64_t place, enum trigger trigger)
{
	job->triggers.at[job->triggers.n++] = trigger;
	job->needs.at[job->needs.n++] = OLD + place;
}

/* Add a job that needs the live run's job with this index in the list of parents' names. */
static inline struct rec_job_spec *added(struct graph *graph, const char *name, uint64_t place, enum trigger trigger)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	need_old(job, place, trigger);
	return job;
}

/* Submit the graph into the live run. Return the serial number of the first added job, or 0 with rig->error set. */
static inline uint64_t grow_key(struct rig *rig, uint64_t run, struct graph *graph, const char *parents, uint64_t key,
			 uint64_t digest)
{
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct slice names[16];
	struct graph_part part = { .count = (uint32_t)graph->count };

	for (size_t i = 0; i < graph->count; i++)
		for (size_t k = 0; k < graph->jobs[i].needs.n; k++)
			if (graph->jobs[i].needs.at[k] >= OLD)
				graph->jobs[i].needs.at[k] += graph->count - OLD;
	part.body = graph_blob(graph);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .parts = &part, .part_count = 1,
		.into = run, .context = rig->context };
	input.submit.parents.at = names;
	while (*parents) {
		size_t len = strcspn(parents, " ");

		names[input.submit.parents.n++] = slice_make(parents, len);
		parents += len;
		parents += strspn(parents, " ");
	}
	memcpy(input.submit.key, &key, sizeof(key));
	memcpy(input.submit.digest, &digest, sizeof(digest));
	rig->accepted = (struct msg_accepted){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	blob_release(part.body);
	graph_free(graph);
	return rig->accepted.run == 0 ? 0 : rig->accepted.existing ? UINT64_MAX : rig->accepted.first;
}

static inline uint64_t grow(struct rig *rig, uint64_t run, struct graph *graph, const char *parents)
{
	return grow_key(rig, run, graph, parents, ++rig->keys, 0);
}

#endif
