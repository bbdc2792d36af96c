/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All people who may decide on gates: those of this machine whom the configuration names, and holders of tokens that
 * haven't expired. A person with several tokens counts once.
 */
#include "core/people/people.h"

#define NAMES_SHOWN 3

void people_know(struct core *core, const struct core_config *config)
{
	core->people = mem_array(config->people_count + 1, sizeof(*core->people));
	for (size_t i = 0; i < config->people_count; i++)
		core->people[i] = (struct core_person){ slice_str(mem_text(config->people[i].name)), config->people[i].roles };
	core->people_count = config->people_count;
}

void people_forget(struct core *core)
{
	for (size_t i = 0; i < core->people_count; i++)
		mem_free((void *)(uintptr_t)core->people[i].name.data);
	mem_free(core->people);
}

bool person_is_listed(const struct core *core, const struct rec_job_spec *spec, struct slice person)
{
	for (size_t i = 0; i < spec->gate_from.n; i++)
		if (team_has(core, spec->gate_from.at[i], person))
			return true;
	return spec->gate_from.n == 0;
}

struct others {
	struct slice names[NAMES_SHOWN];
	size_t count;
};

static void others_add(const struct core *core, struct others *others, const struct rec_job_spec *spec, struct slice except,
		       struct slice name, role_set roles)
{
	if (!(roles & (ROLE_BIT(APPROVER) | ROLES_ADMIN)) || slice_eq(name, except) || !person_is_listed(core, spec, name))
		return;
	for (size_t i = 0; i < others->count; i++)
		if (slice_eq(others->names[i], name))
			return;
	if (others->count < NAMES_SHOWN)
		others->names[others->count++] = name;
}

bool others_may_approve(const struct core *core, const struct rec_job_spec *spec, struct slice person, struct buf *out)
{
	struct others others = { .count = 0 };
	struct slice name;
	role_set roles;

	for (size_t i = 0; i < core->people_count; i++)
		others_add(core, &others, spec, person, core->people[i].name, core->people[i].roles);
	for (size_t at = 0; (at = token_live_after(core, at, &name, &roles)) != 0;)
		others_add(core, &others, spec, person, name, roles);
	for (size_t i = 0; out && i < others.count; i++) {
		buf_add_str(out, i == 0 ? "" : i + 1 < others.count ? ", " : " or ");
		buf_add_slice(out, others.names[i]);
	}
	return others.count > 0;
}

role_set person_roles(const struct core *core, struct slice name)
{
	role_set all = slice_eq(slice_str(core->owner), name) || core->owner[0] == '\0' ? ROLE_BIT(ADMIN) : 0, roles;
	struct slice other;

	for (size_t i = 0; i < core->people_count; i++)
		if (slice_eq(core->people[i].name, name))
			all |= core->people[i].roles;
	for (size_t at = 0; (at = token_live_after(core, at, &other, &roles)) != 0;)
		if (slice_eq(other, name))
			all |= roles;
	return all;
}
