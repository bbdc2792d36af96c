/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Teams: groups of people to whom the configuration gives a name. A gate names a team as @NAME. Who is in the team is
 * asked when somebody votes, so the present configuration decides; a vote that was counted stays counted. Teams aren't
 * durable: a master reads them when it starts.
 */
#include "core/people/people.h"

#include "base/text.h"

void teams_know(struct core *core, const struct core_config *config)
{
	core->teams = mem_array(config->team_count + 1, sizeof(*core->teams));
	core->team_count = config->team_count;
	for (size_t i = 0; i < config->team_count; i++) {
		const struct slice_list *members = &config->teams[i].members;
		struct core_team *team = &core->teams[i];

		team->name = slice_str(mem_text(config->teams[i].name));
		team->members = (struct slice_list){ mem_array(members->n + 1, sizeof(struct slice)), members->n };
		for (size_t at = 0; at < members->n; at++)
			team->members.at[at] = slice_str(mem_text(members->at[at]));
	}
}

void teams_forget(struct core *core)
{
	for (size_t i = 0; i < core->team_count; i++) {
		struct core_team *team = &core->teams[i];

		for (size_t at = 0; at < team->members.n; at++)
			mem_free((void *)(uintptr_t)team->members.at[at].data);
		mem_free(team->members.at);
		mem_free((void *)(uintptr_t)team->name.data);
	}
	mem_free(core->teams);
}

/* Find the team of an entry; NULL: the entry is a person, or there is no such team. */
static const struct core_team *team_find(const struct core *core, struct slice entry)
{
	for (size_t i = 0; text_is_team(entry) && i < core->team_count; i++)
		if (slice_eq(core->teams[i].name, slice_make(entry.data + 1, entry.len - 1)))
			return &core->teams[i];
	return NULL;
}

bool team_has(const struct core *core, struct slice entry, struct slice person)
{
	const struct core_team *team = team_find(core, entry);

	if (!text_is_team(entry) || PLANTED(gate_team_taken_for_a_person))
		return slice_eq(entry, person);
	if (PLANTED(gate_team_is_anybody))
		return true;
	for (size_t i = 0; team && i < team->members.n; i++)
		if (slice_eq(team->members.at[i], person))
			return true;
	return false;
}

void team_tell(const struct core *core, struct slice entry, struct buf *out)
{
	const struct core_team *team = team_find(core, entry);

	buf_add_slice(out, entry);
	if (!text_is_team(entry))
		return;
	for (size_t i = 0; team && i < team->members.n; i++) {
		buf_add_str(out, i ? ", " : " (");
		buf_add_slice(out, team->members.at[i]);
	}
	buf_add_str(out, team && team->members.n > 0 ? ")" : " (nobody)");
}

/* Do earlier entries of the gate name the person, too? */
static bool named_before(const struct core *core, const struct rec_job_spec *spec, size_t entries, struct slice person)
{
	for (size_t i = 0; i < entries; i++)
		if (team_has(core, spec->gate_from.at[i], person))
			return true;
	return false;
}

bool people_next(const struct core *core, const struct rec_job_spec *spec, size_t *cursor, struct slice *ret_person)
{
	size_t at = 0;

	for (size_t i = 0; i < spec->gate_from.n; i++) {
		struct slice *entry = &spec->gate_from.at[i];
		const struct core_team *team = team_find(core, *entry);
		struct slice_list people = team ? team->members : (struct slice_list){ entry, text_is_team(*entry) ? 0 : 1 };

		for (size_t member = 0; member < people.n; member++, at++) {
			if (at < *cursor || named_before(core, spec, i, people.at[member]))
				continue;
			*cursor = at + 1;
			*ret_person = people.at[member];
			return true;
		}
	}
	return false;
}

uint64_t people_named(const struct core *core, const struct rec_job_spec *spec, struct slice except)
{
	size_t cursor = 0;
	uint64_t count = 0;
	struct slice person;

	while (people_next(core, spec, &cursor, &person))
		count += !slice_eq(person, except);
	return count;
}

void teams_view(const struct core *core, const struct rec_job_spec *spec, struct arena *arena, struct rec_job_row *row)
{
	size_t cursor = 0, teams = 0;
	struct slice person;

	for (size_t i = 0; i < spec->gate_from.n; i++)
		teams += text_is_team(spec->gate_from.at[i]);
	row->approvers.at = arena_alloc(arena, (people_named(core, spec, (struct slice){ 0 }) + 1) * sizeof(struct slice));
	while (people_next(core, spec, &cursor, &person))
		row->approvers.at[row->approvers.n++] = person;
	row->gate_shown.at = arena_alloc(arena, (spec->gate_from.n + 1) * sizeof(struct slice));
	for (size_t i = 0; teams > 0 && i < spec->gate_from.n; i++) {
		struct buf text = { 0 };

		team_tell(core, spec->gate_from.at[i], &text);
		row->gate_shown.at[row->gate_shown.n++] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
}

static enum err unknown_team(const struct core *core, const struct rec_job_spec *spec, uint32_t index, struct slice entry,
			     struct error *error)
{
	struct buf known = { 0 };

	for (size_t i = 0; i < core->team_count; i++)
		buf_addf(&known, "%s@%.*s", i ? ", " : "; the teams of titan.conf are ", (int)core->teams[i].name.len,
			 (const char *)core->teams[i].name.data);
	error_set(error, ERR_UNKNOWN_NAME, "job %u '%.*s': gate_from: there is no team %.*s%s", index, (int)spec->name.len,
		  (const char *)spec->name.data, (int)entry.len, (const char *)entry.data,
		  known.len > 0 ? buf_cstr(&known) : "; titan.conf has no teams");
	buf_free(&known);
	return error_next(error, "man titan.conf says how to make a team");
}

enum err teams_check(const struct core *core, const struct rec_job_spec *spec, uint32_t index, struct error *error)
{
	struct buf words = { 0 };
	uint64_t named;

	for (size_t i = 0; i < spec->gate_from.n; i++)
		if (text_is_team(spec->gate_from.at[i]) && !team_find(core, spec->gate_from.at[i]))
			return unknown_team(core, spec, index, spec->gate_from.at[i], error);
	named = people_named(core, spec, (struct slice){ 0 });
	if (spec->gate_from.n == 0 || named >= spec->gate_count)
		return ERR_NONE;
	for (size_t i = 0; i < spec->gate_from.n; i++) {
		buf_add_str(&words, i ? ", " : "");
		team_tell(core, spec->gate_from.at[i], &words);
	}
	error_set(error, ERR_INVALID, "job %u '%.*s': gate_from: %llu must approve, but only %llu may: %s", index, (int)spec->name.len,
		  (const char *)spec->name.data, (unsigned long long)spec->gate_count, (unsigned long long)named, buf_cstr(&words));
	buf_free(&words);
	return error_next(error, "add people to the team in titan.conf, then titan down and titan up");
}
