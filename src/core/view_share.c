/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows for people of what jobs share: tenants. */
#include "core/view.h"

#include "core/internal.h"

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
