/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Heaps of ready jobs; the smallest key is best. A job that stops being ready leaves a stale entry behind, which is
 * dropped when it reaches the top.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/queue/internal.h"

uint64_t ready_key(const struct job *job)
{
	unsigned step = PLANTED(priority_in_steps) ? 10 : 1;

	return (uint64_t)(UINT8_MAX - job->priority / step) << SERIAL_BITS | job_serial(job);
}

struct job *ready_job(const struct core *core, uint64_t key)
{
	return job_find(core, key & ((UINT64_C(1) << SERIAL_BITS) - 1));
}

bool ready_waits(const struct job *job)
{
	return job && job->state == STATE_READY && !job_on_hold(job);
}

static void heap_down(struct key_heap *heap, size_t at)
{
	uint64_t key = heap->keys[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count && heap->keys[child + 1] < heap->keys[child])
			child++;
		if (heap->keys[child] >= key)
			break;
		heap->keys[at] = heap->keys[child];
		at = child;
	}
	heap->keys[at] = key;
}

void heap_insert(struct key_heap *heap, const struct job *job)
{
	uint64_t key = ready_key(job);
	size_t at;

	GROW(heap->keys, heap->count, heap->cap);
	at = heap->count++;
	while (at > 0 && heap->keys[(at - 1) / 2] > key) {
		heap->keys[at] = heap->keys[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->keys[at] = key;
}

void heap_pop(struct key_heap *heap, struct job *job)
{
	heap->keys[0] = heap->keys[--heap->count];
	if (heap->count > 0)
		heap_down(heap, 0);
	if (job)
		job->flags &= (uint32_t)~JOB_IN_HEAP;
}

struct job *heap_top(struct core *core, struct key_heap *heap)
{
	while (heap->count > heap->stale) {
		struct job *job = ready_job(core, heap->keys[0]);

		if (ready_waits(job))
			return job;
		heap_pop(heap, job);
		heap->stale--;
	}
	return NULL;
}

void heap_compact(struct core *core, struct key_heap *heap)
{
	size_t kept = 0;

	for (size_t i = 0; i < heap->count; i++) {
		struct job *job = ready_job(core, heap->keys[i]);

		if (ready_waits(job))
			heap->keys[kept++] = ready_key(job);
		else if (job)
			job->flags &= (uint32_t)~JOB_IN_HEAP;
	}
	heap->count = kept;
	heap->stale = 0;
	for (size_t i = kept / 2; i-- > 0;)
		heap_down(heap, i);
}
