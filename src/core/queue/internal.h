/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the files of this folder call of each other. */
#ifndef TITAN_CORE_QUEUE_INTERNAL_H
#define TITAN_CORE_QUEUE_INTERNAL_H

#include "core/state.h"

/* bound.c */
void bound_park(struct core *core, struct bound *full, struct job *job);
void bound_offer(struct core *core, struct bound *bound);
void bound_widened(struct core *core, struct bound *bound);      /* its limit is another */
void run_freed(struct core *core, struct run *run, struct bound *bound);         /* none of its jobs waits there any more */
void lane_leave(struct lane *lane);                      /* it stands nowhere */
void run_compact(struct core *core, struct run *run);
void run_reoffer(struct core *core, struct run *run);
void bound_free(struct bound *bound);

/* fair.c: the queues of a class */
void class_revive(struct ready_class *class, const struct job *job);     /* an entry that was stale is right again */
void class_stale(struct ready_class *class, const struct job *job);
struct job *class_top(struct core *core, struct ready_class *class);     /* the best, which stays there; or NULL */
void class_compact(struct core *core, struct ready_class *class);
void class_free_queues(struct ready_class *class);
struct queue *queue_join(struct core *core, struct tenant *tenant, uint16_t class_at);   /* for one lane more */
void queue_leave(struct core *core, struct queue *queue);        /* one lane less, whose run is over */

/* group.c: NAME or NAME=LIMIT */
struct group *group_of(struct core *core, struct slice name);    /* made if it isn't there */
void claim_begin(struct core *core, struct claim *claim, bool counted);          /* of a lane */
void claim_end(struct core *core, struct claim *claim, bool counted);
void run_leave_concurrency(struct core *core, struct run *run);
void run_seat(struct core *core, struct run *run);

/* heap.c */
#define SERIAL_BITS 56                   /* of a key; above them is the priority, inverted */
#define JOB_IN_HEAP (JOB_QUEUED | JOB_PARKED)
void heap_insert(struct key_heap *heap, const struct job *job);
void heap_pop(struct key_heap *heap, struct job *job);
struct job *heap_top(struct core *core, struct key_heap *heap);  /* what is stale before the best goes */
void heap_compact(struct core *core, struct key_heap *heap);

/* lock.c: NAME or NAME=shared */
struct lock *lock_of(struct core *core, struct slice name);      /* made if it isn't there */
void lock_hold_free(struct lock_hold *hold);
bool lock_held_alone(const struct lock *lock);           /* by a person */
void lock_tidy(struct core *core, struct lock *lock);    /* goes if nobody needs it */

/* order.c */
void order_add(struct core *core, const struct job *job);        /* it came into a queue; both are nothing while nobody places */
void order_charged(struct core *core, const struct tenant *tenant);        /* that of the best was given an attempt */

/* tenant.c */
void tenant_release(struct core *core, struct run *run);

#endif
