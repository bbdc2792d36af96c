/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hash tables with open addressing and linear probing. Removing an entry shifts the entries after it back, so there are
 * no tombstones and a look-up ends at the first empty slot. An empty slot has the value NULL. The seeds are fixed, so
 * the order of iteration depends only on the operations.
 */
#include "base/map.h"

#include "base/check.h"
#include "base/mem.h"

#define MAP_MIN 16u

uint64_t hash_u64(uint64_t value)
{
	value ^= value >> 32;
	value *= UINT64_C(0xd6e8feb86659fd93);
	value ^= value >> 32;
	value *= UINT64_C(0xd6e8feb86659fd93);
	return value ^ value >> 32;
}

static uint64_t hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
	const uint64_t k0 = UINT64_C(0x9ae16a3b2f90404f), k1 = UINT64_C(0xc949c7defeb1e3d1);
	const uint8_t *at = data;
	uint64_t hash = hash_fold(seed ^ k0, len ^ k1), word;

	for (; len >= 8; len -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = hash_fold(hash ^ word ^ k0, k1);
	}
	word = 0;
	if (len > 0)
		memcpy(&word, at, len);
	return hash_u64(hash_fold(hash ^ word ^ k1, k0));
}

/* Is there no room for one more entry? A table is at most three quarters full. */
static bool is_full(size_t count, size_t cap)
{
	return count + 1 > cap - cap / 4;
}

static size_t map_find(const struct map *map, uint64_t key)
{
	size_t mask = map->cap - 1, at = hash_u64(key) & mask;

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & mask;
	return at;
}

void *map_get(const struct map *map, uint64_t key)
{
	return map->cap ? map->slots[map_find(map, key)].value : NULL;
}

static void map_move(struct map *map, size_t cap)
{
	struct map moved = { .count = map->count, .cap = cap };

	moved.slots = mem_array(moved.cap, sizeof(*moved.slots));
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].value)
			moved.slots[map_find(&moved, map->slots[i].key)] = map->slots[i];
	mem_free(map->slots);
	*map = moved;
}

static void map_grow(struct map *map)
{
	map_move(map, map->cap ? map->cap * 2 : MAP_MIN);
}

/*
 * The size to shrink to: a quarter to a half full if the table is less than an eighth full; otherwise the present size.
 */
static size_t shrunk(size_t count, size_t cap)
{
	if (count >= cap / 8)
		return cap;
	while (cap > MAP_MIN && count < cap / 4)
		cap /= 2;
	return cap;
}

void map_shrink(struct map *map)
{
	size_t cap = shrunk(map->count, map->cap);

	if (cap < map->cap)
		map_move(map, cap);
}

void map_put(struct map *map, uint64_t key, void *value)
{
	struct map_slot *slot;

	CHECK(value != NULL);
	if (is_full(map->count, map->cap))
		map_grow(map);
	slot = &map->slots[map_find(map, key)];
	if (!slot->value)
		map->count++;
	slot->key = key;
	slot->value = value;
}

void *map_remove(struct map *map, uint64_t key)
{
	size_t mask = map->cap - 1, hole, at;
	void *value;

	if (!map->cap)
		return NULL;
	hole = map_find(map, key);
	value = map->slots[hole].value;
	if (!value)
		return NULL;
	for (at = (hole + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
		size_t home = hash_u64(map->slots[at].key) & mask;

		/* an entry may move back only as far as the slot that its hash names */
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole] = (struct map_slot){ 0 };
	map->count--;
	return value;
}

bool map_next(const struct map *map, size_t *cursor, uint64_t *ret_key, void **ret_value)
{
	for (size_t at = *cursor; at < map->cap; at++) {
		if (!map->slots[at].value)
			continue;
		if (ret_key)
			*ret_key = map->slots[at].key;
		if (ret_value)
			*ret_value = map->slots[at].value;
		*cursor = at + 1;
		return true;
	}
	*cursor = map->cap;
	return false;
}

void map_free(struct map *map)
{
	mem_free(map->slots);
	*map = (struct map){ 0 };
}

static size_t name_map_find(const struct name_map *map, struct slice name, uint64_t hash)
{
	size_t mask = map->cap - 1, at = hash & mask;

	while (map->slots[at].value && (map->slots[at].hash != hash || !slice_eq(map->slots[at].name, name)))
		at = (at + 1) & mask;
	return at;
}

void *name_map_get(const struct name_map *map, struct slice name)
{
	if (!map->cap)
		return NULL;
	return map->slots[name_map_find(map, name, hash_bytes(name.data, name.len, 0))].value;
}

static void name_map_move(struct name_map *map, size_t cap)
{
	struct name_map moved = { .count = map->count, .cap = cap };

	moved.slots = mem_array(moved.cap, sizeof(*moved.slots));
	for (size_t i = 0; i < map->cap; i++) {
		const struct name_slot *slot = &map->slots[i];

		if (slot->value)
			moved.slots[name_map_find(&moved, slot->name, slot->hash)] = *slot;
	}
	mem_free(map->slots);
	*map = moved;
}

static void name_map_grow(struct name_map *map)
{
	name_map_move(map, map->cap ? map->cap * 2 : MAP_MIN);
}

void name_map_shrink(struct name_map *map)
{
	size_t cap = shrunk(map->count, map->cap);

	if (cap < map->cap)
		name_map_move(map, cap);
}

void name_map_put(struct name_map *map, struct slice name, void *value)
{
	uint64_t hash = hash_bytes(name.data, name.len, 0);
	struct name_slot *slot;

	CHECK(value != NULL);
	if (is_full(map->count, map->cap))
		name_map_grow(map);
	slot = &map->slots[name_map_find(map, name, hash)];
	if (!slot->value)
		map->count++;
	/* replace the name, too, because the old one may be freed together with its value */
	*slot = (struct name_slot){ .name = name, .hash = hash, .value = value };
}

void *name_map_remove(struct name_map *map, struct slice name)
{
	size_t mask = map->cap - 1, hole, at;
	void *value;

	if (!map->cap)
		return NULL;
	hole = name_map_find(map, name, hash_bytes(name.data, name.len, 0));
	value = map->slots[hole].value;
	if (!value)
		return NULL;
	for (at = (hole + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
		size_t home = map->slots[at].hash & mask;

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole] = (struct name_slot){ 0 };
	map->count--;
	return value;
}

bool name_map_next(const struct name_map *map, size_t *cursor, struct slice *ret_name, void **ret_value)
{
	for (size_t at = *cursor; at < map->cap; at++) {
		if (!map->slots[at].value)
			continue;
		if (ret_name)
			*ret_name = map->slots[at].name;
		if (ret_value)
			*ret_value = map->slots[at].value;
		*cursor = at + 1;
		return true;
	}
	*cursor = map->cap;
	return false;
}

void name_map_free(struct name_map *map)
{
	mem_free(map->slots);
	*map = (struct name_map){ 0 };
}
