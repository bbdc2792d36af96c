/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Freeing what a peak left behind: nearly empty arrays and tables shrink towards their contents. The state doesn't
 * change. Arrays grow by doubling and never shrink within a turn, so a steady load allocates nothing.
 */
#include "core/state.h"

#include "core/place/place.h"

#define LEAST 64                         /* smaller arrays aren't worth shrinking */

#define SHRINK(array, count, cap) \
	do { \
		if ((cap) > LEAST && (count) < (cap) / 4) { \
			(cap) = (count) > LEAST / 2 ? 2 * (count) : LEAST; \
			(array) = mem_resize((array), (cap), sizeof(*(array))); \
		} \
	} while (0)

static void heap_shrink(struct key_heap *heap)
{
	SHRINK(heap->keys, heap->count, heap->cap);
}

static void classes_shrink(struct core *core)
{
	for (size_t i = 0; i < core->class_count; i++) {
		struct ready_class *class = core->classes[i];
		size_t cursor = 0;
		void *value;

		if (!class)
			continue;
		SHRINK(class->order, class->order_count, class->order_cap);
		map_shrink(&class->queues);
		while (map_next(&class->queues, &cursor, NULL, &value))
			heap_shrink(&((struct queue *)value)->jobs);
	}
}

static void runs_shrink(struct core *core)
{
	SHRINK(core->runs.at, core->runs.count, core->runs.cap);
	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		struct run *run = core->runs.at[i].run;

		for (size_t lane = 0; run && lane < run->lane_count; lane++)
			heap_shrink(&run->lanes[lane]->jobs);
	}
}

void core_shrink(struct core *core)
{
	CHECK(!core->outbox);
	SHRINK(core->touched, core->touched_count, core->touched_cap);
	SHRINK(core->ended, core->ended_count, core->ended_cap);
	SHRINK(core->touched_runs, core->touched_run_count, core->touched_run_cap);
	SHRINK(core->touched_workers, core->touched_worker_count, core->touched_worker_cap);
	SHRINK(core->timers.at, core->timers.count, core->timers.cap);
	if (core->events.len == 0)
		buf_free(&core->events);
	arena_free(&core->scratch);
	arena_free(&core->end_scratch);
	arena_free(&core->placing);
	classes_shrink(core);
	runs_shrink(core);
	map_shrink(&core->pages);
	map_shrink(&core->begun);
	map_shrink(&core->keys_of);
	map_shrink(&core->pushbacks);
	map_shrink(&core->progress);
	name_map_shrink(&core->keys);
	name_map_shrink(&core->wishes);
	name_map_shrink(&core->tenant_names);
	for (size_t i = 0; i < core->worker_count; i++)
		SHRINK(core->workers[i]->held, core->workers[i]->held_count, core->workers[i]->held_cap);
}
