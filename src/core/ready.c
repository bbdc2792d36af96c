/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heaps of ready jobs, one a class: the smallest key is next. A job that moved on leaves its entry
 * behind, stale; entries are looked up when they surface.
 */
#include "core/internal.h"

#define SERIAL_BITS 56
#define JOB_IN_HEAP (JOB_QUEUED | JOB_PARKED | JOB_PARKED_GROUP)

static uint64_t ready_key(const struct job *job)
{
	return (uint64_t)(UINT8_MAX - job->priority) << SERIAL_BITS | job_serial(job);
}

static struct job *ready_job(const struct core *core, uint64_t key)
{
	return job_find(core, key & ((UINT64_C(1) << SERIAL_BITS) - 1));
}

static void ready_down(struct ready_class *class, size_t at)
{
	uint64_t key = class->keys[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= class->count)
			break;
		if (child + 1 < class->count && class->keys[child + 1] < class->keys[child])
			child++;
		if (class->keys[child] >= key)
			break;
		class->keys[at] = class->keys[child];
		at = child;
	}
	class->keys[at] = key;
}

void ready_push(struct core *core, struct job *job)
{
	struct ready_class *class = core->classes[job->class_at];

	if (job_on_hold(job)) {
		core->held_ready++;
	} else if (job->flags & JOB_QUEUED) {
		class->stale--;          /* the entry it left behind is right again */
	} else if (job->flags & (JOB_PARKED | JOB_PARKED_GROUP)) {
		job_lane(job)->stale--;
		core->parked_ready++;
	} else {
		job->flags |= JOB_QUEUED;
		ready_insert(class, job);
	}
}

void ready_insert(struct ready_class *class, const struct job *job)
{
	uint64_t key = ready_key(job);
	size_t at;

	GROW(class->keys, class->count, class->cap);
	at = class->count++;
	while (at > 0 && class->keys[(at - 1) / 2] > key) {
		class->keys[at] = class->keys[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	class->keys[at] = key;
}

static void class_compact(struct core *core, struct ready_class *class)
{
	size_t kept = 0;

	for (size_t i = 0; i < class->count; i++) {
		struct job *job = ready_job(core, class->keys[i]);

		if (job && job->state == STATE_READY && !job_on_hold(job))
			class->keys[kept++] = ready_key(job);
		else if (job)
			job->flags &= (uint32_t)~JOB_IN_HEAP;
	}
	class->count = kept;
	class->stale = 0;
	for (size_t i = kept / 2; i-- > 0;)
		ready_down(class, i);
}

static void bound_compact(struct core *core, struct bound *bound)
{
	for (size_t i = 0; i < bound->lane_count; i++)
		class_compact(core, &bound->lanes[i].jobs);
}

static void run_compact(struct core *core, struct run *run)
{
	bound_compact(core, &run->bound);
	for (size_t i = 0; i < run->group_count; i++)
		bound_compact(core, &run->groups[i]);
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
		core->classes[job->class_at]->stale++;
	} else {
		job_lane(job)->stale++;
		core->parked_ready--;
	}
}

void ready_pop(struct ready_class *class, struct job *job)
{
	class->keys[0] = class->keys[--class->count];
	if (class->count > 0)
		ready_down(class, 0);
	if (job)
		job->flags &= (uint32_t)~JOB_IN_HEAP;
}

/* What is stale before the best goes. */
struct job *ready_top(struct core *core, struct ready_class *class)
{
	while (class->count > class->stale) {
		struct job *job = ready_job(core, class->keys[0]);

		if (job && job->state == STATE_READY && !job_on_hold(job))
			return job;
		ready_pop(class, job);
		class->stale--;
	}
	return NULL;
}

/* The best that may be placed; what is before it and may not is parked. */
struct job *ready_offered(struct core *core, struct ready_class *class)
{
	struct job *job;

	while ((job = ready_top(core, class))) {
		struct bound *full = job_bound_full(job);

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
