/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph inside a job (sub-run): the submit that it makes, and a check in advance that it would be admitted. */
#include "core/graph/graph.h"

#include "core/graph/internal.h"
#include "core/queue/queue.h"

/*
 * Check whether a run around the sub-run already has a place in its concurrency group: waiting for another place
 * there could last for ever.
 */
static bool has_place_above(const struct core *core, const struct run *run, struct slice concurrency)
{
	struct slice name;
	uint32_t stated;

	if (!concurrency_read(concurrency, &name, &stated))
		return false;
	for (const struct job *job; run; run = job ? job->run : NULL) {
		if (run->concurrency && slice_eq(name, slice_str(run->concurrency->name)))
			return true;
		job = run->parent ? job_find(core, run->parent) : NULL;
	}
	return false;
}

void subrun_submit(const struct core *core, const struct job *job, const struct rec_job_spec *spec, struct graph_part *part,
		   struct input_submit *ret_submit)
{
	const struct run *run = job->run;

	*part = (struct graph_part){ .body = blob_make(spec->sub_jobs), .count = (uint32_t)spec->sub_count };
	*ret_submit = (struct input_submit){
		.owner = slice_str(run->owner), .name = spec->sub_name, .parts = part, .part_count = 1,
		.max_jobs = (uint32_t)spec->sub_max_jobs, .tenant = slice_str(run->tenant->name),
		.context = spec->sub_context.len > 0 || PLANTED(context_subrun_without) ? spec->sub_context :
									 blob_slice(job_context(job)),
	};
	if (!has_place_above(core, run, spec->sub_concurrency))
		ret_submit->concurrency = spec->sub_concurrency;
}

/* Check that the sub-run could begin. Its faults are reported at submit, not only when the job begins. */
enum err subrun_check(struct core *core, const struct job *job, const struct rec_job_spec *spec, struct error *error)
{
	struct slice name = spec->name;
	struct input_submit submit;
	struct graph_part part;
	struct error why = { 0 };

	if (job->run->depth >= LIMIT_SUBRUN_DEPTH)
		return error_set(error, ERR_TOO_LARGE, "job %u '%.*s': sub-runs can be nested at most %d levels deep",
				 job->index, (int)name.len, (const char *)name.data, LIMIT_SUBRUN_DEPTH);
	subrun_submit(core, job, spec, &part, &submit);
	submit_check(core, &submit, &(struct run_origin){ .job = job, .name = name }, &why);
	blob_release(part.body);
	if (why.code == ERR_NONE)
		return ERR_NONE;
	return error_set(error, why.code, "job %u '%.*s': in its sub-run: %.300s", job->index, (int)name.len,
			 (const char *)name.data, why.text);
}
