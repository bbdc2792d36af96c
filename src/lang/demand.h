/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a job wants of its worker, as people write it: in a pipeline, on one line, for a worker that offers it.
 * Shared by their readers; the errors are words without a place.
 */
#ifndef TITAN_LANG_DEMAND_H
#define TITAN_LANG_DEMAND_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/resource.h"

struct demand {
	struct slice_list asks;          /* NAME=N each, as the wire has them */
	struct slice_list prefer;
	struct slice prefer_worker, only_worker, pool;
	bool pool_hard;
	uint64_t affinity;               /* enum affinity */
	bool affinity_hard;
};

/* An amount of this resource: 2 or 0.5 cpus, 4G of memory, a number of all else. At least some of it. */
enum err demand_amount(const char *name, struct slice text, uint64_t *ret, struct error *error);
/* Adds NAME=N to a list in the arena; ERR_DUPLICATE if there is one of this name. */
enum err demand_add(struct slice_list *list, struct arena *arena, struct slice name, struct slice amount,
		   struct error *error);
enum err demand_affinity(struct slice word, uint64_t *ret, struct error *error);
void demand_default(struct demand *placing, const struct demand *defaults);     /* what isn't said */
bool demand_any(const struct demand *placing);
void demand_spec(const struct demand *placing, struct rec_job_spec *spec);
/* As people read them, from what the wire has: cpus=0.5, memory=4G. */
struct slice_list demand_shown(struct slice_list texts, struct arena *arena);
/* The same with what is in use: cpus=1.5/4. */
struct slice_list demand_shown_used(struct slice_list texts, struct u64_list used, struct arena *arena);

#endif
