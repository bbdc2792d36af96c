/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arenas: memory in blocks that is freed together. arena_reset keeps one block, the largest that isn't over 1
 * MiB, so that a steady load allocates nothing and one large message doesn't hold memory for ever.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"

#define ARENA_ALIGN      16u
#define ARENA_BLOCK_MIN  ((size_t)4096)
#define ARENA_BLOCK_KEEP ((size_t)1048576)

struct arena_block {
	struct arena_block *next;
	size_t size;
	size_t used;
	alignas(16) uint8_t data[];
};

static struct arena_block *block_add(struct arena *arena, size_t size)
{
	size_t want = arena->current ? arena->current->size * 2 : ARENA_BLOCK_MIN;
	struct arena_block *block;

	if (want > ARENA_BLOCK_KEEP)
		want = ARENA_BLOCK_KEEP;
	if (want < size)
		want = size;
	CHECK(want <= PTRDIFF_MAX - sizeof(*block));
	block = mem_alloc(sizeof(*block) + want);
	block->next = NULL;
	block->size = want;
	block->used = 0;
	if (arena->current)
		arena->current->next = block;
	else
		arena->first = block;
	arena->current = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->current;
	void *ptr;

	CHECK(size <= PTRDIFF_MAX - ARENA_ALIGN);
	size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!block || block->size - block->used < size)
		block = block_add(arena, size);
	ptr = block->data + block->used;
	block->used += size;
	return ptr;
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size)
{
	size_t total;

	CHECK(!__builtin_mul_overflow(count, size, &total));
	return memset(arena_alloc(arena, total), 0, total);
}

struct slice arena_copy(struct arena *arena, struct slice slice)
{
	uint8_t *data;

	if (slice.len == 0)
		return slice_make(NULL, 0);
	data = arena_alloc(arena, slice.len);
	memcpy(data, slice.data, slice.len);
	return slice_make(data, slice.len);
}

char *arena_strdup(struct arena *arena, struct slice slice)
{
	char *text = arena_alloc(arena, slice.len + 1);

	if (slice.len > 0)
		memcpy(text, slice.data, slice.len);
	text[slice.len] = '\0';
	return text;
}

void arena_reset(struct arena *arena)
{
	struct arena_block *keep = NULL, *next;

	for (struct arena_block *block = arena->first; block; block = block->next)
		if (block->size <= ARENA_BLOCK_KEEP && (!keep || block->size > keep->size))
			keep = block;
	for (struct arena_block *block = arena->first; block; block = next) {
		next = block->next;
		if (block != keep)
			mem_free(block);
	}
	if (keep) {
		keep->next = NULL;
		keep->used = 0;
	}
	arena->first = keep;
	arena->current = keep;
}

void arena_free(struct arena *arena)
{
	struct arena_block *next;

	for (struct arena_block *block = arena->first; block; block = next) {
		next = block->next;
		mem_free(block);
	}
	arena->first = NULL;
	arena->current = NULL;
}
