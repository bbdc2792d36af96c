/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Final jobs of a run. Jobs added to the run come before its final jobs, whatever their result, as long as no final
 * job has begun. Only jobs submitted with the run count; a final job in an addition is final only within that
 * addition. A job that needs a final job, directly or not, comes after the final jobs.
 */
#include "core/graph/graph.h"

#include "base/planted.h"
#include "core/graph/internal.h"

void final_add(struct run *run, struct job *job)
{
	job->flags |= JOB_FINAL;
	run->finals = mem_resize(run->finals, run->final_count + 1, sizeof(*run->finals));
	run->finals[run->final_count++] = job->index;
}

void finals_mark(const struct run *run, const struct extent *extent, const struct edge *outer, size_t outer_count)
{
	uint32_t *queue = mem_array(extent->count, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	for (size_t i = 0; extent->start == 0 && i < run->final_count; i++)
		queue[tail++] = run->finals[i];
	for (size_t i = 0; i < outer_count; i++) {
		struct job *child = run_job(run, outer[i].child >> TRIGGER_BITS);

		if ((!PLANTED(grow_behind_final) && !(run_job(run, outer[i].parent)->flags & JOB_FINAL)) ||
		    child->flags & JOB_FINAL)
			continue;
		child->flags |= JOB_FINAL;
		queue[tail++] = child->index - extent->start;
	}
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t i = extent->child_start[at]; i < extent->child_start[at + 1]; i++) {
			uint32_t child = (extent->children[i] >> TRIGGER_BITS) - extent->start;

			if (extent->jobs[child].flags & JOB_FINAL || PLANTED(final_children_come_first))
				continue;
			extent->jobs[child].flags |= JOB_FINAL;
			queue[tail++] = child;
		}
	}
	mem_free(queue);
}

static bool comes_before(const struct extent *extent)
{
	for (uint32_t i = 0; i < extent->count; i++)
		if (!(extent->jobs[i].flags & JOB_FINAL))
			return true;
	return false;
}

/* Check whether a final job has begun. A cancelled or timed-out one may have ended before its first attempt. */
static bool has_begun(const struct job *job)
{
	if (job->state == STATE_CANCELLED || job->state == STATE_TIMED_OUT)
		return job->tries > 0 || job_passes(job) > 0;
	return job->state != STATE_WAITING && job->state != STATE_SKIPPED;
}

enum err finals_check(struct core *core, const struct run *run, const struct extent *extent, struct error *error)
{
	uint64_t added = extent->start + extent->count - run->extents[0]->count;
	struct rec_job_spec spec;

	if (!comes_before(extent))
		return ERR_NONE;
	if (added > LIMIT_FINAL_WAITS_MAX / run->final_count)
		return error_set(error, ERR_TOO_LARGE, "run %llu has %zu final jobs, and each would wait for the "
			"%llu added jobs: that is more than %d waits; add one final job that the other final jobs "
			"need", (unsigned long long)run->number,
				 run->final_count, (unsigned long long)added, LIMIT_FINAL_WAITS_MAX);
	for (size_t i = 0; i < run->final_count; i++) {
		const struct job *job = run_job(run, run->finals[i]);

		if (!has_begun(job))
			continue;
		job_spec_decode(core, job, &spec);
		error_set(error, ERR_TERMINAL, "run %llu is ending: its final job %.*s is %s, so it can't wait for added jobs; submit a new run with titan run, without --into", (unsigned long long)run->number,
			  (int)spec.name.len, (const char *)spec.name.data, state_table[job->state].name);
		return error_next(error, "titan retry %llu", (unsigned long long)run->number);
	}
	return ERR_NONE;
}

void finals_wait(struct run *run, const struct extent *extent)
{
	enum trigger trigger = PLANTED(final_waits_for_success) ? TRIGGER_OK : TRIGGER_DONE;

	for (uint32_t i = 0; i < extent->count; i++) {
		if (extent->jobs[i].flags & JOB_FINAL || PLANTED(final_ignores_added_jobs))
			continue;
		for (size_t k = 0; k < run->final_count; k++) {
			struct job *job = run_job(run, run->finals[k]);

			later_put(run, extent->start + i, job->index << TRIGGER_BITS | trigger);
			if (job->state == STATE_WAITING)
				job->pending++;
			if (job->flags & JOB_EXPR)
				condition_wait(job, extent->start + i);
		}
	}
}
