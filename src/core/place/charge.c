/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resources in use at each worker (invariant I7): a worker's `used` amounts are the sum of what its paid attempts ask
 * for. An attempt is paid on assignment if the worker has room for it. An attempt sent ahead reserves nothing until
 * there is room; then attempts are paid in order of assignment, because the worker starts them in that order.
 *
 * A running job is paid even without room. So a worker that came back with smaller offers, or with an attempt that
 * had been given up, may use more than it offers; it gets no more jobs until enough has been freed.
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

static void pay(struct core *core, struct worker *worker, struct job *job)
{
	const struct wants *wants = job_wants(core, job);

	job->flags &= (uint32_t)~JOB_UNPAID;
	worker->unpaid--;
	worker_touch(core, worker);
	resources_take(worker->offers, worker->offer_count, wants->asks, wants->ask_count);
}

static bool is_there(const struct job *job)
{
	return !PLANTED(running_not_counted) &&
	       (job->state == STATE_RUNNING || (job->state == STATE_STOPPING && job->started_ms > 0));
}

static bool payable(const struct core *core, const struct worker *worker, const struct job *job)
{
	bool slot = job->state != STATE_ASSIGNED || worker->held_count - worker->unpaid < worker->slots;

	return job->flags & JOB_UNPAID && (is_there(job) || (slot && wants_fit(worker, job_wants(core, job))));
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
	job->flags |= JOB_UNPAID;
	worker->unpaid++;
	/*
	 * Only now: before it counted as unpaid, the attempt itself would have filled the slot. Nothing is paid while
	 * the inventory is read.
	 */
	if (!worker->reading && payable(core, worker, job))
		pay(core, worker, job);
}

void charge_detach(struct core *core, struct worker *worker, struct job *job)
{
	const struct wants *wants = job_wants(core, job);

	if (job_asks(wants)) {
		worker->asking--;
		if (job->flags & JOB_UNPAID)
			worker->unpaid--;
		else if (job->stop_cause != EVENT_CANCEL || !PLANTED(resources_kept_after_a_cancel))
			resources_give(worker->offers, worker->offer_count, wants->asks, wants->ask_count);
		for (size_t i = 0; PLANTED(resources_freed_twice) && i < worker->offer_count; i++)
			worker->offers[i].used /= 2;
		job->flags &= (uint32_t)~JOB_UNPAID;
	}
	charge_settle(core, worker);
}

void charge_started(struct core *core, struct job *job)
{
	pay(core, worker_find(core, job->worker), job);
}

void charge_reset(struct core *core, struct worker *worker)
{
	for (size_t i = 0; i < worker->held_count; i++) {
		struct job *job = worker->held[i].job;

		if (!job_asks(job_wants(core, job)) || job->flags & JOB_UNPAID)
			continue;
		job->flags |= JOB_UNPAID;
		worker->unpaid++;
	}
	for (size_t i = 0; i < worker->offer_count; i++)
		worker->offers[i].used = 0;
}

static int stamp_order(const void *a, const void *b)
{
	const struct held_entry *x = a, *y = b;

	return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

void charge_settle(struct core *core, struct worker *worker)
{
	struct held_entry *waiting;
	size_t count = 0;

	if (worker->unpaid == 0 || worker->reading)
		return;
	waiting = mem_array(worker->unpaid, sizeof(*waiting));
	for (size_t i = 0; i < worker->held_count; i++) {
		struct job *job = worker->held[i].job;

		if (job->state == STATE_ASSIGNED && job->flags & JOB_UNPAID)
			waiting[count++] = worker->held[i];
		else if ((job->state == STATE_RUNNING || !PLANTED(resources_of_the_stopping)) &&
			 payable(core, worker, job))     /* a stopping job may have started, too */
			pay(core, worker, job);
	}
	qsort(waiting, count, sizeof(*waiting), stamp_order);
	for (size_t i = 0; i < count; i++)
		if (payable(core, worker, waiting[i].job))
			pay(core, worker, waiting[i].job);
	mem_free(waiting);
}

/* Check the amounts and counters of a worker by counting its attempts again. */
void charge_check(const struct core *core, const struct worker *worker)
{
	uint64_t unpaid = 0, asking = 0;

	for (size_t at = 0; at < worker->offer_count; at++) {
		uint64_t used = 0;
		bool over = false;

		for (size_t i = 0; i < worker->held_count; i++) {
			const struct wants *wants = job_wants(core, worker->held[i].job);
			const struct resource *ask = wants ? resource_find(wants->asks, wants->ask_count,
									   worker->offers[at].name) : NULL;

			if (ask && !(worker->held[i].job->flags & JOB_UNPAID))
				used += ask->amount;
			over |= ask && is_there(worker->held[i].job);
		}
		CHECK(worker->offers[at].used == used);
		CHECK(over || used <= worker->offers[at].amount);
	}
	for (size_t i = 0; i < worker->held_count; i++) {
		const struct job *job = worker->held[i].job;

		CHECK(!(job->flags & JOB_UNPAID) || (job_asks(job_wants(core, job)) && !is_there(job)));
		unpaid += (job->flags & JOB_UNPAID) != 0;
		asking += job_asks(job_wants(core, job));
	}
	CHECK(worker->unpaid == unpaid && worker->asking == asking && !worker->reading);
}
