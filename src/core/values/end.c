/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that end by themselves; loading values from their rows; the revision at the end of a turn. */
#include "core/values/internal.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/planted.h"
#include "base/text.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

uint64_t revision_next(struct core *core)
{
	core->revision_due = true;
	return ++core->revision;
}

void values_flush(struct core *core)
{
	if (core->revision_due)
		meta_put(core, "revision", core->revision);
	core->revision_due = false;
}

/* ---- timers ---- */

void value_arm(struct core *core, struct value *value)
{
	if (value->due_ms == 0)
		return;
	value->stamp = ++core->value_stamp;
	map_put(&core->value_stamps, value->stamp, value);
	timer_add_steady(core, TIMER_VALUE, value->stamp, value->due_ms);
}

void value_disarm(struct core *core, struct value *value)
{
	if (value->stamp == 0)
		return;
	map_remove(&core->value_stamps, value->stamp);
	value->stamp = 0;
	timer_stale(core);
}

void value_ended(struct core *core, uint64_t stamp)
{
	struct value *value = map_remove(&core->value_stamps, stamp);

	value->stamp = 0;                /* its timer has just fired, so it isn't stale */
	value_write(core, value, VALUE_NONE, NULL, revision_next(core));
	value_row_put(core, value, false);
	deleted_trim(core, value->space);
}

/* ---- loading ---- */

static enum err distrust(struct error *error, const char *why)
{
	return error_set(error, ERR_STORE_TRUST, "a stored value or namespace contradicts itself: %s", why);
}

static bool space_named(int64_t run, struct slice definition)
{
	return run >= 0 && (definition.len == 0 || (run == 0 && text_is_name(definition)));
}

enum err load_value_space(struct core *core, const struct row_value_space *row, struct error *error)
{
	struct value_space *space;

	if (!space_named(row->run, row->definition) || !number_sane(row->compacted, 0) || space_find(core, (uint64_t)row->run, row->definition))
		return distrust(error, "the namespace is invalid or there twice");
	space = space_make(core, (uint64_t)row->run, row->definition, row->owner);
	space->compacted = (uint64_t)row->compacted;
	if (space->compacted > core->revision)
		core->revision = space->compacted;
	return ERR_NONE;
}

enum err load_value(struct core *core, const struct row_value *row, struct error *error)
{
	struct value_space *space = space_find(core, (uint64_t)row->run, row->definition);
	struct value *value;

	if (!space || row->run < 0)
		return distrust(error, "a key has no namespace");
	if (row->name.len == 0 || row->name.len > LIMIT_VALUE_KEY_MAX || row->body.len > LIMIT_VALUE_MAX || value_find(space, row->name))
		return distrust(error, "a key is invalid or there twice");
	if (!number_sane(row->version, 1) || row->kind < VALUE_NONE || row->kind > VALUE_SET || row->ttl_ms < 0 ||
	    row->ttl_ms / 1000 > LIMIT_SPAN_MAX_S || row->due_ms < 0 || !row->ttl_ms != !row->due_ms ||
	    (row->kind == VALUE_SET && !members_sane(row->body)) || (row->kind == VALUE_NONE && row->body.len + (uint64_t)row->due_ms > 0))
		return distrust(error, "the value of a key is invalid");
	value = value_new(core, space, row->name);
	value_write(core, value, (uint8_t)row->kind, blob_make(row->body), (uint64_t)row->version);
	if (value->kind != VALUE_NONE) {
		value->due_ms = row->due_ms;
		value->ttl_ms = row->ttl_ms;
	}
	if (value->version > core->revision)
		core->revision = value->version;
	return ERR_NONE;
}

static int compare_cb(const void *a, const void *b)
{
	const struct value *left = *(struct value *const *)a, *right = *(struct value *const *)b;

	return (left->version > right->version) - (left->version < right->version);
}

/* Put the keys, which were loaded in any order, in the order of their versions. */
static void space_sort(struct value_space *space)
{
	struct value **all = mem_array(space->count + space->deleted + 1, sizeof(struct value *));
	size_t count = 0;

	for (struct value *value = space->first[0]; value; value = value->next[0])
		all[count++] = value;
	qsort(all, count, sizeof(struct value *), compare_cb);
	space->oldest = space->newest = space->deleted_oldest = space->deleted_newest = NULL;
	space->deleted = 0;
	for (size_t i = 0; i < count; i++)
		space_link(all[i]);
	mem_free(all);
}

/*
 * A store that was put back to an earlier time keeps its values, which aren't recorded in the past. Forget those of runs that
 * don't exist there: another run will have the number. Returns whether there was one.
 */
static bool forget_unborn(struct core *core)
{
	size_t cursor = 0;
	struct slice id;
	void *at;

	while (name_map_next(&core->value_spaces, &cursor, &id, &at))
		if (((const struct value_space *)at)->run >= core->next_run) {
			values_forget_run(core, ((const struct value_space *)at)->run);
			return true;
		}
	return false;
}

/*
 * Once all rows are loaded and the steady clock is set: sort, arm timers, and after a restore raise the revision above
 * all that the store ever gave.
 */
void values_resume(struct core *core)
{
	uint64_t floor = (core->generation > 0 && !PLANTED(value_revisions_repeat) ? core->generation - 1 : 0) << REVISION_BITS;
	size_t cursor = 0;
	struct slice id;
	void *at;

	if (core->revision < floor) {
		core->revision = floor;
		core->revision_due = true;
	}
	while (forget_unborn(core))
		;
	while (name_map_next(&core->value_spaces, &cursor, &id, &at)) {
		struct value_space *space = at;

		space_sort(space);
		for (struct value *value = space->first[0]; value; value = value->next[0]) {
			if (value->kind == VALUE_NONE || value->due_ms == 0)
				continue;
			/* After a reboot the wall clock may differ: never keep the value longer than the time asked for. */
			if (value->due_ms > due_after(core, value->ttl_ms)) {
				value->due_ms = due_after(core, value->ttl_ms);
				value_row_put(core, value, false);
			}
			value_arm(core, value);
		}
	}
	values_flush(core);
}
