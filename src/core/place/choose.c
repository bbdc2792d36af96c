/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Choose a worker for each job that wants more than a slot. Among the workers that may have the job, the order is: a
 * worker that can start it now; one that isn't overloaded; one that matches more of the job's preferences; the lowest
 * score; then chance.
 *
 * If a job asks for resources and no worker has room, the job reserves the worker that lacks least. Only the best job
 * of each class reserves; classes take turns in the order of their best jobs. Until the job is placed, that worker
 * starts other jobs only if they leave the asked amounts free, so the resources that ending jobs free add up. No slot
 * is reserved: whichever job frees the lacking resource also frees a slot, and the best job is offered that slot
 * first. Reservations are made anew in each turn. The lack never grows on a reserved worker, so no job starves.
 */
#include "core/place/place.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/place/internal.h"
#include "core/queue/queue.h"

#define KEY_PREFETCHED (UINT64_C(1) << 63)
#define KEY_OVERLOADED (UINT64_C(1) << 62)
#define KEY_MISSES 58
#define KEY_SCORE 32
#define PERMILLE 1000
#define PARENTS_MAX 64                   /* most parents that affinity looks at */

/* --- one worker --- */

/*
 * Check whether this worker may be sent a job of this class ahead of a free slot. A class with resources may only
 * join attempts of its own class, where each one that ends makes room for exactly one more.
 */
static bool worker_takes_prefetched(const struct core *core, const struct worker *worker, uint16_t class_at)
{
	const struct wants *wants = core->classes[class_at]->wants;
	uint64_t depth = worker_depth(core, worker);

	if (worker->reserved != 0 || worker->held_count - worker_busy(worker) >= depth)
		return false;
	if (!wants || wants->ask_count == 0)
		return worker->held_count - worker->unreserved >= worker->slots;
	return worker->asking > 0 &&
	       (PLANTED(prefetched_among_others) || (!worker->asking_mixed && worker->asking_class == class_at)) &&
	       worker->unreserved < worker->slots;
}

static uint64_t misses(const struct worker *worker, const struct wants *wants)
{
	uint64_t count = 0;

	if (!wants)
		return 0;
	for (size_t i = 0; i < wants->spec.prefer.n && count < 12; i++)
		count += !label_met(&worker->labels, &wants->prefer[i]);
	count += wants->spec.pool.len > 0 && !slice_eq(wants->spec.pool, slice_str(worker->pool->name));
	count += wants->spec.prefer_worker.len > 0 && !PLANTED(preferred_worker_ignored) &&
		 !slice_eq(wants->spec.prefer_worker, slice_str(worker->name));
	return count;
}

static bool candidate_key(const struct core *core, const struct worker *worker, uint16_t class_at, uint64_t *ret_key)
{
	uint64_t key = worker_score(worker) << KEY_SCORE | worker->lot;

	if (!worker_takes(core, worker, class_at)) {
		if (!worker_takes_prefetched(core, worker, class_at))
			return false;
		key |= KEY_PREFETCHED;
	}
	if (worker_overloaded(worker))
		key |= KEY_OVERLOADED;
	*ret_key = key | misses(worker, core->classes[class_at]->wants) << KEY_MISSES;
	return true;
}

/* --- affinity --- */

struct worker *job_target(const struct core *core, const struct job *job, struct arena *arena)
{
	const struct wants *wants = job_wants(core, job);
	struct slice bytes = job_spec_bytes(job);
	struct rec_job_spec spec;
	uint32_t best = 0, best_ran = 0;

	if (!wants || wants->spec.affinity == AFFINITY_NONE)
		return NULL;
	if (wants->spec.affinity == AFFINITY_STICKY && job->worker > 0)
		return worker_find(core, job->worker);
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	for (size_t i = 0; i < spec.needs.n && i < PARENTS_MAX; i++) {
		uint32_t worker = run_job(job->run, (uint32_t)spec.needs.at[i])->worker, ran = 0;

		for (size_t k = 0; worker > 0 && k < spec.needs.n && k < PARENTS_MAX; k++)
			ran += run_job(job->run, (uint32_t)spec.needs.at[k])->worker == worker;
		if (ran > best_ran) {
			best = worker;
			best_ran = ran;
		}
	}
	return best ? worker_find(core, best) : NULL;
}

static struct worker *placing_target(struct core *core, const struct job *job)
{
	arena_reset(&core->scratch);
	return job_target(core, job, &core->scratch);
}

/* --- the best of a class --- */

struct class_heap {
	struct candidate *at;            /* heap of candidates; NULL: not built yet in this turn */
	size_t count;
};

struct choosing {
	struct core *core;
	struct candidate *workers;       /* workers with a free slot or room to prefetch a job */
	size_t worker_count;
	struct class_heap *heaps;        /* the heaps of candidates, indexed by class */
};

static void heap_build(struct choosing *choosing, uint16_t class_at)
{
	const struct ready_class *class = choosing->core->classes[class_at];
	struct class_heap *heap = &choosing->heaps[class_at];
	bool steady = class_steady(choosing->core, class);

	heap->at = arena_alloc(&choosing->core->placing, (choosing->worker_count + 1) * sizeof(*heap->at));
	heap->count = 0;
	for (size_t i = 0; i < choosing->worker_count; i++) {
		struct worker *worker = choosing->workers[i].worker;
		uint64_t key;

		if (!class_allows(worker, class) || (steady && worker_rests(choosing->core, worker)) ||
		    !candidate_key(choosing->core, worker, class_at, &key))
			continue;
		heap->at[heap->count++] = (struct candidate){ .key = key, .worker = worker };
	}
	for (size_t i = heap->count / 2; i-- > 0;)
		candidate_down(heap->at, heap->count, i);
}

/*
 * Return the best worker for a class. Keys in the heap are brought up to date lazily: within a turn workers only fill
 * up, so an old key is never too high, and a worker that has no room now gets none later.
 */
static struct worker *heap_best(struct choosing *choosing, uint16_t class_at)
{
	struct class_heap *heap = &choosing->heaps[class_at];

	if (!heap->at)
		heap_build(choosing, class_at);
	while (heap->count > 0) {
		struct candidate *top = &heap->at[0];
		uint64_t key;

		if (!candidate_key(choosing->core, top->worker, class_at, &key))
			*top = heap->at[--heap->count];
		else if (key == top->key)
			return top->worker;
		else
			top->key = key;
		if (heap->count > 0)
			candidate_down(heap->at, heap->count, 0);
	}
	return NULL;
}

/* Choose the job's affinity target, unless that is overloaded (or flaps) and a better worker isn't. */
static struct worker *choose(struct choosing *choosing, uint16_t class_at, const struct job *job)
{
	struct core *core = choosing->core;
	const struct ready_class *class = core->classes[class_at];
	struct worker *target = placing_target(core, job), *best;
	bool hard = target && class->wants->spec.affinity_hard;
	bool takes = target && class_allows(target, class) && worker_takes(core, target, class_at);

	if (takes && (hard || (!worker_overloaded(target) && !worker_rests(core, target))))
		return target;
	best = hard && !PLANTED(affinity_gives_way) ? NULL : heap_best(choosing, class_at);
	return best && takes && !worker_rests(core, target) &&
	       (PLANTED(affinity_beside_a_better) || worker_overloaded(best)) ? target : best;
}

/* --- reservations --- */

/* Amounts may have 60 bits, so the multiplication could overflow. */
static uint64_t permille_of(uint64_t part, uint64_t whole)
{
	return whole >> 50 ? part / (whole / PERMILLE) : part * PERMILLE / whole;
}

/*
 * Return how much a worker lacks to take the job: the missing part of each resource in thousandths of the amount
 * asked for, summed.
 */
static uint64_t lack(const struct worker *worker, const struct wants *wants)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < wants->ask_count; i++) {
		const struct resource *ask = &wants->asks[i];
		const struct resource *offer = resource_find(worker->offers, worker->offer_count, ask->name);
		uint64_t room = offer->amount > offer->used ? offer->amount - offer->used : 0;

		if (ask->amount > room)
			sum += permille_of(ask->amount - room, ask->amount);
	}
	return sum;
}

/*
 * Compare two workers for a reservation: the one that lacks less is better. A flapping worker loses to any steady
 * one.
 */
static bool kept_before(const struct core *core, const struct worker *worker, const struct worker *other,
			const struct wants *wants)
{
	if (worker_rests(core, worker) != worker_rests(core, other))
		return worker_rests(core, other);
	return lack(worker, wants) < lack(other, wants);
}

static void reserve_worker(struct core *core, uint16_t class_at, const struct job *job)
{
	const struct ready_class *class = core->classes[class_at];
	const struct worker *target = placing_target(core, job);
	struct worker *best = NULL;

	if (!class->wants || class->wants->ask_count == 0)
		return;
	for (size_t i = 0; i < core->worker_count; i++) {
		struct worker *worker = core->workers[i];

		if (worker->reserved != 0 || !class_allows(worker, class) ||
		    (target && class->wants->spec.affinity_hard && worker != target))
			continue;
		if (!best || kept_before(core, worker, best, class->wants))
			best = worker;
	}
	if (!best)
		return;
	best->reserved = job_serial(job);
	best->reserved_class = class_at;
	core->reserved = true;
}

void reservations_clear(struct core *core)
{
	for (size_t i = 0; core->reserved && i < core->worker_count; i++)
		core->workers[i]->reserved = 0;
	core->reserved = false;
}

/* --- all classes --- */

struct aside { /* jobs that only one, busy worker may have: out of the queue until all classes are done */
	struct job *jobs[LIMIT_ASIDE_MAX];
	size_t count;
};

/*
 * If the class has no queued job left, offer jobs that are parked behind those set aside: other workers may be free
 * for them.
 */
static void aside_offer(struct core *core, const struct aside *aside, const struct ready_class *class)
{
	if (class->count > class->stale)
		return;
	for (size_t i = 0; i < aside->count; i++)
		if (core->classes[aside->jobs[i]->class_at] == class)
			bounds_offer(core, aside->jobs[i]);
}

static void aside_back(struct core *core, struct aside *aside)
{
	for (size_t i = 0; i < aside->count; i++)
		class_insert(core->classes[aside->jobs[i]->class_at], aside->jobs[i]);
}

void classes_place(struct core *core, size_t count)
{
	struct choosing choosing = { .core = core, .workers = core->candidates, .worker_count = count };
	struct aside aside = { .count = 0 };
	struct class_order order;
	struct job *job;

	arena_reset(&core->placing);
	choosing.heaps = arena_zalloc(&core->placing, core->class_count, sizeof(*choosing.heaps));
	order_begin(core, &order);
	while ((job = order_best(core, &order))) {
		struct ready_class *class = core->classes[job->class_at];
		struct worker *worker = choose(&choosing, job->class_at, job);

		if (worker) {
			ready_pop(class, job);
			attempt_assign(core, worker, job);
			worker->lot = (uint32_t)rand_next(&core->rand);
			aside_offer(core, &aside, class);
			continue;
		}
		reserve_worker(core, job->class_at, job);
		if (class->wants && class->wants->spec.affinity_hard && aside.count < LIMIT_ASIDE_MAX) {
			ready_pop(class, job);
			aside.jobs[aside.count++] = job;
			aside_offer(core, &aside, class);
		} else {
			order_pass(&order, job->class_at);
		}
	}
	order_end(core);
	aside_back(core, &aside);
}

void candidate_down(struct candidate *heap, size_t count, size_t at)
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
