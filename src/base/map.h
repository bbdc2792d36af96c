/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hash tables from a 64-bit number, or from bytes, to a pointer. A table owns neither keys nor values. A
 * zeroed struct is an empty table. Values are never NULL. The order of iteration depends only on the sequence
 * of operations, never on addresses, so that a simulated schedule replays exactly. A table must not change
 * while it is iterated.
 */
#ifndef TITAN_BASE_MAP_H
#define TITAN_BASE_MAP_H

#include "base/slice.h"

struct map_slot {
	uint64_t key;
	void *value;
};

struct map {                       /* a hash table from numbers to pointers */
	struct map_slot *slots;
	size_t count;
	size_t cap;                /* number of slots: a power of two, or 0 */
};

void *map_get(const struct map *map, uint64_t key);
/* puts a value; an old one of the same key is replaced */
void map_put(struct map *map, uint64_t key, void *value);
void *map_remove(struct map *map, uint64_t key); /* remove the entry of a key; return its value, or NULL */
bool map_next(const struct map *map, size_t *cursor, uint64_t *ret_key, void **ret_value);
/* shrink the table to fit its content; never during an iteration */
void map_shrink(struct map *map);
void map_free(struct map *map);

struct name_slot {
	struct slice name;         /* key of the entry; not copied: the bytes must live as long as the entry */
	uint64_t hash;
	void *value;
};

struct name_map {                  /* a hash table from bytes to pointers */
	struct name_slot *slots;
	size_t count;
	size_t cap;
};

void *name_map_get(const struct name_map *map, struct slice name);
void name_map_put(struct name_map *map, struct slice name, void *value);
void *name_map_remove(struct name_map *map, struct slice name);
bool name_map_next(const struct name_map *map, size_t *cursor, struct slice *ret_name, void **ret_value);
void name_map_shrink(struct name_map *map);
void name_map_free(struct name_map *map);

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);
uint64_t hash_u64(uint64_t value);

#endif
