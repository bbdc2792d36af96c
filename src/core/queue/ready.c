/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ready job has one entry: in its class's queue, or in its lane when parked. A job on hold needs none. */
#include "core/queue/queue.h"

#include "core/graph/graph.h"
#include "core/queue/internal.h"

void ready_push(struct core *core, struct job *job)
{
	if (job_on_hold(job)) {
		core->held_ready++;
	} else if (job->flags & JOB_QUEUED) {
		/* The stale entry that the job left in its queue is valid again. */
		class_revive(core->classes[job->class_at], job);
	} else if (job->flags & JOB_PARKED) {
		job_lane(job)->jobs.stale--;
		core->parked_ready++;
	} else {
		class_insert(core->classes[job->class_at], job);
	}
}

/*
 * Leave the ready state; the heap entry becomes stale. Nothing is swept or offered here, because the job is in the
 * middle of a move.
 */
void ready_leave(struct core *core, struct job *job)
{
	if (job_on_hold(job)) {
		core->held_ready--;
		return;
	}
	CHECK(job->flags & JOB_IN_HEAP);
	if (job->flags & JOB_QUEUED) {
		class_stale(core->classes[job->class_at], job);
	} else {
		job_lane(job)->jobs.stale++;
		core->parked_ready--;
	}
}

void ready_compact(struct core *core)
{
	for (size_t i = 0; i < core->class_count; i++)
		if (core->classes[i])
			class_compact(core, core->classes[i]);
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		if (core->runs.at[i].run)
			run_compact(core, core->runs.at[i].run);
	core->rekey_due = false;
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		if (core->runs.at[i].run)
			run_reoffer(core, core->runs.at[i].run);
}

/* Return the best job whose bounds all have room. Better jobs with a full bound are parked. */
struct job *ready_offered(struct core *core, struct ready_class *class)
{
	struct job *job;

	while ((job = class_top(core, class))) {
		struct bound *full = job_bound_full(core, job);

		if (!full)
			return job;
		ready_pop(class, job);
		bound_park(core, full, job);
	}
	return NULL;
}

/* Sweep stale entries from classes where they are the majority. Return how many ready jobs are queued. */
size_t ready_tidy(struct core *core)
{
	size_t queued = 0;

	if (core->rekey_due)
		ready_compact(core);
	for (size_t i = 0; i < core->class_count; i++) {
		struct ready_class *class = core->classes[i];

		if (class && class->stale > 64 && class->stale > class->count / 2)
			class_compact(core, class);
		queued += class ? class->count - class->stale : 0;
	}
	return queued;
}
