/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order within a class: priority, then fair share among tenants, then age. Each tenant has its own queue in each
 * class, and a virtual time. Each attempt advances that time by 1 / weight. Among equal priorities the tenant with
 * the lowest virtual time is next. An idle tenant saves up nothing: the global clock follows the tenant being served,
 * and no tenant may start behind it. So none of this is stored: after a restart all tenants begin at the same time,
 * as after an idle moment.
 *
 * A tenant's time only grows, so a queue is never placed too late in the order; a place that is too early is
 * corrected when the queue reaches the top.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "core/queue/internal.h"

#define STRIDE_ONE (UINT64_C(1) << 24)   /* virtual time of one attempt at weight 1 */
#define NOWHERE SIZE_MAX

static bool queue_before(const struct queue *a, const struct queue *b)
{
	if (a->key >> SERIAL_BITS != b->key >> SERIAL_BITS)
		return a->key >> SERIAL_BITS < b->key >> SERIAL_BITS;
	return a->virtual_time != b->virtual_time ? a->virtual_time < b->virtual_time : a->key < b->key;
}

static void order_put(struct ready_class *class, struct queue *queue, size_t at)
{
	class->order[at] = queue;
	queue->place = at;
}

static void order_fix(struct ready_class *class, struct queue *queue)
{
	size_t at = queue->place;

	while (at > 0 && queue_before(queue, class->order[(at - 1) / 2])) {
		order_put(class, class->order[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= class->order_count)
			break;
		if (child + 1 < class->order_count && queue_before(class->order[child + 1], class->order[child]))
			child++;
		if (!queue_before(class->order[child], queue))
			break;
		order_put(class, class->order[child], at);
		at = child;
	}
	order_put(class, queue, at);
}

static void order_remove(struct ready_class *class, struct queue *queue)
{
	size_t at = queue->place;
	struct queue *last = class->order[--class->order_count];

	queue->place = NOWHERE;
	if (last == queue)
		return;
	last->place = at;
	order_fix(class, last);
}

/* Put a queue into its place in the order after its best job or its tenant's time changed. */
static void queue_moved(struct ready_class *class, struct queue *queue)
{
	if (queue->jobs.count == 0) {
		if (queue->place != NOWHERE)
			order_remove(class, queue);
		return;
	}
	queue->key = queue->jobs.keys[0];
	queue->virtual_time = queue->tenant->virtual_time;
	if (queue->place == NOWHERE) {
		GROW(class->order, class->order_count, class->order_cap);
		queue->place = class->order_count++;
	}
	order_fix(class, queue);
}

struct queue *queue_join(struct core *core, struct tenant *tenant, uint16_t class_at)
{
	struct ready_class *class = core->classes[class_at];
	struct queue *queue = map_get(&class->queues, tenant->at);

	if (!queue) {
		queue = mem_zalloc(sizeof(*queue));
		queue->tenant = tenant;
		queue->class_at = class_at;
		queue->place = NOWHERE;
		map_put(&class->queues, tenant->at, queue);
		tenant->wishes += class_at != 0;
	}
	queue->lanes++;
	return queue;
}

static void queue_free(struct queue *queue)
{
	mem_free(queue->jobs.keys);
	mem_free(queue);
}

void queue_leave(struct core *core, struct queue *queue)
{
	struct ready_class *class = core->classes[queue->class_at];

	if (--queue->lanes > 0)
		return;
	/* The last lane is gone, so all entries left in the queue are stale. */
	CHECK(queue->jobs.count == queue->jobs.stale);
	class->count -= queue->jobs.count;
	class->stale -= queue->jobs.count;
	if (queue->place != NOWHERE)
		order_remove(class, queue);
	map_remove(&class->queues, queue->tenant->at);
	queue->tenant->wishes -= queue->class_at != 0;
	queue_free(queue);
}

void class_insert(struct ready_class *class, struct job *job)
{
	struct queue *queue = job_lane(job)->queue;

	job->flags |= JOB_QUEUED;
	heap_insert(&queue->jobs, job);
	class->count++;
	if (queue->place == NOWHERE || queue->jobs.keys[0] != queue->key)
		queue_moved(class, queue);
}

void class_revive(struct ready_class *class, const struct job *job)
{
	job_lane(job)->queue->jobs.stale--;
	class->stale--;
}

void class_stale(struct ready_class *class, const struct job *job)
{
	job_lane(job)->queue->jobs.stale++;
	class->stale++;
}

struct job *class_top(struct core *core, struct ready_class *class)
{
	while (class->count > class->stale) {
		struct queue *queue = class->order[0];
		struct job *job;

		if (queue->key != queue->jobs.keys[0] || queue->virtual_time != queue->tenant->virtual_time) {
			queue_moved(class, queue);
			continue;
		}
		job = ready_job(core, queue->key);
		if (ready_waits(job))
			return job;
		ready_pop(class, job);
		queue->jobs.stale--;
		class->stale--;
	}
	return NULL;
}

void ready_pop(struct ready_class *class, struct job *job)
{
	struct queue *queue = class->order[0];

	heap_pop(&queue->jobs, job);
	class->count--;
	queue_moved(class, queue);
}

void class_compact(struct core *core, struct ready_class *class)
{
	size_t cursor = 0;
	void *value;

	class->order_count = 0;
	class->count = 0;
	class->stale = 0;
	while (map_next(&class->queues, &cursor, NULL, &value)) {
		struct queue *queue = value;

		heap_compact(core, &queue->jobs);
		class->count += queue->jobs.count;
		queue->place = NOWHERE;
		queue_moved(class, queue);
	}
}

void class_free_queues(struct ready_class *class)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&class->queues, &cursor, NULL, &value))
		queue_free(value);
	map_free(&class->queues);
	mem_free(class->order);
}

void tenant_charge(struct core *core, struct tenant *tenant)
{
	if (tenant->virtual_time < core->virtual_time && (tenant->virtual_time == 0 || !PLANTED(tenant_catches_up)))
		tenant->virtual_time = core->virtual_time;
	core->virtual_time = tenant->virtual_time;
	tenant->virtual_time += STRIDE_ONE / (PLANTED(tenant_weight_ignored) ? 1 : tenant->weight);
	order_charged(core, tenant);
}
