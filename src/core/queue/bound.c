/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounds: a run, fan-out, tenant, group or lock limits how many attempts are active at once. Jobs of a run with the
 * same class and the same bounds share a lane. When a job reaches the top of its queue and one of its bounds is full,
 * the job is parked in its lane, and the lane waits at that bound, among the lanes of its class. When the bound has
 * room, the best job of each class is offered again.
 *
 * So while a bound has room, every class that waits there has a job in the queue. The cost depends on the number of
 * lanes, not of jobs.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/queue/internal.h"

enum { OF_FANOUT, OF_RUN, OF_TENANT, OF_RUNS, OF_CLAIMS };        /* numbers of a lane's bounds, for lane_bound */

static size_t lane_bounds(const struct lane *lane)
{
	return OF_CLAIMS + lane->claim_count;
}

/* Inlined because it runs for each bound of each job that begins or ends. */
static inline __attribute__((always_inline)) struct bound *lane_bound(const struct lane *lane, size_t at)
{
	switch (at) {
	case OF_FANOUT:
		return lane->in_bounds && lane->group ? lane->run->groups[lane->group - 1] : NULL;
	case OF_RUN:
		return lane->in_bounds ? &lane->run->bound : NULL;
	case OF_TENANT:
		return lane->in_share ? &lane->run->tenant->bound : NULL;
	case OF_RUNS: /* a run that has its place in the concurrency group doesn't wait at the group any longer */
		return lane->run->concurrency && !lane->run->seated ? &lane->run->concurrency->runs : NULL;
	default:
		return lane->claims[at - OF_CLAIMS].bound;
	}
}

bool bound_full(const struct bound *bound)
{
	return bound->limit > 0 && bound->active >= bound->limit + PLANTED(bound_off_by_one);
}

/* Return the first of the lane's bounds that has no room for a job with this key, or NULL. */
static struct bound *lane_full(const struct core *core, const struct lane *lane, uint64_t key)
{
	for (size_t i = 0; i < lane_bounds(lane); i++) {
		struct bound *bound = lane_bound(lane, i);

		if (bound && (bound->kind == BOUND_LOCK
				      ? lock_blocked(core, (struct lock *)bound, lane_shares(lane, bound), key)
				      : bound_full(bound)))
			return bound;
	}
	return NULL;
}

struct bound *job_bound_full(const struct core *core, const struct job *job)
{
	const struct lane *lane = job_lane(job);

	return lane_full(core, lane, lane->claim_count ? ready_key(job) : 0);
}

bool lane_shares(const struct lane *lane, const struct bound *bound)
{
	for (size_t i = 0; i < lane->claim_count; i++)
		if (lane->claims[i].bound == bound)
			return lane->claims[i].shared;
	return false;
}

const struct bound *job_parked_at(const struct job *job)
{
	if (job->state == STATE_READY && job->flags & JOB_PARKED && !job_on_hold(job))
		return job_lane(job)->at;
	return NULL;
}

/* --- at which bound a lane waits --- */

static struct stand *stand_of(struct bound *bound, const struct lane *lane)
{
	bool shared = lane_shares(lane, bound);

	for (size_t i = 0; i < bound->stand_count; i++)
		if (bound->stands[i].class_at == lane->class_at && bound->stands[i].shared == shared)
			return &bound->stands[i];
	GROW(bound->stands, bound->stand_count, bound->stand_cap);
	bound->stands[bound->stand_count] = (struct stand){ .class_at = lane->class_at, .shared = shared };
	return &bound->stands[bound->stand_count++];
}

static void stand_put(struct stand *stand, struct lane *lane, size_t at)
{
	stand->at[at] = lane;
	lane->place = at;
}

static void stand_fix(struct stand *stand, struct lane *lane)
{
	size_t at = lane->place;

	while (at > 0 && stand->at[(at - 1) / 2]->key > lane->key) {
		stand_put(stand, stand->at[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= stand->count)
			break;
		if (child + 1 < stand->count && stand->at[child + 1]->key < stand->at[child]->key)
			child++;
		if (stand->at[child]->key >= lane->key)
			break;
		stand_put(stand, stand->at[child], at);
		at = child;
	}
	stand_put(stand, lane, at);
}

void lane_leave(struct lane *lane)
{
	struct stand *stand;
	struct lane *last;

	if (!lane->at)
		return;
	stand = stand_of(lane->at, lane);
	last = stand->at[--stand->count];
	lane->at = NULL;
	if (last == lane)
		return;
	last->place = lane->place;
	stand_fix(stand, last);
}

/* Put the lane into its place at a bound: its best job changed, or it moves there from another bound. */
static void lane_stand(struct lane *lane, struct bound *bound)
{
	struct stand *stand;

	if (lane->at && (lane->at != bound || lane->jobs.count == 0))
		lane_leave(lane);
	if (lane->jobs.count == 0)
		return;
	lane->key = lane->jobs.keys[0];
	stand = stand_of(bound, lane);
	if (!lane->at) {
		GROW(stand->at, stand->count, stand->cap);
		lane->at = bound;
		lane->place = stand->count++;
	}
	stand_fix(stand, lane);
}

/* --- parking and offering --- */

/* Put the best job of a lane back into the queue of its class. */
static void lane_release(struct core *core, struct lane *lane, struct job *job)
{
	heap_pop(&lane->jobs, job);
	core->parked_ready--;
	class_insert(core->classes[job->class_at], job);
	order_add(core, job);
}

/* Offer the jobs of a lane that the bound of its run doesn't limit, until one of its other bounds is full. */
static void lane_offer(struct core *core, struct lane *lane)
{
	struct job *job;

	while ((job = heap_top(core, &lane->jobs))) {
		struct bound *full = lane_full(core, lane, lane->jobs.keys[0]);

		if (full) {
			lane_stand(lane, full);
			return;
		}
		lane_release(core, lane, job);
	}
	heap_compact(core, &lane->jobs);
	lane_leave(lane);
}

static void stand_offer(struct core *core, struct bound *bound, size_t at)
{
	while (bound->stands[at].count > 0) {
		struct lane *lane = bound->stands[at].at[0];
		struct job *job = heap_top(core, &lane->jobs);
		struct bound *full;

		if (!job || lane->key != lane->jobs.keys[0]) {
			if (!job)
				heap_compact(core, &lane->jobs);
			lane_stand(lane, bound);
			continue;
		}
		full = lane_full(core, lane, lane->key);
		if (full == bound)
			return;
		if (full) {
			lane_stand(lane, full);
			continue;
		}
		lane_release(core, lane, job);
		lane_stand(lane, bound);
		return;
	}
}

static void stands_offer(struct core *core, struct bound *bound, bool shared)
{
	for (size_t i = bound->stand_count; i-- > 0;) {
		if (bound->stands[i].shared != shared)
			continue;
		stand_offer(core, bound, i);
		if (bound->stands[i].count > 0)
			continue;
		mem_free(bound->stands[i].at);
		bound->stands[i] = bound->stands[--bound->stand_count];
	}
}

void bound_offer(struct core *core, struct bound *bound)
{
	if (bound->stand_count == 0 || bound_full(bound))
		return;
	/* Offer the lock first to jobs that want it alone: they may keep out jobs that would share it. */
	stands_offer(core, bound, false);
	if (bound->kind == BOUND_LOCK)
		stands_offer(core, bound, true);
}

/*
 * Offer jobs at a bound whose limit has changed. bound_offer offers one job of each class, but now there may be room
 * for many.
 */
void bound_widened(struct core *core, struct bound *bound)
{
	uint64_t parked = core->parked_ready + 1;

	for (uint64_t room = 0; core->parked_ready < parked && room < LIMIT_SLOTS_MAX; room++) {
		parked = core->parked_ready;
		bound_offer(core, bound);
	}
}

void bound_park(struct core *core, struct bound *full, struct job *job)
{
	struct lane *lane = job_lane(job);

	job->flags |= JOB_PARKED;
	heap_insert(&lane->jobs, job);
	core->parked_ready++;
	lane_stand(lane, full);
	/* The other bounds of the parked job may have room that it doesn't use: offer that to other jobs. */
	for (size_t i = 0; i < lane_bounds(lane); i++)
		if (lane_bound(lane, i) && lane_bound(lane, i) != full)
			bound_offer(core, lane_bound(lane, i));
}

void bounds_offer(struct core *core, const struct job *job)
{
	const struct lane *lane = job_lane(job);

	for (size_t i = 0; i < lane_bounds(lane); i++)
		if (lane_bound(lane, i))
			bound_offer(core, lane_bound(lane, i));
}

void run_offer(struct core *core, struct run *run)
{
	for (const struct job *job = run_job(run, 0); job; job = job_next(job))
		if (job->state == STATE_READY)
			bounds_offer(core, job);
}

void bounds_count(struct core *core, const struct job *job, int change)
{
	const struct lane *lane = job_lane(job);

	for (size_t i = OF_FANOUT; i <= OF_TENANT; i++)
		if (lane_bound(lane, i) &&
		    !(PLANTED(tenant_not_counted) && i == OF_TENANT && lane->run->bound.active > 1))
			lane_bound(lane, i)->active += (uint32_t)change;
	if (change > 0 && lane_bound(lane, OF_RUNS))
		run_seat(core, lane->run);
	if (change > 0 || !PLANTED(parked_forever))
		bounds_offer(core, job);
}

void claims_count(struct core *core, const struct job *job, int change)
{
	const struct lane *lane = job_lane(job);

	for (size_t i = 0; i < lane->claim_count; i++) {
		struct bound *bound = lane->claims[i].bound;

		bound->active += (uint32_t)change;
		if (bound->kind == BOUND_LOCK && !lane->claims[i].shared)
			((struct lock *)bound)->alone += (uint32_t)change;
	}
	for (size_t i = 0; i < lane->claim_count; i++)
		bound_offer(core, lane->claims[i].bound);
}

void run_freed(struct core *core, struct run *run, struct bound *bound)
{
	for (size_t i = 0; i < run->lane_count; i++) {
		if (run->lanes[i]->at != bound)
			continue;
		if (run->lanes[i]->in_bounds)
			lane_stand(run->lanes[i], &run->bound);
		else
			lane_offer(core, run->lanes[i]);
	}
	bound_offer(core, &run->bound);
}

void run_compact(struct core *core, struct run *run)
{
	for (size_t i = 0; i < run->lane_count; i++) {
		struct lane *lane = run->lanes[i];

		if (lane->jobs.count == 0)
			continue;
		heap_compact(core, &lane->jobs);
		lane_stand(lane, lane->at);
	}
}

/*
 * Priorities changed: offer the best waiting lanes again, since they may now rank before jobs already in the queue.
 */
void run_reoffer(struct core *core, struct run *run)
{
	for (size_t i = 0; i < run->lane_count; i++)
		if (run->lanes[i]->at && run->lanes[i]->place == 0)
			bound_offer(core, run->lanes[i]->at);
}

void bound_free(struct bound *bound)
{
	for (size_t i = 0; i < bound->stand_count; i++)
		mem_free(bound->stands[i].at);
	mem_free(bound->stands);
}
