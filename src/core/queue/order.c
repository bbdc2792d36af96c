/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order among classes during placement: by their best jobs, as within a class. Each tenant has a heap of the
 * classes in which it has jobs, ordered by the key of its best job there. The tenants are in a heap by their best
 * entries. So when a tenant is served only that tenant moves, however many classes there are.
 *
 * An entry's key is never behind its queue's best key. Jobs that left a queue are noticed when their entry becomes
 * the best; jobs that enter a queue are added here by order_add.
 */
#include "core/queue/queue.h"

#include "core/place/place.h"
#include "core/queue/internal.h"

static bool before(const struct tenant_order *a, const struct tenant_order *b)
{
	uint64_t left = a->at[0].key, right = b->at[0].key;

	if (left >> SERIAL_BITS != right >> SERIAL_BITS)
		return left < right;
	return a->tenant->virtual_time != b->tenant->virtual_time ?
	       a->tenant->virtual_time < b->tenant->virtual_time : left < right;
}

/* --- the classes of one tenant --- */

static void entry_up(struct tenant_order *own, size_t at)
{
	struct order_entry entry = own->at[at];

	for (; at > 0 && entry.key < own->at[(at - 1) / 2].key; at = (at - 1) / 2)
		own->at[at] = own->at[(at - 1) / 2];
	own->at[at] = entry;
}

/* Put an entry at the top of the tenant's heap of classes and sift it down. */
static void entry_down(struct tenant_order *own, struct order_entry entry)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= own->count)
			break;
		if (child + 1 < own->count && own->at[child + 1].key < own->at[child].key)
			child++;
		if (own->at[child].key >= entry.key)
			break;
		own->at[at] = own->at[child];
		at = child;
	}
	own->at[at] = entry;
}

/* --- the tenants --- */

static void put(struct class_order *order, struct tenant_order *own, size_t at)
{
	order->at[at] = own;
	own->place = at;
}

static void tenant_up(struct class_order *order, struct tenant_order *own)
{
	size_t at = own->place;

	for (; at > 0 && before(own, order->at[(at - 1) / 2]); at = (at - 1) / 2)
		put(order, order->at[(at - 1) / 2], at);
	put(order, own, at);
}

static void tenant_down(struct class_order *order, size_t at)
{
	struct tenant_order *own = order->at[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= order->count)
			break;
		if (child + 1 < order->count && before(order->at[child + 1], order->at[child]))
			child++;
		if (!before(order->at[child], own))
			break;
		put(order, order->at[child], at);
		at = child;
	}
	put(order, own, at);
}

/* Remove the best class of the first tenant from the order of classes. */
static void drop(struct class_order *order)
{
	struct tenant_order *own = order->at[0];

	if (--own->count > 0) {
		entry_down(own, own->at[own->count]);
		return;
	}
	if (--order->count > 0)
		put(order, order->at[order->count], 0);
}

/* --- tenants and classes --- */

static void add(struct class_order *order, struct arena *arena, struct order_entry entry)
{
	const struct tenant *tenant = entry.queue->tenant;
	struct tenant_order *own = &order->tenants[tenant->at];

	if (own->count == own->cap) {
		struct order_entry *bigger = arena_alloc(arena, (2 * own->cap + 4) * sizeof(*bigger));

		if (own->count > 0)
			memcpy(bigger, own->at, own->count * sizeof(*bigger));
		own->at = bigger;
		own->cap = 2 * own->cap + 4;
	}
	own->at[own->count++] = entry;
	entry_up(own, own->count - 1);
	if (own->count == 1) {
		own->tenant = tenant;
		own->place = order->count++;
	}
	tenant_up(order, own);
	order->added = true;
}

void order_begin(struct core *core, struct class_order *order)
{
	*order = (struct class_order){ 0 };
	order->tenants = arena_zalloc(&core->placing, core->tenant_count, sizeof(*order->tenants));
	order->at = arena_alloc(&core->placing, core->tenant_count * sizeof(struct tenant_order *));
	order->passed = arena_zalloc(&core->placing, core->class_count, sizeof(*order->passed));
	for (size_t i = 0; i < core->class_count; i++) {
		const struct ready_class *class = core->classes[i];

		for (size_t k = 0; class && k < class->order_count; k++)
			add(order, &core->placing, (struct order_entry){ class->order[k]->jobs.keys[0], class->order[k] });
	}
	core->order = order;
}

void order_end(struct core *core)
{
	core->order = NULL;
}

void order_add(struct core *core, const struct job *job)
{
	if (core->order)
		add(core->order, &core->placing, (struct order_entry){ ready_key(job), job_lane(job)->queue });
}

/*
 * Check that a class may still be placed in this turn. A class that no worker serves isn't even parked: waiting to
 * have a lock alone, its job would keep out those that share it.
 */
static bool class_open(const struct core *core, const struct class_order *order, uint16_t class_at)
{
	return !order->passed[class_at] && class_served(core, core->classes[class_at]);
}

struct job *order_best(struct core *core, struct class_order *order)
{
	while (order->count > 0) {
		struct tenant_order *own = order->at[0];
		struct order_entry best = own->at[0];
		const struct queue *queue = best.queue;
		struct job *job;

		order->added = false;
		job = class_open(core, order, queue->class_at) ? ready_offered(core, core->classes[queue->class_at]) : NULL;
		if (order->added)
			continue;        /* parking this job let other jobs into the queue, perhaps better ones */
		if (job && queue->jobs.count > 0 && queue->jobs.keys[0] == best.key)
			return job;
		if (job && queue->jobs.count > 0) {
			best.key = queue->jobs.keys[0];
			entry_down(own, best);
		} else {
			drop(order);
		}
		if (order->count > 0)
			tenant_down(order, 0);
	}
	return NULL;
}

void order_charged(struct core *core, const struct tenant *tenant)
{
	if (core->order)
		tenant_down(core->order, core->order->tenants[tenant->at].place);
}

void order_pass(struct class_order *order, uint16_t class_at)
{
	order->passed[class_at] = true;
}
