/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups jobs by state and reason, in the order of the first job of each group. */
#include "cli/commands/explain_groups.h"

#include "base/arena.h"
#include "proto/reasons.h"

uint64_t explain_reason(const struct rec_job_row *job)
{
	enum job_state state = job_state_checked(job->state);

	if (job->condition_false)
		return REASON_CONDITION;
	if (job->why_code != REASON_NONE)
		return job->why_code;
	return state_table[state].kind == KIND_HOLDS ? REASON_RUNNING : REASON_ENDED;
}

struct slice explain_why(const struct rec_job_row *job, struct arena *arena)
{
	if (state_terminal(job_state_checked(job->state)))
		return job_end_text(job, arena);
	return job->why.len > 0 ? job->why : slice_str(reason_text(explain_reason(job)));
}

static void id_add(struct explain_group *group, const struct rec_job_row *job, struct arena *arena)
{
	if (group->ids.n == group->room) {
		struct slice *bigger = arena_zalloc(arena, group->room ? 2 * group->room : 4, sizeof(*bigger));

		if (group->ids.n > 0)
			memcpy(bigger, group->ids.at, group->ids.n * sizeof(*bigger));
		group->ids.at = bigger;
		group->room = group->room ? 2 * group->room : 4;
	}
	group->ids.at[group->ids.n++] = job_address(job, arena);
}

struct explain_group explain_alone(const struct rec_job_row *job, struct arena *arena)
{
	struct explain_group group = { .first = job, .why = explain_why(job, arena) };

	id_add(&group, job, arena);
	return group;
}

static struct explain_group *group_of(struct explain_groups *groups, const struct rec_job_row *job)
{
	for (size_t i = 0; i < groups->count; i++)
		if (job_look(groups->at[i].first) == job_look(job) && explain_reason(groups->at[i].first) == explain_reason(job))
			return &groups->at[i];
	return NULL;
}

void explain_groups_add(struct explain_groups *groups, const struct rec_job_row *job, bool each, struct arena *arena)
{
	struct explain_group *group;

	groups->jobs++;
	groups->open += job->state != STATE_SUCCEEDED;
	if (job->state == STATE_SUCCEEDED && !each)
		return;
	group = each ? NULL : group_of(groups, job);
	if (group) {
		if (!slice_eq(group->why, explain_why(job, arena)))
			group->why = slice_make(NULL, 0);
		id_add(group, job, arena);
		return;
	}
	if (groups->count == groups->room) {
		struct explain_group *bigger = arena_zalloc(arena, groups->room ? 2 * groups->room : 16, sizeof(*bigger));

		if (groups->count > 0)
			memcpy(bigger, groups->at, groups->count * sizeof(*bigger));
		groups->at = bigger;
		groups->room = groups->room ? 2 * groups->room : 16;
	}
	groups->at[groups->count++] = explain_alone(job, arena);
}
