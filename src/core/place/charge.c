/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resources in use at each worker (invariant I7): a worker's `used` amounts are the sum of what its attempts have
 * reserved. An attempt reserves its resources on assignment if the worker has room for it. A prefetched attempt reserves
 * nothing until there is room; then attempts reserve in order of assignment, because the worker starts them in that
 * order.
 *
 * A running job reserves its resources even without room. So a worker that came back with smaller offers, or with an
 * attempt that the master had given up, may use more than it offers; it gets no more jobs until enough has been freed.
 */
#include "core/place/place.h"

#include <stdlib.h>

#include "base/planted.h"
#include "core/place/internal.h"
#include "core/queue/queue.h"

bool wants_fit(const struct worker *worker, const struct wants *wants)
{
	return !wants || resources_fit(worker->offers, worker->offer_count, wants->asks, wants->ask_count);
}

static bool job_asks(const struct wants *wants)
{
	return wants && wants->ask_count > 0;
}

static void charge_reserve(struct core *core, struct worker *worker, struct job *job)
{
	const struct wants *wants = job_wants(core, job);

	job->flags &= (uint32_t)~JOB_UNRESERVED;
	worker->unreserved--;
	worker_touch(core, worker);
	resources_take(worker->offers, worker->offer_count, wants->asks, wants->ask_count);
}

static bool is_there(const struct job *job)
{
	return !PLANTED(running_not_counted) &&
	       (job->state == STATE_RUNNING || (job->state == STATE_STOPPING && job->started_ms > 0));
}

static bool reservable(const struct core *core, const struct worker *worker, const struct job *job)
{
	bool slot = job->state != STATE_ASSIGNED || worker->held_count - worker->unreserved < worker->slots;

	return job->flags & JOB_UNRESERVED && (is_there(job) || (slot && wants_fit(worker, job_wants(core, job))));
}

void charge_attach(struct core *core, struct worker *worker, struct job *job)
{
	if (!job_asks(job_wants(core, job)))
		return;
	if (worker->asking++ == 0) {
		worker->asking_class = job->class_at;
		worker->asking_mixed = false;
	}
	worker->asking_mixed |= worker->asking_class != job->class_at;
	job->flags |= JOB_UNRESERVED;
	worker->unreserved++;
	/*
	 * Count the attempt as unreserved before looking for room: otherwise it would itself fill the slot that it
	 * needs. Nothing is reserved while the inventory is read.
	 */
	if (!worker->reading && reservable(core, worker, job))
		charge_reserve(core, worker, job);
}

void charge_detach(struct core *core, struct worker *worker, struct job *job)
{
	const struct wants *wants = job_wants(core, job);

	if (job_asks(wants)) {
		worker->asking--;
		if (job->flags & JOB_UNRESERVED)
			worker->unreserved--;
		else if (job->stop_cause != EVENT_CANCEL || !PLANTED(resources_kept_after_a_cancel))
			resources_give(worker->offers, worker->offer_count, wants->asks, wants->ask_count);
		for (size_t i = 0; PLANTED(resources_freed_twice) && i < worker->offer_count; i++)
			worker->offers[i].used /= 2;
		job->flags &= (uint32_t)~JOB_UNRESERVED;
	}
	charge_waiting(core, worker);
}

void charge_started(struct core *core, struct job *job)
{
	charge_reserve(core, worker_find(core, job->worker), job);
}

void charge_reset(struct core *core, struct worker *worker)
{
	for (size_t i = 0; i < worker->held_count; i++) {
		struct job *job = worker->held[i].job;

		if (!job_asks(job_wants(core, job)) || job->flags & JOB_UNRESERVED)
			continue;
		job->flags |= JOB_UNRESERVED;
		worker->unreserved++;
	}
	for (size_t i = 0; i < worker->offer_count; i++)
		worker->offers[i].used = 0;
}

static int stamp_order(const void *a, const void *b)
{
	const struct held_entry *x = a, *y = b;

	return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

void charge_waiting(struct core *core, struct worker *worker)
{
	struct held_entry *waiting;
	size_t count = 0;

	if (worker->unreserved == 0 || worker->reading)
		return;
	waiting = mem_array(worker->unreserved, sizeof(*waiting));
	for (size_t i = 0; i < worker->held_count; i++) {
		struct job *job = worker->held[i].job;

		if (job->state == STATE_ASSIGNED && job->flags & JOB_UNRESERVED)
			waiting[count++] = worker->held[i];
		else if ((job->state == STATE_RUNNING || !PLANTED(resources_of_the_stopping)) &&
			 reservable(core, worker, job))     /* a stopping job may have started, too */
			charge_reserve(core, worker, job);
	}
	qsort(waiting, count, sizeof(*waiting), stamp_order);
	for (size_t i = 0; i < count; i++)
		if (reservable(core, worker, waiting[i].job))
			charge_reserve(core, worker, waiting[i].job);
	mem_free(waiting);
}

/* Check the amounts and counters of a worker by counting its attempts again. */
void charge_check(const struct core *core, const struct worker *worker)
{
	uint64_t unreserved = 0, asking = 0;

	for (size_t at = 0; at < worker->offer_count; at++) {
		uint64_t used = 0;
		bool over = false;

		for (size_t i = 0; i < worker->held_count; i++) {
			const struct wants *wants = job_wants(core, worker->held[i].job);
			const struct resource *ask = wants ? resource_find(wants->asks, wants->ask_count,
									   worker->offers[at].name) : NULL;

			if (ask && !(worker->held[i].job->flags & JOB_UNRESERVED))
				used += ask->amount;
			over |= ask && is_there(worker->held[i].job);
		}
		CHECK(worker->offers[at].used == used);
		CHECK(over || used <= worker->offers[at].amount);
	}
	for (size_t i = 0; i < worker->held_count; i++) {
		const struct job *job = worker->held[i].job;

		CHECK(!(job->flags & JOB_UNRESERVED) || (job_asks(job_wants(core, job)) && !is_there(job)));
		unreserved += (job->flags & JOB_UNRESERVED) != 0;
		asking += job_asks(job_wants(core, job));
	}
	CHECK(worker->unreserved == unreserved && worker->asking == asking && !worker->reading);
}
