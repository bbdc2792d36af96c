/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An arena: memory that is freed all at once, such as that of a turn or a decoded message. A zeroed struct is
 * an empty arena.
 */
#ifndef TITAN_BASE_ARENA_H
#define TITAN_BASE_ARENA_H

#include "base/slice.h"

struct arena_block;

struct arena {
	struct arena_block *first;    /* the oldest block of the arena */
	struct arena_block *current;
};

void *arena_alloc(struct arena *arena, size_t size);     /* returns memory aligned to 16 bytes, not zeroed */
void *arena_zalloc(struct arena *arena, size_t count, size_t size);
struct slice arena_copy(struct arena *arena, struct slice slice);
/* returns a copy of the bytes with a NUL behind them */
char *arena_strdup(struct arena *arena, struct slice slice);
void arena_reset(struct arena *arena);                   /* empties the arena but keeps one block of at most 1 MiB */
void arena_free(struct arena *arena);

#endif
