/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows about tenants and concurrency groups, for people. */
#include "core/view/internal.h"

#include "core/queue/queue.h"
#include "core/view/view.h"

uint64_t view_tenant(const struct core *core, uint64_t cursor, struct rec_tenant_row *ret_row)
{
	while (cursor < core->tenant_count && !core->tenants[cursor])
		cursor++;
	if (cursor >= core->tenant_count)
		return 0;
	*ret_row = (struct rec_tenant_row){
		.name = slice_str(core->tenants[cursor]->name), .weight = core->tenants[cursor]->weight,
		.max_jobs = core->tenants[cursor]->bound.limit, .max_queued = core->tenants[cursor]->max_queued,
		.out = core->tenants[cursor]->bound.active, .runs = core->tenants[cursor]->runs,
		.queued = tenant_queued(core, core->tenants[cursor]), .set = core->tenants[cursor]->set,
	};
	return cursor + 1;
}

uint64_t waiting_at(const struct bound *bound)
{
	uint64_t jobs = 0;

	for (size_t i = 0; i < bound->stand_count; i++)
		for (size_t at = 0; at < bound->stands[i].count; at++)
			jobs += bound->stands[i].at[at]->jobs.count - bound->stands[i].at[at]->jobs.stale;
	return jobs;
}

uint64_t view_group(const struct core *core, uint64_t cursor, struct rec_group_row *ret_row)
{
	size_t next = (size_t)cursor;
	const struct group *group;
	struct slice name;
	void *value;

	if (!name_map_next(&core->groups, &next, &name, &value))
		return 0;
	group = value;
	*ret_row = (struct rec_group_row){
		.name = name, .limit = group->jobs.limit, .set = group->set > 0, .runs = group->runs.active,
		.jobs = group->jobs.active, .waiting = waiting_at(&group->jobs) + waiting_at(&group->runs),
	};
	return next;
}
