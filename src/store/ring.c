/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ring buffer of outboxes that doubles when it is full. It doesn't own the outboxes and never reads them. */
#include "store/ring.h"

#include "base/mem.h"

void ring_add(struct ring *ring, struct outbox *outbox)
{
	if (ring->count == ring->cap) {
		size_t cap = ring->cap ? ring->cap * 2 : 64;
		struct outbox **items = mem_array(cap, sizeof(*items));

		for (size_t i = 0; i < ring->count; i++)
			items[i] = ring->items[(ring->first + i) & (ring->cap - 1)];
		mem_free(ring->items);
		*ring = (struct ring){ .items = items, .count = ring->count, .cap = cap };
	}
	ring->items[(ring->first + ring->count++) & (ring->cap - 1)] = outbox;
}

struct outbox *ring_take(struct ring *ring)
{
	struct outbox *outbox;

	if (ring->count == 0)
		return NULL;
	outbox = ring->items[ring->first];
	ring->first = (ring->first + 1) & (ring->cap - 1);
	ring->count--;
	return outbox;
}

void ring_free(struct ring *ring)
{
	mem_free(ring->items);
	*ring = (struct ring){ 0 };
}
