/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outboxes in order of arrival. Their own next pointer is the owner's, so they can't be linked by it. */
#ifndef TITAN_STORE_RING_H
#define TITAN_STORE_RING_H

#include "core/rows/outbox.h"

struct ring {
	struct outbox **items;
	size_t first, count, cap;        /* cap: a power of two, or 0 */
};

void ring_add(struct ring *ring, struct outbox *outbox);
struct outbox *ring_take(struct ring *ring);             /* NULL when empty */
void ring_free(struct ring *ring);

#endif
