/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When ready jobs are assigned to workers, and when they are recalled. Jobs with equal requirements share a class
 * with its own heap. Free slots are filled first. Then short jobs are prefetched; the depth follows from the average
 * run time at the worker. Prefetched jobs are recalled when another worker is idle, or when their own worker may
 * start nothing new.
 *
 * If no job wants more than a slot, the least loaded worker takes the best job and nothing else matters. All other
 * cases are in choose.c.
 */
#include "core/place/place.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/place/internal.h"
#include "core/queue/queue.h"

#define KEY_PREFETCHED (UINT64_C(1) << 63)
#define KEY_OVERLOADED (UINT64_C(1) << 62)
#define KEY_SCORE 32
#define RECALLS_MAX 64                   /* most recalls in a turn */

/* --- workers --- */

static bool worker_draining(const struct worker *worker)
{
	return worker->standing == STANDING_DRAINING || worker->pool->state != POOL_ACTIVE;
}

static uint64_t plain_key(struct core *core, const struct worker *worker)
{
	/* Equal workers are chosen by chance. */
	uint64_t key = worker_score(worker) << KEY_SCORE | (uint32_t)rand_next(&core->rand);

	if (worker->held_count - worker->unreserved >= worker->slots)
		key |= KEY_PREFETCHED;
	return worker_overloaded(worker) ? key | KEY_OVERLOADED : key;
}

/* Collect the workers with a free slot or room to prefetch. *ret_rests is set if one of them flaps. */
static size_t candidates_find(struct core *core, bool *ret_rests)
{
	size_t count = 0;

	if (core->candidate_cap < core->worker_count) {
		core->candidate_cap = core->worker_cap;
		core->candidates = mem_resize(core->candidates, core->candidate_cap,
					      sizeof(*core->candidates));
	}
	for (size_t i = 0; i < core->worker_count; i++) {
		struct worker *worker = core->workers[i];
		uint64_t depth = worker_depth(core, worker);
		/* Unreserved attempts have no slot, however many were prefetched when jobs were shorter. */
		uint64_t room = worker->slots + (depth > worker->unreserved ? depth : worker->unreserved);

		if (!worker_serves(worker) || worker->held_count >= room)
			continue;
		*ret_rests |= worker_rests(core, worker);
		core->candidates[count++] = (struct candidate){ .worker = worker, .room = room - worker->held_count };
	}
	return count;
}

static void plain_place(struct core *core, size_t count)
{
	struct candidate *heap = core->candidates;

	for (size_t i = 0; i < count; i++)
		heap[i].key = plain_key(core, heap[i].worker);
	for (size_t i = count / 2; i-- > 0;)
		candidate_down(heap, count, i);
	while (count > 0) {
		struct job *job = ready_offered(core, core->classes[0]);

		if (!job)
			return;
		ready_pop(core->classes[0], job);
		attempt_assign(core, heap[0].worker, job);
		if (--heap[0].room > 0)
			heap[0].key = plain_key(core, heap[0].worker);
		else
			heap[0] = heap[--count];
		if (count > 0)
			candidate_down(heap, count, 0);
	}
}

static void ready_place(struct core *core)
{
	bool rests = false;
	size_t count = candidates_find(core, &rests);

	if (count == 0)
		return;
	if (core->class_count == 1 && !rests) {
		plain_place(core, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		core->candidates[i].worker->lot = (uint32_t)rand_next(&core->rand);
	classes_place(core, count);
}

/* --- recalling --- */

enum helps { HELPS_UNKNOWN, HELPS_NOT, HELPS };

/*
 * Check whether some worker could start a job of this class now. If none could, a recalled job would be prefetched
 * again, turn after turn.
 */
static bool class_startable(const struct core *core, uint16_t class_at)
{
	const struct ready_class *class = core->classes[class_at];
	bool steady = class_steady(core, class);

	if (class->wants && class->wants->spec.affinity_hard)
		return false;
	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (class_allows(worker, class) &&
		    (PLANTED(asked_back_for_one_that_flaps) || !(steady && worker_rests(core, worker))) &&
		    worker_takes(core, worker, class_at))
			return true;
	}
	return false;
}

/* Cache class_startable for the turn: a recall doesn't change its answer. */
static bool recall_helps(const struct core *core, enum helps *classes, const struct job *job)
{
	enum helps *helps = &classes[job->class_at];

	if (*helps == HELPS_UNKNOWN)
		*helps = PLANTED(asked_back_for_what_is_kept) || class_startable(core, job->class_at) ?
			 HELPS : HELPS_NOT;
	return *helps == HELPS;
}

/*
 * Check whether more attempts need slots than the worker has. Unreserved attempts need none; recalled ones are
 * about to leave.
 */
static bool slots_exceeded(const struct worker *worker)
{
	uint64_t count = worker->held_count - worker->unreserved;

	for (size_t i = 0; i < worker->held_count; i++)
		count -= (worker->held[i].job->flags & (JOB_RECALLED | JOB_UNRESERVED)) == JOB_RECALLED;
	return count > worker->slots;
}

static struct job *newest_prefetched(const struct core *core, const struct worker *worker, enum helps *classes)
{
	bool exceeded = slots_exceeded(worker);
	struct job *newest = NULL;
	uint64_t stamp = 0;

	for (size_t i = 0; i < worker->held_count; i++) {
		struct job *job = worker->held[i].job;

		if (job->state != STATE_ASSIGNED || job->flags & JOB_RECALLED ||
		    !(exceeded || job->flags & JOB_UNRESERVED) ||
		    worker->held[i].stamp < stamp || !recall_helps(core, classes, job))
			continue;
		newest = job;
		stamp = worker->held[i].stamp;
	}
	return newest;
}

/* Count a worker's attempts that have no slot and haven't been recalled yet. */
static uint64_t worker_prefetched(const struct worker *worker)
{
	uint64_t prefetched = worker->held_count - worker_busy(worker);

	for (size_t i = 0; prefetched > 0 && i < worker->held_count; i++)
		if (worker->held[i].job->flags & JOB_RECALLED)
			prefetched--;
	return prefetched;
}

static void worker_recall(struct core *core, struct worker *worker, enum helps *classes, uint64_t *free)
{
	uint64_t prefetched = worker_prefetched(worker);

	for (; prefetched > 0 && *free > 0; prefetched--, --*free) {
		struct job *job = newest_prefetched(core, worker, classes);

		if (!job)
			return;
		attempt_recall(core, job);
	}
}

static void prefetched_recall(struct core *core)
{
	enum helps *classes;
	uint64_t free = 0;
	bool prefetched = false;

	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (worker_serves(worker))
			free += worker->slots - worker_busy(worker);
		prefetched |= worker->held_count > worker_busy(worker);
	}
	if (!prefetched || free <= core->recalls)
		return;
	free -= core->recalls;           /* each job being recalled will take one of the free slots */
	if (free > RECALLS_MAX)
		free = RECALLS_MAX;
	arena_reset(&core->placing);
	classes = arena_zalloc(&core->placing, core->class_count, sizeof(*classes));
	for (size_t i = 0; i < core->worker_count && free > 0; i++)
		if (worker_connected(core->workers[i]))
			worker_recall(core, core->workers[i], classes, &free);
}

/* Does the attempt's worker still belong to the right pool, after a change of a mapping or of what pools provide? */
static bool pool_is_right(const struct core *core, const struct worker *worker, const struct job *job)
{
	const struct wants *wants = job_wants(core, job);

	return !wants ||
	       (pool_has_topic(worker->pool, wants) && pool_provides(worker->pool, wants));
}

/*
 * Recall the attempts that draining workers, and workers of the wrong pool, haven't started. A recall can come too late: the
 * worker may have started the job meanwhile.
 */
static void drain_recall(struct core *core)
{
	core->drain_due = false;
	for (size_t i = 0; i < core->worker_count; i++) {
		struct worker *worker = core->workers[i];

		if (!worker_connected(worker))
			continue;
		for (size_t at = 0; at < worker->held_count; at++) {
			struct job *job = worker->held[at].job;

			if (job->state == STATE_ASSIGNED && (worker_draining(worker) || !pool_is_right(core, worker, job)))
				attempt_recall(core, job);
		}
	}
}

void place_jobs(struct core *core)
{
	if (core->drain_due)
		drain_recall(core);
	reservations_clear(core);
	locks_offer(core);
	if (ready_tidy(core) > 0)
		ready_place(core);
	/* With several classes a slot may stay free because no queued job may run on that worker. */
	if (core->class_count > 1 || core->classes[0]->count == core->classes[0]->stale)
		prefetched_recall(core);
}
