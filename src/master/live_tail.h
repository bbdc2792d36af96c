/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The newest output of jobs that run and wrote more than is kept: in memory, for who looks at them now. It is in no
 * file, and gone with the job's end, when the end of its output comes to stay. For the thread of the logs.
 */
#ifndef TITAN_MASTER_LIVE_TAIL_H
#define TITAN_MASTER_LIVE_TAIL_H

#include "base/arena.h"
#include "proto/message.h"

struct live_tail_piece {
	struct live_tail_piece *next;
	uint64_t number;                 /* only grows, over restarts of the master too */
	struct rec_output output;        /* its bytes stand behind this struct */
};

struct live_tail {                         /* of one attempt; zeroed: none */
	struct live_tail_piece *first, *last;
	size_t bytes;
};

struct live_tail_pool {                    /* of all */
	uint64_t number;
	size_t bytes;
};

void live_tail_add(struct live_tail_pool *pool, struct live_tail *live_tail, const struct rec_output *item);
void live_tail_clear(struct live_tail_pool *pool, struct live_tail *live_tail);
/* Those after *newest, which becomes the number of the last; valid until the next call that changes them. */
struct rec_output *live_tail_list(const struct live_tail *live_tail, struct arena *arena, uint64_t *newest, size_t *ret_count);

#endif
