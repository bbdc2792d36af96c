/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_PLACE_INTERNAL_H
#define TITAN_CORE_PLACE_INTERNAL_H

#include "core/state.h"

/* charge.c: resources in use (invariant I7) */
/* Mark all attempts of the worker as unreserved, because its offers are new. */
void charge_reset(struct core *core, struct worker *worker);
/* Reserve resources for each unreserved attempt that fits now. */
void charge_waiting(struct core *core, struct worker *worker);

/* choose.c: classes that want more than a slot */
void candidate_down(struct candidate *heap, size_t count, size_t at);
void reservations_clear(struct core *core);
void classes_place(struct core *core, size_t count);

/* fit.c */
/* Check whether a worker that doesn't flap may have the jobs of this class. */
bool class_steady(const struct core *core, const struct ready_class *class);
uint64_t worker_score(const struct worker *worker);      /* load of a worker, below 2^26; the lowest is best */
bool worker_overloaded(const struct worker *worker);

/* pool.c */
void worker_row_put(struct core *core, const struct worker *worker);

/* refusal.c */
void worker_renewed(struct core *core, struct worker *worker);   /* the worker has a new keeper: end its rest */

/* worker.c */
/* Note that the worker disconnected unasked, to detect flapping. */
void worker_dropped(struct core *core, struct worker *worker);

/* workers.c */
uint64_t worker_depth(const struct core *core, const struct worker *worker);

#endif
