/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compare maps with an array that is searched linearly. */
#include <stdio.h>

#include "base/map.h"
#include "base/rand.h"
#include "greatest.h"

#define KEYS 512

static int marks[KEYS];

TEST maps_shrink_to_what_they_have(void)
{
	struct map map = { 0 };
	struct name_map names = { 0 };
	static char texts[5000][8];

	map_shrink(&map);
	name_map_shrink(&names);
	ASSERT(map.cap == 0 && names.cap == 0);
	for (uint64_t i = 0; i < 5000; i++) {
		snprintf(texts[i], sizeof(texts[i]), "n%d", (int)i);
		map_put(&map, i * 7, texts[i]);
		name_map_put(&names, slice_str(texts[i]), texts[i]);
	}
	map_shrink(&map);
	name_map_shrink(&names);
	ASSERT(map.cap == 8192 && names.cap == 8192);
	for (uint64_t i = 0; i < 4900; i++) {
		ASSERT_EQ(texts[i], map_remove(&map, i * 7));
		ASSERT_EQ(texts[i], name_map_remove(&names, slice_str(texts[i])));
	}
	map_shrink(&map);
	name_map_shrink(&names);
	ASSERT(map.count == 100 && map.cap == 256 && names.count == 100 && names.cap == 256);
	for (uint64_t i = 0; i < 5000; i++) {
		ASSERT_EQ(i < 4900 ? NULL : texts[i], map_get(&map, i * 7));
		ASSERT_EQ(i < 4900 ? NULL : texts[i], name_map_get(&names, slice_str(texts[i])));
	}
	map_free(&map);
	name_map_free(&names);
	PASS();
}

TEST map_equals_its_model(uint64_t seed, uint64_t stride)
{
	struct map map = { 0 };
	void *model[KEYS] = { 0 };
	struct rand_state rand;
	size_t count = 0;

	rand_seed(&rand, seed);
	ASSERT_EQ(NULL, map_get(&map, 1));
	ASSERT_EQ(NULL, map_remove(&map, 1));
	for (int step = 0; step < 50000; step++) {
		uint64_t k = rand_below(&rand, KEYS), key = k * stride;

		if (rand_below(&rand, 2)) {
			void *value = &marks[rand_below(&rand, KEYS)];

			count += !model[k];
			map_put(&map, key, value);
			model[k] = value;
		} else {
			count -= model[k] != NULL;
			ASSERT_EQ(model[k], map_remove(&map, key));
			model[k] = NULL;
		}
		k = rand_below(&rand, KEYS);
		ASSERT_EQ(model[k], map_get(&map, k * stride));
		ASSERT_EQ_FMT(count, map.count, "%zu");
	}
	for (uint64_t k = 0; k < KEYS; k++)
		ASSERT_EQ(model[k], map_get(&map, k * stride));
	map_free(&map);
	PASS();
}

TEST map_iterates_over_each_once(void)
{
	struct map map = { 0 };
	bool seen[KEYS] = { false };
	size_t cursor = 0, count = 0;
	uint64_t key;
	void *value;

	ASSERT_FALSE(map_next(&map, &cursor, &key, &value));
	for (uint64_t k = 0; k < KEYS; k++)
		map_put(&map, k << 32, &marks[k]);
	for (cursor = 0; map_next(&map, &cursor, &key, &value); count++) {
		ASSERT_FALSE(seen[key >> 32]);
		seen[key >> 32] = true;
		ASSERT_EQ(&marks[key >> 32], value);
	}
	ASSERT_EQ_FMT((size_t)KEYS, count, "%zu");
	ASSERT_FALSE(map_next(&map, &cursor, NULL, NULL));
	map_free(&map);
	PASS();
}

/* The same operations give the same iteration order, whatever the addresses of the values. */
TEST map_order_depends_on_operations_only(void)
{
	struct map a = { 0 }, b = { 0 };
	size_t at_a = 0, at_b = 0;
	uint64_t key_a, key_b;

	for (uint64_t k = 0; k < KEYS; k++) {
		map_put(&a, k * 7919, &marks[k]);
		map_put(&b, k * 7919, &marks[KEYS - 1 - k]);
		if (k % 3 == 0) {
			map_remove(&a, k / 2 * 7919);
			map_remove(&b, k / 2 * 7919);
		}
	}
	while (map_next(&a, &at_a, &key_a, NULL)) {
		ASSERT(map_next(&b, &at_b, &key_b, NULL));
		ASSERT_EQ(key_a, key_b);
	}
	ASSERT_FALSE(map_next(&b, &at_b, NULL, NULL));
	map_free(&a);
	map_free(&b);
	PASS();
}

TEST name_map_equals_its_model(void)
{
	static char names[KEYS][24];
	struct name_map map = { 0 };
	void *model[KEYS] = { 0 };
	struct rand_state rand;
	size_t cursor = 0, live = 0, count = 0;
	struct slice name;

	rand_seed(&rand, 11);
	for (size_t k = 0; k < KEYS; k++)
		snprintf(names[k], sizeof(names[k]), "%.*s%zu", (int)(k % 17), "encode-the-video.", k);
	ASSERT_EQ(NULL, name_map_get(&map, slice_str("none")));
	ASSERT_EQ(NULL, name_map_remove(&map, slice_str("none")));
	for (int step = 0; step < 50000; step++) {
		size_t k = rand_below(&rand, KEYS);

		if (rand_below(&rand, 2)) {
			model[k] = &marks[k];
			name_map_put(&map, slice_str(names[k]), model[k]);
		} else {
			ASSERT_EQ(model[k], name_map_remove(&map, slice_str(names[k])));
			model[k] = NULL;
		}
		k = rand_below(&rand, KEYS);
		ASSERT_EQ(model[k], name_map_get(&map, slice_str(names[k])));
	}
	for (size_t k = 0; k < KEYS; k++)
		live += model[k] != NULL;
	ASSERT_EQ_FMT(live, map.count, "%zu");
	for (void *value; name_map_next(&map, &cursor, &name, &value); count++) {
		ASSERT_EQ(model[(int *)value - marks], value);
		ASSERT(slice_eq(name, slice_str(names[(int *)value - marks])));
	}
	ASSERT_EQ_FMT(live, count, "%zu");
	name_map_free(&map);
	PASS();
}

/* A name with a NUL byte, an empty name, and a prefix of another name are all different keys. */
TEST name_map_compares_all_bytes(void)
{
	struct name_map map = { 0 };

	name_map_put(&map, slice_make("", 0), &marks[0]);
	name_map_put(&map, slice_make("a", 1), &marks[1]);
	name_map_put(&map, slice_make("a\0", 2), &marks[2]);
	name_map_put(&map, slice_make("a\0b", 3), &marks[3]);
	ASSERT_EQ_FMT((size_t)4, map.count, "%zu");
	for (size_t len = 0; len < 4; len++)
		ASSERT_EQ(&marks[len], name_map_get(&map, slice_make("a\0b", len)));
	name_map_free(&map);
	PASS();
}

TEST hashes_spread(void)
{
	unsigned low[64] = { 0 };

	for (uint64_t i = 0; i < 64 * 100; i++)
		low[hash_u64(i << 40) & 63]++;
	for (int i = 0; i < 64; i++)
		ASSERT_IN_RANGE(100, low[i], 60);
	ASSERT_NEQ(hash_bytes("ab", 2, 0), hash_bytes("ab", 2, 1));
	ASSERT_NEQ(hash_bytes("ab", 2, 0), hash_bytes("ab\0", 3, 0));
	PASS();
}

SUITE(base_map)
{
	RUN_TEST(maps_shrink_to_what_they_have);
	RUN_TESTp(map_equals_its_model, 1, 1);
	RUN_TESTp(map_equals_its_model, 2, UINT64_C(1) << 32);
	RUN_TESTp(map_equals_its_model, 3, UINT64_C(0x9e3779b97f4a7c15));
	RUN_TEST(map_iterates_over_each_once);
	RUN_TEST(map_order_depends_on_operations_only);
	RUN_TEST(name_map_equals_its_model);
	RUN_TEST(name_map_compares_all_bytes);
	RUN_TEST(hashes_spread);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_map);
	GREATEST_MAIN_END();
}
