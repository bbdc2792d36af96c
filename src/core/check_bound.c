/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks on ready jobs by recounting: queues of classes, lanes, and the bounds at which lanes wait. */
#include "core/state.h"

#include "core/invariants.h"
#include "core/graph/graph.h"
#include "core/place/place.h"
#include "core/queue/queue.h"

static bool waits(const struct job *job)
{
	return job && job->state == STATE_READY && !job_on_hold(job);
}

/* Check a heap and count its entries of ready jobs. */
static uint64_t check_heap(const struct core *core, const struct key_heap *heap, uint32_t flag)
{
	uint64_t ready = 0;

	for (size_t i = 0; i < heap->count; i++) {
		const struct job *job = ready_job(core, heap->keys[i]);

		CHECK(i == 0 || heap->keys[(i - 1) / 2] < heap->keys[i]);
		CHECK(!job || (job->flags & (JOB_QUEUED | JOB_PARKED)) == flag);
		ready += waits(job);
	}
	CHECK(heap->count - heap->stale == ready);
	return ready;
}

static void check_served(const struct core *core, const struct ready_class *class)
{
	bool served = false;

	for (size_t i = 0; i < core->worker_count; i++)
		served = served || class_allows(core->workers[i], class);
	CHECK(class->served_as_of != core->serving || class->served == served);
}

static uint64_t check_class(const struct core *core, const struct ready_class *class)
{
	uint64_t ready = 0, tenant;
	size_t count = 0, order = 0, cursor = 0;
	void *value;

	check_served(core, class);
	while (map_next(&class->queues, &cursor, &tenant, &value)) {
		const struct queue *queue = value;

		CHECK(core->tenants[tenant] == queue->tenant && core->classes[queue->class_at] == class);
		ready += check_heap(core, &queue->jobs, JOB_QUEUED);
		count += queue->jobs.count;
		if (queue->jobs.count == 0)
			continue;
		CHECK(queue->place < class->order_count && class->order[queue->place] == queue);
		CHECK(queue->key <= queue->jobs.keys[0] && queue->virtual_time <= queue->tenant->virtual_time);
		order++;
	}
	CHECK(order == class->order_count && count == class->count && class->count - class->stale == ready);
	return ready;
}

static bool lane_has(const struct lane *lane, const struct bound *bound)
{
	bool has = (lane->in_share && bound == &lane->run->tenant->bound) ||
		   (lane->in_bounds && (bound == &lane->run->bound ||
					(lane->group && bound == lane->run->groups[lane->group - 1]))) ||
		   (lane->run->concurrency && !lane->run->seated && bound == &lane->run->concurrency->runs);

	for (size_t i = 0; i < lane->claim_count; i++)
		has |= lane->claims[i].bound == bound;
	return has;
}

/* Check that a bound with room has a job of this class in the queue, better than all that wait at the bound. */
static void check_offered(const struct core *core, const struct bound *bound, const struct stand *stand, uint64_t best)
{
	const struct ready_class *class = core->classes[stand->class_at];
	bool offered = false;
	size_t cursor = 0;
	void *value;

	CHECK(class);
	while (!offered && map_next(&class->queues, &cursor, NULL, &value)) {
		const struct queue *queue = value;

		for (size_t at = 0; at < queue->jobs.count && !offered; at++) {
			const struct job *job = ready_job(core, queue->jobs.keys[at]);

			offered = waits(job) && ready_key(job) < best && lane_has(job_lane(job), bound) &&
				  lane_shares(job_lane(job), bound) == stand->shared;
		}
	}
	CHECK(offered);
}

static uint64_t best_key(const struct core *core, const struct key_heap *heap, uint64_t best)
{
	for (size_t i = 0; i < heap->count; i++)
		if (heap->keys[i] < best && waits(ready_job(core, heap->keys[i])))
			best = heap->keys[i];
	return best;
}

static void check_bound(const struct core *core, const struct bound *bound, uint64_t active)
{
	CHECK(bound->active == active);
	for (size_t at = 0; at < bound->stand_count; at++) {
		const struct stand *stand = &bound->stands[at];
		uint64_t best = UINT64_MAX;
		bool room;

		for (size_t i = 0; i < stand->count; i++) {
			const struct lane *lane = stand->at[i];

			CHECK(lane->at == bound && lane->place == i && lane->class_at == stand->class_at);
			CHECK(i == 0 || stand->at[(i - 1) / 2]->key <= lane->key);
			CHECK(lane->jobs.count > 0 && lane->key <= lane->jobs.keys[0]);
			CHECK(lane_has(lane, bound));
			CHECK(lane_shares(lane, bound) == stand->shared);
			best = best_key(core, &lane->jobs, best);
		}
		room = bound->kind == BOUND_LOCK ? !lock_blocked(core, (const struct lock *)bound, stand->shared, best)
						 : !bound_full(bound);
		if (best != UINT64_MAX && room)
			check_offered(core, bound, stand, best);
	}
}

/* Count a run's attempts for its own bounds and its fan-outs. Return how many of its ready jobs are parked. */
static uint64_t check_lanes(const struct core *core, const struct run *run)
{
	uint64_t parked = 0, active = 0;

	for (size_t i = 0; i < run->lane_count; i++) {
		const struct lane *lane = run->lanes[i];

		CHECK(lane->run == run && !lane->at == !lane->jobs.count);
		CHECK(map_get(&core->classes[lane->class_at]->queues, run->tenant->at) == lane->queue);
		parked += check_heap(core, &lane->jobs, JOB_PARKED);
	}
	for (size_t at = 0; at < run->group_count; at++) {
		uint64_t in_group = 0;
		uint32_t jobs = 0;

		for (const struct job *job = run_job(run, 0); job; job = job_next(job)) {
			if (job_group(job) != run->groups[at])
				continue;
			CHECK(jobs++ > 0 || job->index == run->groups[at]->first);
			in_group += state_holds(job->state) && job_lane(job)->in_bounds;
		}
		CHECK(jobs == run->groups[at]->jobs);
		check_bound(core, run->groups[at], in_group);
	}
	for (const struct job *job = run_job(run, 0); job; job = job_next(job)) {
		CHECK(job->lane < run->lane_count && run->lanes[job->lane]->class_at == job->class_at);
		active += state_holds(job->state) && job_lane(job)->in_bounds;
	}
	check_bound(core, &run->bound, active);
	return parked;
}

static void check_tenant(const struct core *core, const struct tenant *tenant)
{
	uint64_t active = 0, runs = 0;

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (!run || run->tenant != tenant)
			continue;
		runs++;
		active += run->bound.active;
		for (const struct job *job = run->extras.count ? run_job(run, 0) : NULL; job; job = job_next(job))
			active += (uint64_t)(job_is_service(job) - job_is_subrun(job)) * state_holds(job->state);
	}
	CHECK(tenant->runs == runs && tenant_find(core, slice_str(tenant->name)) == tenant);
	CHECK(tenant->runs > 0 || tenant->set);
	check_bound(core, &tenant->bound, active);
}

/* Count the jobs that hold this group or lock, and add up the exclusive ones and the lanes that claim it. */
static uint64_t check_claims(const struct core *core, const struct bound *bound, uint64_t *ret_alone, uint64_t *ret_lanes)
{
	uint64_t jobs = 0;

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		for (size_t at = 0; run && at < run->lane_count; at++)
			for (size_t claim = 0; claim < run->lanes[at]->claim_count; claim++)
				*ret_lanes += run->lanes[at]->claims[claim].bound == bound;
		for (const struct job *job = run ? run_job(run, 0) : NULL; job; job = job_next(job))
			for (size_t claim = 0; state_claims(job->state) && claim < job_lane(job)->claim_count; claim++) {
				jobs += job_lane(job)->claims[claim].bound == bound;
				*ret_alone += job_lane(job)->claims[claim].bound == bound && !job_lane(job)->claims[claim].shared;
			}
	}
	return jobs;
}

static void check_group(const struct core *core, const struct group *group)
{
	uint64_t runs = 0, users = 0, alone = 0, jobs = check_claims(core, &group->jobs, &alone, &users);

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (!run)
			continue;
		users += run->concurrency == group;
		runs += run->concurrency == group && run->seated;
	}
	CHECK(users == group->users && (users > 0 || group->set));
	CHECK(group->jobs.limit == group_limit(group) && group->runs.limit == group->jobs.limit);
	check_bound(core, &group->jobs, jobs);
	check_bound(core, &group->runs, runs);
}

static void check_lock(const struct core *core, const struct lock *lock)
{
	uint64_t alone = 0, users = 0, jobs = check_claims(core, &lock->bound, &alone, &users);

	CHECK(lock->alone == alone && lock->users == users && (users > 0 || lock->hold_count > 0));
	CHECK(jobs + lock->hold_count <= 1 || (alone == 0 && lock_sane(lock)));
	for (size_t i = 0; i < lock->hold_count; i++)
		CHECK(lock->holds[i]->lock == lock && !lock->holds[i]->stamp == !lock->holds[i]->due_ms);
	check_bound(core, &lock->bound, jobs);
}

static void check_locks(const struct core *core)
{
	size_t cursor = 0;
	uint64_t holds = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->locks, &cursor, &name, &value)) {
		check_lock(core, value);
		holds += ((struct lock *)value)->hold_count;
	}
	CHECK(holds == core->lock_holds);
}

static void check_groups(const struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->groups, &cursor, &name, &value))
		check_group(core, value);
}

/* Check that each set of requirements has exactly one class, which lives while a run has jobs of it. */
static void check_wishes(const struct core *core)
{
	uint64_t *runs = mem_array(core->class_count, sizeof(*runs));
	size_t classes = 0;

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		for (size_t k = 0; run && k < run->class_count; k++)
			runs[run->classes[k]]++;
	}
	for (size_t at = 1; at < core->class_count; at++) {
		const struct ready_class *class = core->classes[at];

		if (!class)
			continue;
		CHECK(class->at == at && class->runs == runs[at] && runs[at] > 0);
		CHECK(name_map_get(&core->wishes, slice_make(class->wants->bytes, class->wants->len)) == class);
		classes++;
	}
	CHECK(core->wishes.count == classes);
	mem_free(runs);
}

/* Check that a queue exists exactly while lanes feed it. */
static void check_queues(const struct core *core)
{
	uint64_t *wishes = mem_array(core->tenant_count, sizeof(*wishes)), lanes = 0, tenant;
	void *value;

	for (size_t i = core->runs.head; i < core->runs.count; i++)
		lanes += core->runs.at[i].run ? core->runs.at[i].run->lane_count : 0;
	for (size_t at = 0; at < core->class_count; at++) {
		size_t cursor = 0;

		while (core->classes[at] && map_next(&core->classes[at]->queues, &cursor, &tenant, &value)) {
			CHECK(((const struct queue *)value)->lanes > 0);
			lanes -= ((const struct queue *)value)->lanes;
			wishes[tenant] += at > 0;
		}
	}
	CHECK(lanes == 0);
	for (size_t i = 0; i < core->tenant_count; i++)
		CHECK(!core->tenants[i] || core->tenants[i]->wishes == wishes[i]);
	mem_free(wishes);
}

void check_ready(const struct core *core)
{
	uint64_t queued = 0, parked = 0;

	for (size_t at = 0; at < core->class_count; at++)
		if (core->classes[at])
			queued += check_class(core, core->classes[at]);
	check_wishes(core);
	check_queues(core);
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		if (core->runs.at[i].run)
			parked += check_lanes(core, core->runs.at[i].run);
	for (size_t i = 0; i < core->tenant_count; i++)
		if (core->tenants[i])
			check_tenant(core, core->tenants[i]);
	check_groups(core);
	check_locks(core);
	CHECK(parked == core->parked_ready);
	CHECK(queued + core->held_ready + core->parked_ready == core->counts[STATE_READY]);
}
