/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue of outboxes in order of arrival. It doesn't use their next pointers, which belong to the owner. */
#ifndef TITAN_STORE_RING_H
#define TITAN_STORE_RING_H

#include "core/rows/outbox.h"

struct ring {
	struct outbox **items;
	size_t first, count, cap;        /* cap: room of the queue, a power of two or 0 */
};

void ring_add(struct ring *ring, struct outbox *outbox);
struct outbox *ring_take(struct ring *ring);             /* takes the oldest outbox; NULL: the queue is empty */
void ring_free(struct ring *ring);

#endif
