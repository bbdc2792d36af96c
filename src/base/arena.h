/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed all at once: a turn, a decoded message. A zeroed struct is an empty arena. */
#ifndef TITAN_BASE_ARENA_H
#define TITAN_BASE_ARENA_H

#include "base/slice.h"

struct arena_block;

struct arena {
	struct arena_block *first;    /* the oldest */
	struct arena_block *current;
};

void *arena_alloc(struct arena *arena, size_t size);     /* 16-byte aligned, not zeroed */
void *arena_zalloc(struct arena *arena, size_t count, size_t size);
struct slice arena_copy(struct arena *arena, struct slice slice);
char *arena_strdup(struct arena *arena, struct slice slice);   /* NUL-terminated */
void arena_reset(struct arena *arena);                   /* keeps one block, of 1 MiB at most */
void arena_free(struct arena *arena);

#endif
