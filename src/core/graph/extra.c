/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Extra fields that only some jobs have, by job index in run->extras: a job's sub-run, the passes of a loop, the time
 * to end of an `always` job, what a job put out,
 * and the files that it left.
 */
#include "core/graph/graph.h"

#include "core/graph/internal.h"

struct extra *job_extra(const struct job *job)
{
	return map_get(&job->run->extras, job->index);
}

void extra_add(const struct job *job)
{
	if (map_get(&job->run->extras, job->index))
		return;
	map_put(&job->run->extras, job->index, mem_zalloc(sizeof(struct extra)));
}

void extras_drop(struct run *run, uint32_t from)
{
	for (uint32_t index = from; run->extras.count > 0 && index < run->job_count; index++) {
		struct extra *extra = map_remove(&run->extras, index);

		if (extra) {
			blob_release(extra->outputs);
			mem_free(extra->ends);
			blob_release(extra->artifacts);
		}
		mem_free(extra);
	}
	if (from == 0)
		map_free(&run->extras);
}

uint64_t job_child(const struct job *job)
{
	return job_is_subrun(job) ? job_extra(job)->child : 0;
}

void job_child_set(const struct job *job, uint64_t child)
{
	if (job_is_subrun(job))
		job_extra(job)->child = child;
}

uint32_t job_passes(const struct job *job)
{
	return job->flags & JOB_LOOP ? job_extra(job)->passes : 0;
}

void job_passes_set(const struct job *job, uint32_t passes)
{
	if (job->flags & JOB_LOOP)
		job_extra(job)->passes = passes;
}

int64_t job_ending_ms(const struct job *job)
{
	const struct extra *extra = job->flags & JOB_ALWAYS ? map_get(&job->run->extras, job->index) : NULL;

	return extra ? extra->ending_ms : 0;
}

void job_ending_set(const struct job *job, int64_t ending_ms)
{
	if (job_ending_ms(job) == ending_ms)
		return;
	extra_add(job);
	job_extra(job)->ending_ms = ending_ms;
}

struct slice job_outputs(const struct job *job)
{
	return blob_slice(job->flags & JOB_OUTPUTS ? job_extra(job)->outputs : NULL);
}

void job_outputs_set(const struct job *job, struct slice outputs)
{
	struct extra *extra = job->flags & JOB_OUTPUTS ? job_extra(job) : NULL;

	if (!extra || (outputs.len == 0 && !extra->outputs))
		return;
	job->run->output_bytes -= blob_slice(extra->outputs).len;
	blob_release(extra->outputs);
	extra->outputs = blob_make(outputs);
	job->run->output_bytes += outputs.len;
}

struct slice job_artifacts(const struct job *job)
{
	return blob_slice(job->flags & JOB_OUTPUTS ? job_extra(job)->artifacts : NULL);
}

void job_artifacts_set(const struct job *job, struct slice artifacts)
{
	struct extra *extra = job->flags & JOB_OUTPUTS ? job_extra(job) : NULL;

	if (!extra || (artifacts.len == 0 && !extra->artifacts))
		return;
	blob_release(extra->artifacts);
	extra->artifacts = blob_make(artifacts);
}
