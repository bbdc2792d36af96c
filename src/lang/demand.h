/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a job demands of its worker, as people write it in a pipeline or on one line; and what a worker offers. Errors
 * of these functions have no place in the text.
 */
#ifndef TITAN_LANG_DEMAND_H
#define TITAN_LANG_DEMAND_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/resource.h"

struct demand {
	struct slice_list asks;          /* resources that the job asks for, each as NAME=N in the protocol's units */
	struct slice_list prefer;
	struct slice_list requires;      /* capabilities of the pool */
	struct slice prefer_worker, only_worker, pool;
	bool pool_hard;
	uint64_t affinity;               /* enum affinity */
	bool affinity_hard;
};

/* Parse an amount of a resource above 0: 2 or 0.5 cpus, 4G of memory, a whole number of anything else. */
enum err demand_amount(const char *name, struct slice text, uint64_t *ret, struct error *error);
/* Add NAME=N to a list in the arena; ERR_DUPLICATE: the name is already in the list. */
enum err demand_add(struct slice_list *list, struct arena *arena, struct slice name, struct slice amount,
		   struct error *error);
enum err demand_affinity(struct slice word, uint64_t *ret, struct error *error);
/* Copy the demands from defaults that placing doesn't set. */
void demand_default(struct demand *placing, const struct demand *defaults);
bool demand_any(const struct demand *placing);
void demand_spec(const struct demand *placing, struct rec_job_spec *spec);
/* Write resources for people: cpus=0.5, memory=4G. */
struct slice_list demand_shown(struct slice_list texts, struct arena *arena);
/* Write resources with the amount in use: cpus=1.5/4. */
struct slice_list demand_shown_used(struct slice_list texts, struct u64_list used, struct arena *arena);

#endif
