/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the files of this folder call of each other. */
#ifndef TITAN_CORE_PLACE_INTERNAL_H
#define TITAN_CORE_PLACE_INTERNAL_H

#include "core/state.h"

/* charge.c: I7 */
void charge_reset(struct core *core, struct worker *worker);     /* what it offers is new: nothing is paid */
void charge_settle(struct core *core, struct worker *worker);    /* pay what can be paid */

/* choose.c: classes that want more than a slot */
void candidate_down(struct candidate *heap, size_t count, size_t at);
void reservations_clear(struct core *core);
void classes_place(struct core *core, size_t count);

/* fit.c */
bool class_steady(const struct core *core, const struct ready_class *class);      /* one that may and doesn't flap */
uint64_t worker_score(const struct worker *worker);      /* below 2^26; the lowest is the best */
bool worker_overloaded(const struct worker *worker);

/* pool.c */
void worker_row_put(struct core *core, const struct worker *worker);

/* refusal.c */
void worker_renewed(struct core *core, struct worker *worker);   /* it has another keeper, which may be able to start them */

/* worker.c */
void worker_dropped(struct core *core, struct worker *worker);   /* it lost its connection, unasked */

/* workers.c */
uint64_t worker_depth(const struct core *core, const struct worker *worker);

#endif
