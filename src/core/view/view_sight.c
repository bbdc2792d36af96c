/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a person has to do with runs, for a master that shows people only some of them: whose a run is, who decides in
 * it, and which tenants, groups and locks a person's live runs use.
 */
#include "core/view/view.h"

#include "core/graph/graph.h"
#include "core/people/people.h"
#include "core/queue/queue.h"
#include "core/time/time.h"

bool view_owner(const struct core *core, uint64_t number, struct slice *ret_owner)
{
	const struct run *run = run_find(core, number);

	if (run)
		*ret_owner = slice_str(run->owner);
	return run != NULL;
}

bool view_schedule_owner(const struct core *core, struct slice name, struct slice *ret_owner)
{
	const struct schedule *schedule = schedule_find(core, name);

	if (schedule)
		*ret_owner = slice_str(schedule->owner);
	return schedule != NULL;
}

bool view_decides(const struct core *core, uint64_t number, struct slice person)
{
	const struct run *run = run_find(core, number);
	struct arena arena = { 0 };
	bool found = run && run->counts[STATE_UNKNOWN] > 0;

	for (const struct job *job = run && !found ? run_job(run, 0) : NULL; job && !found; job = job_next(job)) {
		struct slice bytes = job_spec_bytes(job);
		struct rec_job_spec spec;

		if (!(job->flags & JOB_STAGED))
			continue;        /* the job has no gate: gates set JOB_STAGED */
		CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
		found = spec.gate_count > 0 && person_is_listed(core, &spec, person);
		arena_reset(&arena);
	}
	arena_free(&arena);
	return found;
}

size_t view_decided_by(const struct core *core, struct slice person, uint64_t *ret_runs, size_t most)
{
	size_t count = 0;

	for (size_t i = core->runs.count; i > core->runs.head && count < most; i--) {
		const struct run *run = core->runs.at[i - 1].run;

		if (run && run->ended_ms == 0 && view_decides(core, run->number, person))
			ret_runs[count++] = run->number;
	}
	return count;
}

uint64_t view_counts_of(const struct core *core, struct slice owner, uint64_t ret_counts[STATE_COUNT])
{
	uint64_t live = 0;

	memset(ret_counts, 0, STATE_COUNT * sizeof(*ret_counts));
	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (!run || run->ended_ms != 0 || !slice_eq(slice_str(run->owner), owner))
			continue;
		live += run->job_count - run->ended;
		for (size_t state = 0; state < STATE_COUNT; state++)
			ret_counts[state] += run->counts[state];
	}
	return live;
}

static bool claims(const struct run *run, const struct bound *bound)
{
	for (size_t i = 0; i < run->lane_count; i++)
		for (size_t at = 0; at < run->lanes[i]->claim_count; at++)
			if (run->lanes[i]->claims[at].bound == bound)
				return true;
	return false;
}

/* Does a live run of the owner have the tenant or group as a whole, or a job that claims the bound? */
static bool any_uses(const struct core *core, struct slice owner, const struct tenant *tenant, const struct group *group,
		     const struct bound *bound)
{
	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (!run || run->ended_ms != 0 || !slice_eq(slice_str(run->owner), owner))
			continue;
		if ((tenant && run->tenant == tenant) || (group && run->concurrency == group) || (bound && claims(run, bound)))
			return true;
	}
	return false;
}

bool view_uses_tenant(const struct core *core, struct slice owner, struct slice name)
{
	const struct tenant *tenant = tenant_find(core, name);

	return tenant && any_uses(core, owner, tenant, NULL, NULL);
}

bool view_uses_group(const struct core *core, struct slice owner, struct slice name)
{
	const struct group *group = name_map_get(&core->groups, name);

	return group && any_uses(core, owner, NULL, group, &group->jobs);
}

bool view_uses_lock(const struct core *core, struct slice owner, struct slice name)
{
	const struct lock *lock = name_map_get(&core->locks, name);

	return lock && any_uses(core, owner, NULL, NULL, &lock->bound);
}
