/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of sub-runs: build jobs that have a graph of their own, and look at the sub-runs' states. */
#ifndef TITAN_TESTS_CORE_SUB_H
#define TITAN_TESTS_CORE_SUB_H

#include "tests/unit/core_rig.h"

/* Make inner the graph of the job's sub-run. Frees inner. */
static inline void sub_into(struct graph *graph, struct rec_job_spec *job, struct graph *inner)
{
	struct blob *body = graph_blob(inner);

	job->argv.n = 0;
	job->sub_jobs = arena_copy(&graph->arena, blob_slice(body));
	job->sub_count = inner->count;
	job->sub_name = slice_str("inner");
	blob_release(body);
	graph_free(inner);
}

static inline struct rec_job_spec *sub_job(struct graph *graph, const char *name, const char *needs, struct graph *inner)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	sub_into(graph, job, inner);
	return job;
}

static inline struct rec_job_spec *sub_plain(struct graph *graph, const char *name, const char *needs)
{
	struct graph inner = { 0 };

	graph_job(&inner, "x", "");
	graph_job(&inner, "y", "x");
	return sub_job(graph, name, needs, &inner);
}

static inline uint64_t child_of(struct rig *rig, uint64_t run, const char *name)
{
	return rig_job(rig, rig_named(rig, run, name)).child;
}

static inline enum job_state named(struct rig *rig, uint64_t run, const char *name)
{
	return rig_state(rig, rig_named(rig, run, name));
}

static inline int64_t row_ended(struct rig *rig, uint64_t run)
{
	return rig_run_row(rig, (int64_t)run)->run.ended_ms;
}

#endif
