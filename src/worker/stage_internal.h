/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by stage.c and stage_place.c. */
#ifndef TITAN_WORKER_STAGE_INTERNAL_H
#define TITAN_WORKER_STAGE_INTERNAL_H

#include <limits.h>

#include "base/arena.h"
#include "base/map.h"
#include "goods/manifest.h"
#include "proto/input.h"
#include "proto/limits.h"
#include "worker/cache.h"
#include "worker/ipc.h"
#include "worker/stage.h"

#define REQUESTS_MAX 4                   /* most unanswered requests */

struct staging {                         /* an attempt whose files are being staged */
	uint64_t job, epoch;
	struct rec_input *inputs;        /* in arena */
	size_t input_count;
	size_t lacking;                  /* number of fetches for which it waits */
	struct cached **pins;            /* what it needs and what is in the cache */
	size_t pin_count, pin_cap;
	struct arena arena;
	struct staging *prev, *next;
	struct staging *next_ready;
};

struct waiter {                          /* an attempt that waits for a content */
	struct staging *staging;
	uint8_t root[SHA256_SIZE];       /* hash of its input to which the content belongs */
	struct waiter *next;
};

struct fetch {                           /* a content that isn't in the cache */
	uint8_t hash[SHA256_SIZE];
	uint64_t size;
	uint64_t asked;                  /* bytes that have arrived or were asked for */
	bool began;                      /* something was asked for on this connection */
	struct waiter *waiters;          /* at least one; requests are made in the name of the first */
	struct fetch *prev, *next;       /* in the order in which they were wanted */
};

struct asked {                           /* an answer that is awaited */
	uint64_t id;
	uint64_t job, epoch;             /* the attempt in whose name it was asked for */
	struct fetch *fetch;             /* NULL: nobody wants it any more */
	uint64_t offset;
	struct asked *next;
};

struct stager {
	struct stager_options options;
	struct cache *cache;
	int staged_fd;
	bool online;
	struct staging *first, *ready;
	struct name_map fetches;         /* from a hash to struct fetch */
	struct fetch *fetch_first, *fetch_last;
	struct asked *asked, *asked_last;        /* in the order of the answers */
	unsigned requests;               /* unanswered ones */
	uint64_t last_id;
};

void staging_pin(struct staging *staging, struct cached *cached);

/* stage_place.c */
/* Make the directory of the attempt, all of whose contents are in the cache. Returns 0 or -errno. */
int stage_place(struct stager *stager, const struct staging *staging);
void stage_remove(struct stager *stager, uint64_t job, uint64_t epoch);

#endif
