/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a job demands of its worker, as people write it: in a pipeline, on one line, or for a worker that
 * offers it. Shared by these parsers; errors have no place in the text.
 */
#ifndef TITAN_LANG_DEMAND_H
#define TITAN_LANG_DEMAND_H

#include "base/arena.h"
#include "proto/message.h"
#include "proto/resource.h"

struct demand {
	struct slice_list asks;          /* resources that the job asks for, each NAME=N as on the wire */
	struct slice_list prefer;
	struct slice prefer_worker, only_worker, pool;
	bool pool_hard;
	uint64_t affinity;               /* enum affinity */
	bool affinity_hard;
};

/* Parse an amount of a resource, more than 0: 2 or 0.5 cpus, 4G of memory, a whole number for all others. */
enum err demand_amount(const char *name, struct slice text, uint64_t *ret, struct error *error);
/* Add NAME=N to a list in the arena; ERR_DUPLICATE if the name is there already. */
enum err demand_add(struct slice_list *list, struct arena *arena, struct slice name, struct slice amount,
		   struct error *error);
enum err demand_affinity(struct slice word, uint64_t *ret, struct error *error);
/* Takes from defaults what isn't set in placing. */
void demand_default(struct demand *placing, const struct demand *defaults);
bool demand_any(const struct demand *placing);
void demand_spec(const struct demand *placing, struct rec_job_spec *spec);
/* Write resources as people read them, from their wire form: cpus=0.5, memory=4G. */
struct slice_list demand_shown(struct slice_list texts, struct arena *arena);
/* Write resources together with what is in use: cpus=1.5/4. */
struct slice_list demand_shown_used(struct slice_list texts, struct u64_list used, struct arena *arena);

#endif
