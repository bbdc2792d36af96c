/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Namespaces of values. The keys of a namespace are in a sorted list with levels (a skip list), for reading by key and
 * listing by prefix, and in a list in the order of their versions, for watches. Deleted keys stay in both until the
 * namespace has too many of them.
 */
#include "core/values/internal.h"

#include <endian.h>

#include "base/check.h"
#include "base/map.h"
#include "core/rows/durable.h"

/* ---- namespaces ---- */

static size_t id_len(struct slice definition)
{
	return sizeof(uint64_t) + definition.len;
}

static void id_write(uint8_t *out, uint64_t run, struct slice definition)
{
	number_put(out, run);
	if (definition.len > 0)
		memcpy(out + sizeof(uint64_t), definition.data, definition.len);
}

struct value_space *space_find(const struct core *core, uint64_t run, struct slice definition)
{
	uint8_t id[sizeof(uint64_t) + LIMIT_NAME_MAX_LEN];

	if (definition.len > LIMIT_NAME_MAX_LEN)
		return NULL;
	id_write(id, run, definition);
	return name_map_get(&core->value_spaces, slice_make(id, id_len(definition)));
}

struct value_space *space_make(struct core *core, uint64_t run, struct slice definition, struct slice owner)
{
	struct value_space *space = space_find(core, run, definition);

	if (space)
		return space;
	space = mem_zalloc(sizeof(*space));
	space->run = run;
	space->definition = mem_text(definition);
	space->owner = mem_text(owner);
	space->id = mem_alloc(id_len(definition));
	id_write(space->id, run, definition);
	name_map_put(&core->value_spaces, slice_make(space->id, id_len(definition)), space);
	if (core->outbox)
		space_row_put(core, space, false);
	return space;
}

void space_row_put(struct core *core, const struct value_space *space, bool deleted)
{
	struct arena *arena = &core->outbox->arena;
	struct row *row = outbox_row(core->outbox, TABLE_value_space);

	row->deleted = deleted;
	row->value_space = (struct row_value_space){
		.run = (int64_t)space->run, .definition = arena_copy(arena, slice_str(space->definition)),
		.owner = arena_copy(arena, slice_str(space->owner)), .compacted = (int64_t)space->compacted,
	};
}

static void space_free(struct core *core, struct value_space *space)
{
	for (struct value *value = space->first[0]; value;) {
		struct value *next = value->next[0];

		if (value->kind != VALUE_NONE) {
			if (value->stamp != 0)
				map_remove(&core->value_stamps, value->stamp);
			blob_release(value->body);
		}
		mem_free(value);
		value = next;
	}
	core->value_bytes -= space->bytes;
	mem_free(space->definition);
	mem_free(space->owner);
	mem_free(space->id);
	mem_free(space);
}

void space_tidy(struct core *core, struct value_space *space)
{
	if (space->first[0] || space->compacted > 0)
		return;
	name_map_remove(&core->value_spaces, slice_make(space->id, id_len(slice_str(space->definition))));
	space_row_put(core, space, true);
	space_free(core, space);
}

void values_free(struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *at;

	while (name_map_next(&core->value_spaces, &cursor, &name, &at))
		space_free(core, at);
	name_map_free(&core->value_spaces);
	map_free(&core->value_stamps);
	repeated_free(core);
}

uint64_t values_forget_run(struct core *core, uint64_t run)
{
	struct value_space *space = space_find(core, run, slice_make(NULL, 0));
	struct row *row;
	uint64_t rows;

	if (!space)
		return 0;
	rows = space->count + space->deleted + 1;
	row = outbox_row(core->outbox, TABLE_value);
	row->deleted = true;
	row->until = (int64_t)run + 1;
	row->value.run = (int64_t)run;
	for (const struct value *value = space->first[0]; value; value = value->next[0])
		if (value->kind != VALUE_NONE && value->stamp != 0)
			core->timers.stale++;
	name_map_remove(&core->value_spaces, slice_make(space->id, id_len(slice_make(NULL, 0))));
	space_row_put(core, space, true);
	space_free(core, space);
	return rows;
}

/* ---- the sorted list ---- */

static int compare(struct slice one, struct slice other)
{
	size_t len = one.len < other.len ? one.len : other.len;
	int order = len > 0 ? memcmp(one.data, other.data, len) : 0;

	return order != 0 ? order : (one.len > other.len) - (one.len < other.len);
}

/* Find for each level the link that leads to the first key at or after this one. */
static struct value *find_links(const struct value_space *space, struct slice key, struct value ***ret_links)
{
	struct value *const *links = space->first;

	for (size_t level = VALUE_LEVELS; level-- > 0;) {
		while (links[level] && compare(value_key(links[level]), key) < 0)
			links = links[level]->next;
		if (ret_links)
			ret_links[level] = (struct value **)&links[level];
	}
	return links[0];
}

struct value *value_from(const struct value_space *space, struct slice key)
{
	return find_links(space, key, NULL);
}

struct value *value_find(const struct value_space *space, struct slice key)
{
	struct value *value = find_links(space, key, NULL);

	return value && slice_eq(value_key(value), key) ? value : NULL;
}

/* ---- the lists by version ---- */

static void newest_add(struct value_space *space, struct value *value)
{
	value->older = space->newest;
	value->newer = NULL;
	*(space->newest ? &space->newest->newer : &space->oldest) = value;
	space->newest = value;
}

static void version_leave(struct value_space *space, struct value *value)
{
	*(value->older ? &value->older->newer : &space->oldest) = value->newer;
	*(value->newer ? &value->newer->older : &space->newest) = value->older;
}

static void deleted_add(struct value_space *space, struct value *value)
{
	value->deleted_older = space->deleted_newest;
	value->deleted_newer = NULL;
	*(space->deleted_newest ? &space->deleted_newest->deleted_newer : &space->deleted_oldest) = value;
	space->deleted_newest = value;
	space->deleted++;
}

static void deleted_leave(struct value_space *space, struct value *value)
{
	*(value->deleted_older ? &value->deleted_older->deleted_newer : &space->deleted_oldest) = value->deleted_newer;
	*(value->deleted_newer ? &value->deleted_newer->deleted_older : &space->deleted_newest) = value->deleted_older;
	space->deleted--;
}

void space_link(struct value *value)
{
	newest_add(value->space, value);
	if (value->kind == VALUE_NONE)
		deleted_add(value->space, value);
}

/* ---- keys ---- */

static void bytes_count(struct core *core, struct value_space *space, uint64_t add, uint64_t take)
{
	space->bytes += add - take;
	core->value_bytes += add - take;
}

struct value *value_new(struct core *core, struct value_space *space, struct slice key)
{
	struct value **links[VALUE_LEVELS], *value;
	uint64_t chance = hash_bytes(key.data, key.len, core->hash_seed);
	uint8_t levels = 1;

	while (levels < VALUE_LEVELS && (chance & 3) == 0) {
		levels++;
		chance >>= 2;
	}
	value = mem_zalloc(sizeof(*value) + levels * sizeof(struct value *) + key.len);
	value->space = space;
	value->levels = levels;
	value->key_len = (uint16_t)key.len;
	memcpy(&value->next[levels], key.data, key.len);
	find_links(space, key, links);
	for (size_t level = 0; level < levels; level++) {
		value->next[level] = *links[level];
		*links[level] = value;
	}
	newest_add(space, value);
	deleted_add(space, value);
	bytes_count(core, space, value_cost(key.len, 0), 0);
	return value;
}

static void value_remove(struct core *core, struct value *value)
{
	struct value_space *space = value->space;
	struct value **links[VALUE_LEVELS];

	CHECK(value->kind == VALUE_NONE);
	find_links(space, value_key(value), links);
	for (size_t level = 0; level < value->levels; level++)
		*links[level] = value->next[level];
	version_leave(space, value);
	deleted_leave(space, value);
	bytes_count(core, space, 0, value_cost(value->key_len, 0));
	mem_free(value);
}

void value_write(struct core *core, struct value *value, uint8_t kind, struct blob *body, uint64_t version)
{
	struct value_space *space = value->space;

	version_leave(space, value);
	newest_add(space, value);
	if (value->kind == VALUE_NONE) {
		deleted_leave(space, value);
	} else {
		value_disarm(core, value);
		bytes_count(core, space, 0, value_body(value).len);
		blob_release(value->body);
		space->count--;
	}
	value->kind = kind;
	value->version = version;
	if (kind == VALUE_NONE) {
		deleted_add(space, value);
		return;
	}
	value->body = body;
	value->due_ms = value->ttl_ms = 0;
	value->stamp = 0;
	bytes_count(core, space, value_body(value).len, 0);
	space->count++;
}

void value_row_put(struct core *core, const struct value *value, bool deleted)
{
	struct arena *arena = &core->outbox->arena;
	struct row *row = outbox_row(core->outbox, TABLE_value);

	row->deleted = deleted;
	row->value = (struct row_value){
		.run = (int64_t)value->space->run, .definition = arena_copy(arena, slice_str(value->space->definition)),
		.name = arena_copy(arena, value_key(value)), .kind = value->kind, .version = (int64_t)value->version,
	};
	if (value->kind == VALUE_NONE || deleted)
		return;
	row->value.body = value->body ? outbox_hold(core->outbox, value->body) : slice_make(NULL, 0);
	row->value.due_ms = value->due_ms;
	row->value.ttl_ms = value->ttl_ms;
}

/* Forget the oldest deleted keys: a watch from before their deletion can't continue. */
void deleted_trim(struct core *core, struct value_space *space)
{
	if (space->deleted <= LIMIT_VALUE_DELETED_MAX)
		return;
	while (space->deleted > LIMIT_VALUE_DELETED_MAX) {
		space->compacted = space->deleted_oldest->version;
		value_row_put(core, space->deleted_oldest, true);
		value_remove(core, space->deleted_oldest);
	}
	space_row_put(core, space, false);
}

/* ---- checks ---- */

uint64_t values_hash(const struct core *core)
{
	uint64_t sum = core->revision;
	size_t cursor = 0;
	struct slice id;
	void *at;

	while (name_map_next(&core->value_spaces, &cursor, &id, &at)) {
		const struct value_space *space = at;
		uint64_t hash = hash_bytes(id.data, id.len, space->compacted);

		for (const struct value *value = space->first[0]; value; value = value->next[0]) {
			struct slice key = value_key(value), body = value_body(value);

			hash = hash_bytes(key.data, key.len, hash ^ value->version << 2 ^ value->kind);
			if (value->kind != VALUE_NONE)
				hash = hash_bytes(body.data, body.len, hash ^ (uint64_t)value->due_ms << 1 ^ (uint64_t)value->ttl_ms);
		}
		sum += hash_u64(hash);
	}
	return sum;
}

static void check_space(const struct core *core, const struct value_space *space)
{
	uint64_t count = 0, deleted = 0, bytes = 0, version = 0, listed = 0;

	for (const struct value *value = space->first[0]; value; value = value->next[0]) {
		CHECK(!value->next[0] || compare(value_key(value), value_key(value->next[0])) < 0);
		CHECK(value->space == space && value->version > 0 && value->version <= core->revision);
		count += value->kind != VALUE_NONE;
		deleted += value->kind == VALUE_NONE;
		bytes += value_cost(value->key_len, value_body(value).len);
		CHECK(value->kind == VALUE_NONE || !value->due_ms == !value->stamp);
		CHECK(value->kind == VALUE_NONE || value->stamp == 0 || map_get(&core->value_stamps, value->stamp) == value);
	}
	for (const struct value *value = space->oldest; value; value = value->newer) {
		CHECK(value->version >= version && (value->newer ? value->newer->older == value : space->newest == value));
		version = value->version;
		listed++;
	}
	CHECK(count == space->count && deleted == space->deleted && bytes == space->bytes && listed == count + deleted);
	CHECK(!space->deleted_oldest || space->deleted_oldest->version >= space->compacted);
}

void values_check(const struct core *core)
{
	size_t cursor = 0;
	uint64_t bytes = 0;
	struct slice id;
	void *at;

	while (name_map_next(&core->value_spaces, &cursor, &id, &at)) {
		check_space(core, at);
		bytes += ((const struct value_space *)at)->bytes;
	}
	CHECK(bytes == core->value_bytes);
}
