/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tenants: to whom a run's use of the cluster is charged, and how many of their jobs may be active or queued. A
 * tenant that nobody has set exists while a run of it is in memory, with weight 1 and no limits.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/graph/graph.h"
#include "core/queue/internal.h"

#define WEIGHT_DEFAULT 1

struct tenant *tenant_find(const struct core *core, struct slice name)
{
	return name_map_get(&core->tenant_names, name);
}

static struct tenant *tenant_of(struct core *core, struct slice name)
{
	struct tenant *tenant = tenant_find(core, name);
	size_t at = 0;

	if (tenant)
		return tenant;
	while (at < core->tenant_count && core->tenants[at])
		at++;
	if (at == core->tenant_count) {
		core->tenants = mem_resize(core->tenants, at + 1, sizeof(struct tenant *));
		core->tenant_count++;
	}
	tenant = mem_zalloc(sizeof(*tenant));
	tenant->bound.kind = BOUND_TENANT;
	tenant->name = mem_text(name);
	tenant->at = (uint32_t)at;
	tenant->weight = WEIGHT_DEFAULT;
	tenant->virtual_time = core->virtual_time;
	core->tenants[at] = tenant;
	name_map_put(&core->tenant_names, slice_str(tenant->name), tenant);
	return tenant;
}

static void tenant_free(struct tenant *tenant)
{
	bound_free(&tenant->bound);
	mem_free(tenant->name);
	mem_free(tenant);
}

static void tenant_tidy(struct core *core, struct tenant *tenant)
{
	if (tenant->set || tenant->runs > 0)
		return;
	name_map_remove(&core->tenant_names, slice_str(tenant->name));
	core->tenants[tenant->at] = NULL;
	tenant_free(tenant);
}

void tenant_release(struct core *core, struct run *run)
{
	struct tenant *tenant = run->tenant;

	if (!tenant)
		return;
	run->tenant = NULL;
	tenant->runs--;
	tenant_tidy(core, tenant);
}

void run_take_tenant(struct core *core, struct run *run, struct slice name)
{
	run->tenant = tenant_of(core, name.len > 0 ? name : slice_str(run->owner));
	run->tenant->runs++;
}

void tenants_free(struct core *core)
{
	for (size_t i = 0; i < core->tenant_count; i++)
		if (core->tenants[i])
			tenant_free(core->tenants[i]);
	mem_free(core->tenants);
	name_map_free(&core->tenant_names);
}

/* Attempts of services, which don't count in the bound of their run. */
static uint64_t services_out(const struct run *run)
{
	uint64_t out = 0;

	for (size_t i = 0; i < run->service_count; i++)
		out += state_holds(run_job(run, run->services[i])->state);
	return out;
}

uint64_t tenant_queued(const struct core *core, const struct tenant *tenant)
{
	uint64_t queued = 0;

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (run && run->tenant == tenant)
			queued += run->job_count - run->ended -
				  (PLANTED(queued_counts_what_is_out) ? 0 : run->bound.active + services_out(run));
	}
	return queued;
}

enum err tenant_admit(const struct core *core, const struct input_submit *submit, uint32_t count,
		      struct error *error)
{
	struct slice name = submit->tenant.len > 0 ? submit->tenant : submit->owner;
	const struct tenant *tenant = tenant_find(core, name);
	uint64_t queued;

	if (submit->tenant.len > 0 && !text_is_name(submit->tenant))
		return error_set(error, ERR_INVALID, "tenant: a name may have letters, digits, _ . -, at most %d",
				 LIMIT_NAME_MAX_LEN);
	if (!tenant || tenant->max_queued == 0)
		return ERR_NONE;
	queued = tenant_queued(core, tenant);
	if (queued + (PLANTED(queued_without_newcomers) ? 0 : count) <= tenant->max_queued)
		return ERR_NONE;
	error_set(error, ERR_BUSY, "tenant %s has %llu %s queued; with %u more it would exceed its limit of %u", tenant->name,
		  (unsigned long long)queued, queued == 1 ? "job" : "jobs", count, tenant->max_queued);
	return error_next(error, "titan tenant ls");
}

/* --- what people set --- */

static void tenant_row_put(struct core *core, const struct tenant *tenant)
{
	struct row *row = outbox_row(core->outbox, TABLE_tenant);

	row->deleted = !tenant->set;
	row->tenant = (struct row_tenant){
		.name = arena_copy(&core->outbox->arena, slice_str(tenant->name)), .weight = tenant->weight,
		.max_jobs = tenant->bound.limit, .max_queued = tenant->max_queued,
	};
}

static enum err tenant_put(struct core *core, const struct msg_set *set, uint64_t *ret_changed,
			   struct error *error)
{
	struct tenant *tenant;

	if (set->weight > LIMIT_TENANT_WEIGHT_MAX)
		return error_set(error, ERR_INVALID, "tenant %.*s: the weight must be from 1 to %d, not %llu",
				 (int)set->name.len, (const char *)set->name.data, LIMIT_TENANT_WEIGHT_MAX,
				 (unsigned long long)set->weight);
	if (set->number > LIMIT_RUN_JOBS_MAX || set->most > LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_TOO_LARGE, "tenant %.*s: a limit must be below %d", (int)set->name.len,
				 (const char *)set->name.data, LIMIT_RUN_JOBS_MAX);
	tenant = tenant_of(core, set->name);
	tenant->set = true;
	if (set->weight > 0)
		tenant->weight = (uint32_t)set->weight;
	if (set->number > 0 &&
	    (!PLANTED(tenant_limit_raised_only) || set->number > tenant->bound.limit || !tenant->bound.limit))
		tenant->bound.limit = (uint32_t)set->number - 1;
	if (set->most > 0)
		tenant->max_queued = (uint32_t)set->most - 1;
	tenant_row_put(core, tenant);
	bound_widened(core, &tenant->bound);
	*ret_changed = 1;
	return ERR_NONE;
}

static enum err tenant_remove(struct core *core, const struct msg_set *set, uint64_t *ret_changed,
			      struct error *error)
{
	struct tenant *tenant = tenant_find(core, set->name);

	if (!tenant || !tenant->set) {
		error_set(error, ERR_NOT_FOUND, "nobody has set a weight or limit of tenant %.*s", (int)set->name.len,
			  (const char *)set->name.data);
		return error_next(error, "titan tenant ls");
	}
	tenant->set = false;
	tenant->weight = WEIGHT_DEFAULT;
	tenant->bound.limit = 0;
	tenant->max_queued = 0;
	tenant_row_put(core, tenant);
	bound_widened(core, &tenant->bound);
	tenant_tidy(core, tenant);
	*ret_changed = 1;
	return ERR_NONE;
}

enum err tenant_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error)
{
	if (!text_is_name(input->set.name))
		return error_set(error, ERR_INVALID, "the name of a tenant may have letters, digits, _ . -, at most "
			"%d",
				 LIMIT_NAME_MAX_LEN);
	switch (input->set.verb) {
	case SET_PUT:
		return tenant_put(core, &input->set, ret_changed, error);
	case SET_REMOVE:
		return tenant_remove(core, &input->set, ret_changed, error);
	default:
		return error_set(error, ERR_INVALID, "unknown change of a tenant: %llu",
				 (unsigned long long)input->set.verb);
	}
}

enum err load_tenant(struct core *core, const struct row_tenant *row, struct error *error)
{
	struct tenant *tenant;

	if (!text_is_name(row->name) || tenant_find(core, row->name))
		return error_set(error, ERR_STORE_TRUST, "tenant: a stored name is invalid, or stored twice");
	if (row->weight < 1 || row->weight > LIMIT_TENANT_WEIGHT_MAX || row->max_jobs < 0 ||
	    row->max_jobs >= LIMIT_RUN_JOBS_MAX || row->max_queued < 0 || row->max_queued >= LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_STORE_TRUST, "tenant %.*s: the stored weight or limits are invalid", (int)row->name.len,
				 (const char *)row->name.data);
	tenant = tenant_of(core, row->name);
	tenant->set = true;
	tenant->weight = (uint32_t)row->weight;
	tenant->bound.limit = PLANTED(tenant_limit_forgotten_at_load) ? 0 : (uint32_t)row->max_jobs;
	tenant->max_queued = (uint32_t)row->max_queued;
	return ERR_NONE;
}
