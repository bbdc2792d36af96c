/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_PLACE_INTERNAL_H
#define TITAN_CORE_PLACE_INTERNAL_H

#include "core/state.h"

/* charge.c: resources in use (invariant I7) */
void charge_reset(struct core *core, struct worker *worker);     /* offers are new: mark every attempt unpaid */
void charge_settle(struct core *core, struct worker *worker);    /* pay each attempt for which there is room */

/* choose.c: classes that want more than a slot */
void candidate_down(struct candidate *heap, size_t count, size_t at);
void reservations_clear(struct core *core);
void classes_place(struct core *core, size_t count);

/* fit.c */
bool class_steady(const struct core *core, const struct ready_class *class);      /* a steady worker may have them */
uint64_t worker_score(const struct worker *worker);      /* below 2^26; lowest is best */
bool worker_overloaded(const struct worker *worker);

/* pool.c */
void worker_row_put(struct core *core, const struct worker *worker);

/* refusal.c */
void worker_renewed(struct core *core, struct worker *worker);   /* new keeper: end the worker's rest */

/* worker.c */
void worker_dropped(struct core *core, struct worker *worker);   /* record an unexpected disconnect */

/* workers.c */
uint64_t worker_depth(const struct core *core, const struct worker *worker);

#endif
