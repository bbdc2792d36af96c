/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which ready job goes to which worker. Jobs with equal requirements share a class with a heap of its
 * own; the least loaded worker takes the best job of all classes that it can serve. Free slots are
 * filled first; then short jobs are sent ahead, by how long a worker's jobs last; and what was sent
 * ahead is asked back when another worker has nothing to do.
 */
#include "core/internal.h"

#define LOAD_ONE (UINT64_C(1) << 20)     /* every slot in use, in fixed point */
#define RECALLS_MAX 64                   /* asked back in a turn */

static struct job *ready_take(struct core *core, const struct worker *worker)
{
	struct ready_class *best = NULL;
	struct job *job = NULL;

	for (size_t i = 0; i < core->class_count; i++) {
		struct ready_class *class = core->classes[i];

		if (!class || class->count == class->stale || !worker_can(worker, class))
			continue;
		job = ready_offered(core, class);
		if (!job || (best && best->keys[0] < class->keys[0]))
			continue;
		best = class;
	}
	if (!best)
		return NULL;
	job = ready_offered(core, best);         /* looking at other classes may have put a better one there */
	ready_pop(best, job);
	return job;
}

/* --- workers --- */

uint64_t worker_depth(const struct core *core, const struct worker *worker)
{
	uint64_t span_us = (uint64_t)worker->slots * LIMIT_PREFETCH_SPAN_MS * 1000;
	uint64_t depth;

	if (core->prefetch_off || worker->results < EWMA_RESULTS)
		return 0;
	depth = span_us / (worker->run_us ? worker->run_us : 1);
	if (worker->run_us < LIMIT_PREFETCH_SPAN_MS * 1000 && depth < worker->slots)
		depth = worker->slots;
	return depth < LIMIT_PREFETCH_MAX ? depth : LIMIT_PREFETCH_MAX;
}

static bool worker_serves(const struct worker *worker)
{
	return worker->conn != 0 && worker->state == WORKER_UP && !worker->quitting;
}

static uint64_t candidate_key(struct core *core, const struct worker *worker)
{
	uint64_t load = worker->held_count * LOAD_ONE / worker->slots;

	return load << 32 | (uint32_t)rand_next(&core->rand);    /* equal ones by lot */
}

static void candidate_down(struct candidate *heap, size_t count, size_t at)
{
	struct candidate candidate = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && heap[child + 1].key < heap[child].key)
			child++;
		if (heap[child].key >= candidate.key)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = candidate;
}

static size_t candidates_find(struct core *core)
{
	size_t count = 0;

	if (core->candidate_cap < core->worker_count) {
		core->candidate_cap = core->worker_cap;
		core->candidates = mem_resize(core->candidates, core->candidate_cap,
					      sizeof(*core->candidates));
	}
	for (size_t i = 0; i < core->worker_count; i++) {
		struct worker *worker = core->workers[i];
		uint64_t room = worker->slots + worker_depth(core, worker);

		if (!worker_serves(worker) || worker->held_count >= room)
			continue;
		core->candidates[count++] = (struct candidate){
			.key = candidate_key(core, worker), .worker = worker,
			.room = room - worker->held_count,
		};
	}
	for (size_t i = count / 2; i-- > 0;)
		candidate_down(core->candidates, count, i);
	return count;
}

static void ready_place(struct core *core)
{
	struct candidate *heap;
	size_t count = candidates_find(core);

	heap = core->candidates;
	while (count > 0) {
		struct job *job = ready_take(core, heap[0].worker);

		if (!job && core->class_count == 1)
			return;
		if (job)
			attempt_assign(core, heap[0].worker, job);
		if (job && --heap[0].room > 0)
			heap[0].key = candidate_key(core, heap[0].worker);
		else
			heap[0] = heap[--count];
		if (count > 0)
			candidate_down(heap, count, 0);
	}
}

/* --- asking back --- */

/* Is there a free slot that it could have? */
static bool recall_helps(const struct core *core, const struct job *job)
{
	for (size_t i = 0; job->class_at > 0 && i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (worker_serves(worker) && worker->held_count < worker->slots &&
		    worker_can(worker, core->classes[job->class_at]))
			return true;
	}
	return job->class_at == 0;
}

static struct job *newest_ahead(const struct core *core, const struct worker *worker)
{
	struct job *newest = NULL;
	uint64_t stamp = 0;

	for (size_t i = 0; i < worker->held_count; i++) {
		struct job *job = worker->held[i].job;

		if (job->state != STATE_ASSIGNED || job->flags & JOB_RECALLED ||
		    worker->held[i].stamp < stamp || !recall_helps(core, job))
			continue;
		newest = job;
		stamp = worker->held[i].stamp;
	}
	return newest;
}

/* How many of a worker's attempts have no slot and weren't asked back yet. */
static uint64_t worker_ahead(const struct worker *worker)
{
	uint64_t ahead = worker->held_count > worker->slots ? worker->held_count - worker->slots : 0;

	for (size_t i = 0; ahead > 0 && i < worker->held_count; i++)
		if (worker->held[i].job->flags & JOB_RECALLED)
			ahead--;
	return ahead;
}

static void worker_recall(struct core *core, struct worker *worker, uint64_t *free)
{
	uint64_t ahead = worker_ahead(worker);

	for (; ahead > 0 && *free > 0; ahead--, --*free) {
		struct job *job = newest_ahead(core, worker);

		if (!job)
			return;
		attempt_recall(core, job);
	}
}

static void ahead_recall(struct core *core)
{
	uint64_t free = 0;
	bool ahead = false;

	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (worker_serves(worker) && worker->held_count < worker->slots)
			free += worker->slots - worker->held_count;
		ahead |= worker->held_count > worker->slots;
	}
	if (!ahead || free <= core->recalls)
		return;
	free -= core->recalls;           /* those on their way back have a slot already */
	if (free > RECALLS_MAX)
		free = RECALLS_MAX;
	for (size_t i = 0; i < core->worker_count && free > 0; i++)
		if (worker_serves(core->workers[i]))
			worker_recall(core, core->workers[i], &free);
}

void place_jobs(struct core *core)
{
	if (ready_tidy(core) > 0)
		ready_place(core);
	/* With several classes a slot may be free because nobody in the queue can have it. */
	if (core->class_count > 1 || core->classes[0]->count == core->classes[0]->stale)
		ahead_recall(core);
}
