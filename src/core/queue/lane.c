/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Find or create the lane of a job when its graph is admitted. A lane is given by class, fan-out, named groups and
 * locks. Lanes live as long as their run.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "core/life/life.h"
#include "core/queue/internal.h"

static struct bound *fanout_of(const struct run *run, uint32_t group)
{
	return group ? run->groups[group - 1] : NULL;
}

struct bound *job_group(const struct job *job)
{
	return fanout_of(job->run, job_lane(job)->group);
}

/*
 * Join the job to its fan-out. The map fanouts has the fan-outs of the graph being built, by their number in the
 * specification.
 */
static enum err group_join(struct run *run, struct job *job, const struct rec_job_spec *spec, struct map *fanouts,
			   uint32_t *ret_group, struct error *error)
{
	struct bound *group;
	size_t at;

	if (spec->group_parallel == 0 && !spec->group_fail_fast)
		return ERR_NONE;
	at = (uintptr_t)map_get(fanouts, spec->group);
	if (PLANTED(fan_out_joins_the_one_before) && at == 0)
		at = run->group_count;
	if (at == 0) {
		run->groups = mem_resize(run->groups, run->group_count + 1, sizeof(struct bound *));
		group = mem_zalloc(sizeof(*group));
		*group = (struct bound){
			.kind = BOUND_FANOUT, .first = job->index,
			.limit = (uint32_t)spec->group_parallel, .fail_fast = spec->group_fail_fast,
		};
		run->groups[run->group_count++] = group;
		at = run->group_count;
		map_put(fanouts, spec->group, (void *)(uintptr_t)at);
	}
	group = run->groups[at - 1];
	if (group->limit != spec->group_parallel || group->fail_fast != spec->group_fail_fast)
		return error_set(error, ERR_INVALID, "job %u: group_parallel differs from that of other jobs in its "
			"fan-out", job->index);
	group->jobs++;
	*ret_group = (uint32_t)at;
	if (spec->group_fail_fast)
		job->flags |= JOB_FAIL_FAST;
	return ERR_NONE;
}

#define LANES_LOOKED_AT 16 /* neighbouring jobs are alike, so few lanes are compared; a duplicate lane does no harm */

#define CLAIMS_MAX (LIMIT_JOB_GROUPS_MAX + LIMIT_JOB_LOCKS_MAX)

static bool lane_is(const struct lane *lane, const struct lane *want, const struct claim *claims)
{
	if (lane->class_at != want->class_at || lane->group != want->group || lane->claim_count != want->claim_count ||
	    lane->in_bounds != want->in_bounds || lane->in_share != want->in_share)
		return false;
	for (size_t i = 0; i < want->claim_count; i++)
		if (lane->claims[i].bound != claims[i].bound || lane->claims[i].stated != claims[i].stated ||
		    lane->claims[i].shared != claims[i].shared)
			return false;
	return true;
}

/*
 * Collect the groups and locks that a job claims, in sorted order. Missing ones are created, even if the job is
 * refused afterwards.
 */
static void claims_find(struct core *core, const struct rec_job_spec *spec, struct lane *want, struct claim *claims)
{
	struct slice_list groups = spec->concurrency, locks = spec->locks;
	struct slice name;

	labels_sort(&groups);
	for (size_t i = 0; i < groups.n; i++) {
		struct claim *claim = &claims[want->claim_count++];

		*claim = (struct claim){ 0 };
		CHECK(concurrency_read(groups.at[i], &name, &claim->stated));
		claim->bound = &group_of(core, name)->jobs;
	}
	labels_sort(&locks);
	for (size_t i = 0; i < locks.n; i++) {
		struct claim *claim = &claims[want->claim_count++];

		*claim = (struct claim){ 0 };
		CHECK(lock_read(locks.at[i], &name, &claim->shared));
		claim->bound = &lock_of(core, name)->bound;
	}
}

static struct lane *lane_new(struct core *core, const struct lane *want, const struct claim *claims)
{
	size_t bytes = want->claim_count * sizeof(*claims);
	struct lane *lane = mem_zalloc(sizeof(*lane) + bytes);

	memcpy(lane, want, sizeof(*want));
	if (bytes > 0)
		memcpy(lane->claims, claims, bytes);
	for (size_t i = 0; i < lane->claim_count; i++)
		claim_begin(core, &lane->claims[i], lane->run->counted);
	lane->queue = queue_join(core, lane->run->tenant, lane->class_at);
	return lane;
}

static void lane_end_claims(struct core *core, struct lane *lane)
{
	while (lane->claim_count > 0)
		claim_end(core, &lane->claims[--lane->claim_count], lane->run->counted);
}

enum err lane_join(struct core *core, struct job *job, const struct rec_job_spec *spec, struct map *fanouts,
		   struct error *error)
{
	struct run *run = job->run;
	struct lane want = { .run = run, .class_at = job->class_at };
	struct claim claims[CLAIMS_MAX];
	enum err err = group_join(run, job, spec, fanouts, &want.group, error);

	if (err != ERR_NONE)
		return err;
	want.in_share = kind_table[job->kind].in_share || (PLANTED(noop_takes_a_share) && job->kind == KIND_NOOP);
	want.in_bounds = kind_table[job->kind].in_bounds || (PLANTED(noop_takes_room) && job->kind == KIND_NOOP);
	claims_find(core, spec, &want, claims);
	for (size_t i = run->lane_count; i-- > 0 && i + LANES_LOOKED_AT >= run->lane_count;) {
		if (lane_is(run->lanes[i], &want, claims)) {
			job->lane = (uint32_t)i;
			return ERR_NONE;
		}
	}
	GROW(run->lanes, run->lane_count, run->lane_cap);
	job->lane = (uint32_t)run->lane_count;
	run->lanes[run->lane_count++] = lane_new(core, &want, claims);
	return ERR_NONE;
}

/* Remove the run from everything that outlives it: queues, groups, locks, tenant. */
void run_release_bounds(struct core *core, struct run *run)
{
	run_states(core, run, false);
	for (size_t i = 0; i < run->lane_count; i++) {
		struct lane *lane = run->lanes[i];

		lane_leave(lane);
		lane_end_claims(core, lane);
		queue_leave(core, lane->queue);
	}
	run_leave_concurrency(core, run);
	tenant_release(core, run);
}

void run_release(struct core *core, struct run *run)
{
	run_release_bounds(core, run);
	run_release_classes(core, run, 0);
}

void run_free_bounds(struct run *run)
{
	for (size_t i = 0; i < run->lane_count; i++) {
		mem_free(run->lanes[i]->jobs.keys);
		mem_free(run->lanes[i]);
	}
	mem_free(run->lanes);
	for (size_t i = 0; i < run->group_count; i++) {
		bound_free(run->groups[i]);
		mem_free(run->groups[i]);
	}
	mem_free(run->groups);
	bound_free(&run->bound);
}

/* Remove the lanes and fan-outs that a refused graph had added. */
void run_drop_lanes(struct core *core, struct run *run, size_t lanes, size_t groups)
{
	while (run->lane_count > lanes) {
		lane_end_claims(core, run->lanes[--run->lane_count]);
		queue_leave(core, run->lanes[run->lane_count]->queue);
		mem_free(run->lanes[run->lane_count]);
	}
	while (run->group_count > groups)
		mem_free(run->groups[--run->group_count]);
}
