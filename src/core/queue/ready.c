/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ready job has one entry in a heap (heap.c), in its class's queue or in its lane, or is held back. */
#include "core/queue/queue.h"

#include "core/graph/graph.h"
#include "core/queue/internal.h"

void ready_push(struct core *core, struct job *job)
{
	if (job_on_hold(job)) {
		core->held_ready++;
	} else if (job->flags & JOB_QUEUED) {
		/* The entry it left behind is right again. */
		class_revive(core->classes[job->class_at], job);
	} else if (job->flags & JOB_PARKED) {
		job_lane(job)->jobs.stale--;
		core->parked_ready++;
	} else {
		class_insert(core->classes[job->class_at], job);
	}
}

/* The entry stays behind. Nothing is swept or offered here: the job is in the middle of a move. */
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

/* The best that may be placed; what is before it and may not is parked. */
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

/* What left the heaps without being searched for is swept when it is the majority. How many are in them now? */
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
