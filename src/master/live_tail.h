/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live tails: the newest output of running jobs that wrote more than is kept, held in memory for watchers. A live tail
 * is in no file, and is dropped when the job ends and the kept end of its output arrives. Used by the log thread.
 */
#ifndef TITAN_MASTER_LIVE_TAIL_H
#define TITAN_MASTER_LIVE_TAIL_H

#include "base/arena.h"
#include "proto/message.h"

struct live_tail_piece {
	struct live_tail_piece *next;
	/* Number of the piece; it grows with each piece, also across restarts of the master. */
	uint64_t number;
	struct rec_output output;        /* the piece of output; its bytes follow this struct */
};

struct live_tail {                         /* the live tail of one attempt; all zeros: empty */
	struct live_tail_piece *first, *last;
	size_t bytes;
};

struct live_tail_pool {                    /* totals over the live tails of all attempts */
	uint64_t number;
	size_t bytes;
};

void live_tail_add(struct live_tail_pool *pool, struct live_tail *live_tail, const struct rec_output *item);
void live_tail_clear(struct live_tail_pool *pool, struct live_tail *live_tail);
/*
 * List the pieces after number *newest, and set *newest to the last one's number. The list is valid until the next
 * change.
 */
struct rec_output *live_tail_list(const struct live_tail *live_tail, struct arena *arena, uint64_t *newest, size_t *ret_count);

#endif
