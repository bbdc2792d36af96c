/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory and the environment that the jobs of a run share: a worker that gets an attempt must know them, from a
 * CONTEXT message on the same connection or from the attempt's specification. A sub-run without a context of its own
 * has that of its job.
 */
#include "oracle.h"

static struct slice context_of(struct sim_world *world, uint64_t serial)
{
	uint64_t first;
	const struct sim_graph *graph = oracle_graph(world, serial, &first);

	return graph ? graph->context : slice_make(NULL, 0);
}

void oracle_spec_encode(struct sim_world *world, uint64_t serial, struct buf *out)
{
	struct rec_job_spec spec = *oracle_spec(world, serial);
	struct slice context = context_of(world, serial);
	struct arena arena = { 0 };
	struct rec_run_context shared;

	if (context.len > 0 && spec.argv.n > 0) {
		if (record_decode(REC_run_context, &context, &arena, &shared, NULL) != ERR_NONE)
			world_fail(world, "what job %u shares can't be read", (unsigned)serial);
		spec.dir = shared.dir.len > 0 ? shared.dir : shared.here_dir;   /* no job of the simulator sets its own directory */
		spec.env = shared.env;
	}
	record_encode(out, REC_job_spec, &spec);
	arena_free(&arena);
}

void oracle_told(struct sim_world *world, const struct sim_worker *worker, const struct rec_assign *assign)
{
	struct slice context = context_of(world, assign->job);
	bool known = assign->context > 0 && assign->context <= worker->contexts;

	if (assign->context == 0 && (worker->contexts == 0 || context.len == 0))
		/* the specification contained everything, and was checked at the assignment */
		return;
	if (!known || !slice_eq(blob_slice(worker->link.contexts[assign->context - 1]), context))
		world_fail(world, "job %u is given to %s with the directory and environment of others", (unsigned)assign->job,
			   worker->name);
}

static void contexts_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	struct slice context = context_of(world, job->job), bytes = assign->spec;
	struct arena arena = { 0 };
	struct rec_run_context shared;
	struct rec_job_spec spec;
	bool whole = false;

	if (context.len == 0 || assign->context > 0)
		return;
	if (record_decode(REC_run_context, &context, &arena, &shared, NULL) != ERR_NONE ||
	    record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) != ERR_NONE)
		world_fail(world, "the specification of job %u can't be read", (unsigned)job->job);
	for (size_t i = 0; i < spec.env.n; i++)
		whole |= slice_eq(spec.env.at[i], shared.env.at[0]);
	if (!whole || !slice_eq(spec.dir, shared.dir.len > 0 ? shared.dir : shared.here_dir))
		world_fail(world, "job %u is given without the directory and environment that it shares", (unsigned)job->job);
	arena_free(&arena);
}

const struct oracle_check oracle_contexts = { .given = contexts_given };
