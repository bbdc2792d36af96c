/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The newest output of jobs that run and wrote more than is kept: in memory, for who looks at them now. It is in no
 * file, and gone with the job's end, when the end of its output comes to stay. For the thread of the logs.
 */
#ifndef TITAN_MASTER_PASSING_H
#define TITAN_MASTER_PASSING_H

#include "base/arena.h"
#include "proto/message.h"

struct passing_piece {
	struct passing_piece *next;
	uint64_t number;                 /* only grows, over restarts of the master too */
	struct rec_output output;        /* its bytes stand behind this struct */
};

struct passing {                         /* of one attempt; zeroed: none */
	struct passing_piece *first, *last;
	size_t bytes;
};

struct passing_pool {                    /* of all */
	uint64_t number;
	size_t bytes;
};

void passing_add(struct passing_pool *pool, struct passing *passing, const struct rec_output *item);
void passing_clear(struct passing_pool *pool, struct passing *passing);
/* Those after *newest, which becomes the number of the last; valid until the next call that changes them. */
struct rec_output *passing_list(const struct passing *passing, struct arena *arena, uint64_t *newest, size_t *ret_count);

#endif
