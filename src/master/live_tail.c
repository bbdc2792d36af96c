/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "master/live_tail.h"

#include <string.h>

#include "base/mem.h"
#include "proto/limits.h"

/* Bytes of all live tails; beyond that, further jobs have none. */
#define POOL_MAX ((size_t)128 * LIMIT_LIVE_TAIL)

static void forget_first(struct live_tail_pool *pool, struct live_tail *live_tail)
{
	struct live_tail_piece *piece = live_tail->first;

	live_tail->first = piece->next;
	if (!live_tail->first)
		live_tail->last = NULL;
	live_tail->bytes -= piece->output.data.len;
	pool->bytes -= piece->output.data.len;
	mem_free(piece);
}

void live_tail_add(struct live_tail_pool *pool, struct live_tail *live_tail, const struct rec_output *item)
{
	struct live_tail_piece *piece;

	while (live_tail->first && live_tail->bytes + item->data.len > LIMIT_LIVE_TAIL)
		forget_first(pool, live_tail);
	if (item->data.len == 0 || pool->bytes + item->data.len > POOL_MAX)
		return;
	piece = mem_alloc(sizeof(*piece) + item->data.len);
	memcpy(piece + 1, item->data.data, item->data.len);
	*piece = (struct live_tail_piece){ .number = ++pool->number, .output = *item };
	piece->output.data = slice_make(piece + 1, item->data.len);
	*(live_tail->last ? &live_tail->last->next : &live_tail->first) = piece;
	live_tail->last = piece;
	live_tail->bytes += item->data.len;
	pool->bytes += item->data.len;
}

void live_tail_clear(struct live_tail_pool *pool, struct live_tail *live_tail)
{
	while (live_tail->first)
		forget_first(pool, live_tail);
}

struct rec_output *live_tail_list(const struct live_tail *live_tail, struct arena *arena, uint64_t *newest, size_t *ret_count)
{
	struct rec_output *list;
	size_t count = 0;

	for (const struct live_tail_piece *piece = live_tail->first; piece; piece = piece->next)
		count += piece->number > *newest;
	list = arena_alloc(arena, (count + 1) * sizeof(*list));
	count = 0;
	for (const struct live_tail_piece *piece = live_tail->first; piece; piece = piece->next)
		if (piece->number > *newest)
			list[count++] = piece->output;
	if (live_tail->last && live_tail->last->number > *newest)
		*newest = live_tail->last->number;
	*ret_count = count;
	return list;
}
