/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What watches of values ask: the keys that changed after a revision, in the order of their versions. */
#include "base/planted.h"
#include "core/values/internal.h"
#include "core/time/time.h"
#include "core/view/view.h"

#define PAGE_BYTES (256 << 10)           /* most bytes of keys and values in one page, with at least one key */

uint64_t view_revision(const struct core *core)
{
	return core->revision;
}

bool view_values_owner(const struct core *core, uint64_t run, struct slice *ret_owner)
{
	const struct value_space *space = space_find(core, run, slice_make(NULL, 0));

	if (!space)
		return false;
	*ret_owner = slice_str(space->owner);
	return true;
}

static bool is_meant(const struct value *value, struct slice prefix)
{
	struct slice key = value_key(value);

	return key.len >= prefix.len && (prefix.len == 0 || memcmp(key.data, prefix.data, prefix.len) == 0);
}

static void row_of(const struct core *core, const struct value *value, struct arena *arena, struct rec_value_row *row)
{
	*row = (struct rec_value_row){
		.key = arena_copy(arena, value_key(value)), .kind = value->kind, .version = value->version,
		.value = value_body(value), .bytes = value_body(value).len,
	};
	if (value->kind == VALUE_SET)
		row->members = members_count(row->value);
	if (value->kind != VALUE_NONE)
		row->until_ms = due_wall_ms(core, value->due_ms);
}

/* The oldest change after the revision. A watch is mostly near the newest end, and begins at the oldest. */
static const struct value *first_after(const struct value_space *space, uint64_t revision)
{
	const struct value *value = space->newest;

	if (space->oldest && space->oldest->version > revision)
		return space->oldest;
	if (!value || value->version <= revision)
		return NULL;
	while (value->older && value->older->version > revision)
		value = value->older;
	return value;
}

bool view_values_after(const struct core *core, uint64_t run, struct slice definition, struct slice prefix, uint64_t revision,
		       uint64_t began, size_t most, struct arena *arena, struct msg_values_changed *ret)
{
	const struct value_space *space = space_find(core, run, definition);
	/* Between its first pages a watch is at old revisions, but knows all deletions up to its begin. */
	uint64_t known = revision > began ? revision : began;
	size_t bytes = 0;

	ret->revision = core->revision;
	if (revision > 0 && (known >> REVISION_BITS != core->revision >> REVISION_BITS || revision > core->revision ||
			     (space && known < space->compacted))) {
		ret->compacted = true;
		return true;
	}
	if (!space)
		return true;
	ret->rows.at = arena_alloc(arena, most * sizeof(*ret->rows.at));
	for (const struct value *value = first_after(space, revision); value; value = value->newer) {
		/* All keys of one revision belong to one page: a watch that continues begins after a whole revision. */
		bool split = ret->rows.n > 0 && ret->rows.at[ret->rows.n - 1].version != value->version;

		if (!is_meant(value, prefix) || (value->kind == VALUE_NONE && (value->version <= began || PLANTED(value_watch_without_deletions))))
			continue;
		if (ret->rows.n == most || (split && (bytes > PAGE_BYTES || ret->rows.n + LIMIT_VALUE_OPS_MAX > most))) {
			ret->more = true;
			ret->revision = ret->rows.at[ret->rows.n - 1].version;
			return true;
		}
		bytes += value->key_len + value_body(value).len;
		row_of(core, value, arena, &ret->rows.at[ret->rows.n++]);
	}
	return ret->rows.n > 0;
}
