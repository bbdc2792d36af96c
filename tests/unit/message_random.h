/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random messages and records of every kind, made from the tables of the protocol: for tests of the codec and its fuzz
 * corpus.
 */
#ifndef TITAN_TESTS_MESSAGE_RANDOM_H
#define TITAN_TESTS_MESSAGE_RANDOM_H

#include "base/rand.h"
#include "proto/message.h"


struct random_messages {
	struct rand_state rand;
	struct arena arena;
	size_t list_max;         /* most entries that a random list gets */
};

static inline void random_shape(struct random_messages *random, const struct shape *shape, uint8_t *base);

/* A random number near a limit at which MessagePack changes the size of its encoding. */
static inline uint64_t random_u64(struct random_messages *random)
{
	static const uint64_t edges[] = {
		0, 1, 127, 128, 255, 256, 65535, 65536, UINT32_MAX, UINT64_C(1) << 32, INT64_MAX,
		UINT64_C(1) << 63, UINT64_MAX,
	};

	if (rand_below(&random->rand, 2))
		return edges[rand_below(&random->rand, sizeof(edges) / sizeof(edges[0]))];
	return rand_next(&random->rand) >> rand_below(&random->rand, 64);
}

static inline struct slice random_bytes(struct random_messages *random)
{
	static const size_t edges[] = { 0, 1, 31, 32, 255, 256 };
	size_t len = rand_below(&random->rand, 12);
	uint8_t *data;

	if (rand_below(&random->rand, 8) == 0)
		len = edges[rand_below(&random->rand, sizeof(edges) / sizeof(edges[0]))];
	if (rand_below(&random->rand, 2000) == 0)
		len = 70000;
	data = arena_alloc(&random->arena, len);
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)rand_next(&random->rand);
	return slice_make(data, len);
}

static inline size_t random_count(struct random_messages *random)
{
	return rand_below(&random->rand, random->list_max + 1);
}

static inline void random_field(struct random_messages *random, const struct field_info *field, uint8_t *base)
{
	struct { uint8_t *at; size_t n; } list = { 0 };
	const struct shape *shape;
	void *value = base + field->offset;

	switch (field->type) {
	case TYPE_U64: *(uint64_t *)value = random_u64(random); return;
	case TYPE_I64: *(int64_t *)value = (int64_t)random_u64(random); return;
	case TYPE_BOOL: *(bool *)value = rand_below(&random->rand, 2); return;
	case TYPE_STR:
	case TYPE_BIN: *(struct slice *)value = random_bytes(random); return;
	case TYPE_U64S: {
		struct u64_list *numbers = value;

		numbers->n = random_count(random);
		numbers->at = arena_zalloc(&random->arena, numbers->n, sizeof(*numbers->at));
		for (size_t i = 0; i < numbers->n; i++)
			numbers->at[i] = random_u64(random);
		return;
	}
	case TYPE_STRS: {
		struct slice_list *texts = value;

		texts->n = random_count(random);
		texts->at = arena_zalloc(&random->arena, texts->n, sizeof(*texts->at));
		for (size_t i = 0; i < texts->n; i++)
			texts->at[i] = random_bytes(random);
		return;
	}
	case TYPE_RECORDS:
		shape = record_shape((enum record_kind)field->record);
		list.n = random_count(random);
		list.at = arena_zalloc(&random->arena, list.n, shape->size);
		for (size_t i = 0; i < list.n; i++)
			random_shape(random, shape, list.at + i * shape->size);
		memcpy(value, &list, sizeof(list));
		return;
	}
}

/* Decide which fields are present: a third of the optional ones are left out. */
static inline void random_shape(struct random_messages *random, const struct shape *shape, uint8_t *base)
{
	memset(base, 0, shape->size);
	for (size_t i = 0; i < shape->field_count; i++)
		if (shape->fields[i].must || rand_below(&random->rand, 3))
			random_field(random, &shape->fields[i], base);
}

#endif
