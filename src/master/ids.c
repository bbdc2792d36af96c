/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of numbers in an array. Before the array grows, it is sorted and its duplicates are dropped. */
#include "master/ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_cb(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

void ids_sort(struct ids *ids)
{
	size_t kept = 0;

	if (ids->n == 0)
		return;
	qsort(ids->at, ids->n, sizeof(*ids->at), compare_cb);
	for (size_t i = 0; i < ids->n; i++)
		if (kept == 0 || ids->at[kept - 1] != ids->at[i])
			ids->at[kept++] = ids->at[i];
	ids->n = kept;
}

void ids_add(struct ids *ids, uint64_t id)
{
	if (ids->n > 0 && ids->at[ids->n - 1] == id)
		return;
	if (ids->n == ids->cap) {
		/*
		 * The numbers are mostly repeats, so sort and drop duplicates first, and grow only if that
		 * made no room.
		 */
		ids_sort(ids);
		if (ids->n >= ids->cap / 2) {
			ids->cap = ids->cap ? ids->cap * 2 : 64;
			ids->at = mem_resize(ids->at, ids->cap, sizeof(*ids->at));
		}
	}
	ids->at[ids->n++] = id;
}

void ids_drop(struct ids *ids, size_t count)
{
	ids->n -= count;
	if (ids->n > 0)
		memmove(ids->at, ids->at + count, ids->n * sizeof(*ids->at));
}

void ids_free(struct ids *ids)
{
	mem_free(ids->at);
	*ids = (struct ids){ 0 };
}
