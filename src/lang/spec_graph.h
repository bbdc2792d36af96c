/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph as the master keeps it: a list of job_spec records, as opposed to the names and texts that people write. It can
 * be written as a pipeline again (pipeline_write.c) and compared with another one (spec_compare.c).
 */
#ifndef TITAN_LANG_SPEC_GRAPH_H
#define TITAN_LANG_SPEC_GRAPH_H

#include "base/arena.h"
#include "base/map.h"
#include "lang/pipeline.h"
#include "proto/spec.h"

struct spec_graph {
	struct rec_job_spec *jobs;       /* needs are indices in this list */
	uint64_t count;
	struct slice name, tenant;
	struct slice concurrency;        /* NAME or NAME=LIMIT */
	uint64_t max_jobs;
	struct slice_list env;           /* variables that all jobs have */
	struct slice_list outputs;       /* of a sub-run: NAME=TEXT each, with outputs of its jobs */
	const struct rec_schedule_spec *schedule;        /* NULL: none */
};

/* Make the graph of a parsed pipeline; its memory is in the arena. */
void spec_graph_of(const struct pipeline *pipeline, struct arena *arena, struct spec_graph *ret);
/* Decode the graph of a job's sub-run. False: the records are damaged. */
bool spec_graph_of_sub(const struct rec_job_spec *job, struct arena *arena, struct spec_graph *ret);
/* Return the length of a job's name without the [7] that a member of a fan-out has. */
size_t spec_stem(struct slice name);

/*
 * Write the graph as a pipeline. Some graphs can't be written as one: members of a fan-out may differ in a setting that can't
 * have ${matrix.NAME}, and a text may have bytes for which YAML has no form. So the caller must parse the text again and
 * compare the graphs (spec_compare).
 */
void pipeline_write(const struct spec_graph *graph, struct arena *arena, struct buf *out);

struct spec_index {                      /* finds jobs of a graph by their names */
	const struct spec_graph *graph;
	struct name_map names;           /* from a name to the job's index + 1 */
};

void spec_index_make(const struct spec_graph *graph, struct spec_index *ret);
void spec_index_free(struct spec_index *index);
/* Return the index of the job with this name, or UINT64_MAX. */
uint64_t spec_index_find(const struct spec_index *index, struct slice name);
/*
 * Compare two jobs, each given by its graph and index. Set differs[i] to whether they differ in row i of setting_table, and
 * return in how many rows they differ. Needs are compared by the names of the needed jobs.
 */
size_t spec_compare(const struct spec_graph *one, uint64_t at, const struct spec_graph *other, uint64_t other_at, bool *differs);

#endif
