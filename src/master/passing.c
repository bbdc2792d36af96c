/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "master/passing.h"

#include <string.h>

#include "base/mem.h"
#include "proto/limits.h"

#define POOL_MAX ((size_t)128 * LIMIT_LOG_PASSING)       /* of all jobs: more of them are shown without it */

static void forget_first(struct passing_pool *pool, struct passing *passing)
{
	struct passing_piece *piece = passing->first;

	passing->first = piece->next;
	if (!passing->first)
		passing->last = NULL;
	passing->bytes -= piece->output.data.len;
	pool->bytes -= piece->output.data.len;
	mem_free(piece);
}

void passing_add(struct passing_pool *pool, struct passing *passing, const struct rec_output *item)
{
	struct passing_piece *piece;

	while (passing->first && passing->bytes + item->data.len > LIMIT_LOG_PASSING)
		forget_first(pool, passing);
	if (item->data.len == 0 || pool->bytes + item->data.len > POOL_MAX)
		return;
	piece = mem_alloc(sizeof(*piece) + item->data.len);
	memcpy(piece + 1, item->data.data, item->data.len);
	*piece = (struct passing_piece){ .number = ++pool->number, .output = *item };
	piece->output.data = slice_make(piece + 1, item->data.len);
	*(passing->last ? &passing->last->next : &passing->first) = piece;
	passing->last = piece;
	passing->bytes += item->data.len;
	pool->bytes += item->data.len;
}

void passing_clear(struct passing_pool *pool, struct passing *passing)
{
	while (passing->first)
		forget_first(pool, passing);
}

struct rec_output *passing_list(const struct passing *passing, struct arena *arena, uint64_t *newest, size_t *ret_count)
{
	struct rec_output *list;
	size_t count = 0;

	for (const struct passing_piece *piece = passing->first; piece; piece = piece->next)
		count += piece->number > *newest;
	list = arena_alloc(arena, (count + 1) * sizeof(*list));
	count = 0;
	for (const struct passing_piece *piece = passing->first; piece; piece = piece->next)
		if (piece->number > *newest)
			list[count++] = piece->output;
	if (passing->last && passing->last->number > *newest)
		*newest = passing->last->number;
	*ret_count = count;
	return list;
}
