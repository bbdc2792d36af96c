/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many jobs of a run, or of a fan-out, may hold an attempt at once. A ready job that surfaces while its
 * bound is full is parked there, by class, and costs nothing until an attempt ends: then the best of each
 * class is offered again. So while a bound has room, none of its classes lacks a job in the queue.
 */
#include "core/internal.h"

struct bound *job_group(const struct job *job)
{
	return job->group ? &job->run->groups[job->group - 1] : NULL;
}

static bool bound_full(const struct bound *bound)
{
	return bound && bound->limit > 0 && bound->active >= bound->limit;
}

struct bound *job_bound_full(const struct job *job)
{
	if (bound_full(job_group(job)))
		return job_group(job);
	return bound_full(&job->run->bound) ? &job->run->bound : NULL;
}

static struct ready_class *lane_of(struct bound *bound, uint16_t class_at)
{
	for (size_t i = 0; i < bound->lane_count; i++)
		if (bound->lanes[i].class_at == class_at)
			return &bound->lanes[i].jobs;
	bound->lanes = mem_resize(bound->lanes, bound->lane_count + 1, sizeof(*bound->lanes));
	bound->lanes[bound->lane_count] = (struct lane){ .class_at = class_at };
	return &bound->lanes[bound->lane_count++].jobs;
}

struct ready_class *job_lane(const struct job *job)
{
	struct bound *bound = job->flags & JOB_PARKED_GROUP ? job_group(job) : &job->run->bound;

	return lane_of(bound, job->class_at);
}

void bound_park(struct core *core, struct bound *bound, struct job *job)
{
	job->flags |= bound == &job->run->bound ? JOB_PARKED : JOB_PARKED_GROUP;
	ready_insert(lane_of(bound, job->class_at), job);
	core->parked_ready++;
	/* What it leaves unused of its run's room is for others. */
	if (job->flags & JOB_PARKED_GROUP)
		bound_offer(core, &job->run->bound);
}

void bound_offer(struct core *core, struct bound *bound)
{
	for (size_t i = 0; bound && bound->limit > 0 && !bound_full(bound) && i < bound->lane_count; i++) {
		struct job *job = ready_top(core, &bound->lanes[i].jobs);

		if (!job)
			continue;
		ready_pop(&bound->lanes[i].jobs, job);
		core->parked_ready--;
		job->flags |= JOB_QUEUED;
		ready_insert(core->classes[job->class_at], job);
	}
}

void bounds_offer(struct core *core, const struct job *job)
{
	bound_offer(core, job_group(job));
	bound_offer(core, &job->run->bound);
}

void run_offer(struct core *core, struct run *run)
{
	for (size_t i = 0; i < run->group_count; i++)
		bound_offer(core, &run->groups[i]);
	bound_offer(core, &run->bound);
}

void bounds_count(struct core *core, const struct job *job, int change)
{
	struct bound *group = job_group(job);

	job->run->bound.active += (uint32_t)change;
	if (group)
		group->active += (uint32_t)change;
	bounds_offer(core, job);
}

static void bound_free(struct bound *bound)
{
	for (size_t i = 0; i < bound->lane_count; i++)
		mem_free(bound->lanes[i].jobs.keys);
	mem_free(bound->lanes);
}

void run_free_bounds(struct run *run)
{
	for (size_t i = 0; i < run->group_count; i++)
		bound_free(&run->groups[i]);
	mem_free(run->groups);
	bound_free(&run->bound);
}

/* --- admission --- */

enum err group_join(struct run *run, struct job *job, const struct rec_job_spec *spec, struct error *error)
{
	size_t at = run->group_count;

	if (spec->group == 0 || (spec->group_parallel == 0 && !spec->group_fail_fast))
		return ERR_NONE;
	/* Those of a fan-out are neighbours. */
	while (at > 0 && run->groups[at - 1].first != spec->group)
		at--;
	if (at == 0) {
		run->groups = mem_resize(run->groups, run->group_count + 1, sizeof(*run->groups));
		run->groups[run->group_count++] = (struct bound){
			.first = (uint32_t)spec->group, .limit = (uint32_t)spec->group_parallel,
			.fail_fast = spec->group_fail_fast,
		};
		at = run->group_count;
	}
	if (run->groups[at - 1].limit != spec->group_parallel || run->groups[at - 1].fail_fast != spec->group_fail_fast)
		return error_set(error, ERR_INVALID, "job %u: group: its fan-out has another bound", job->index);
	job->group = (uint32_t)at;
	if (spec->group_fail_fast)
		job->flags |= JOB_FAIL_FAST;
	return ERR_NONE;
}

/* --- the first failure --- */

void group_fail(struct core *core, const struct job *failed)
{
	struct run *run = failed->run;

	for (struct job *job = run_job(run, 0); job; job = job_next(job)) {
		if (job->group != failed->group || job == failed || state_terminal(job->state))
			continue;
		if (job_cancel(core, job))
			job->cause = failed->index + 1;
	}
}
