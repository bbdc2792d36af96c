/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_QUEUE_INTERNAL_H
#define TITAN_CORE_QUEUE_INTERNAL_H

#include "core/state.h"

/* bound.c */
void bound_park(struct core *core, struct bound *full, struct job *job);
void bound_offer(struct core *core, struct bound *bound);
void bound_widened(struct core *core, struct bound *bound);      /* its limit changed */
void run_freed(struct core *core, struct run *run, struct bound *bound); /* no job of the run waits there any longer */
void lane_leave(struct lane *lane);                      /* waits at no bound any longer */
void run_compact(struct core *core, struct run *run);
void run_reoffer(struct core *core, struct run *run);
void bound_free(struct bound *bound);

/* fair.c: the queues of a class */
void class_revive(struct ready_class *class, const struct job *job);     /* a stale entry became valid again */
void class_stale(struct ready_class *class, const struct job *job);
struct job *class_top(struct core *core, struct ready_class *class);     /* the best job, not removed; or NULL */
void class_compact(struct core *core, struct ready_class *class);
void class_free_queues(struct ready_class *class);
struct queue *queue_join(struct core *core, struct tenant *tenant, uint16_t class_at);   /* add a lane to the queue */
void queue_leave(struct core *core, struct queue *queue);        /* remove a lane from the queue */

/* group.c: NAME or NAME=LIMIT */
struct group *group_of(struct core *core, struct slice name);    /* created if missing */
void claim_begin(struct core *core, struct claim *claim, bool counted);          /* a lane begins to claim it */
void claim_end(struct core *core, struct claim *claim, bool counted);
void run_leave_concurrency(struct core *core, struct run *run);
void run_seat(struct core *core, struct run *run);

/* heap.c */
#define SERIAL_BITS 56                   /* low bits of a key; above them the inverted priority */
#define JOB_IN_HEAP (JOB_QUEUED | JOB_PARKED)
void heap_insert(struct key_heap *heap, const struct job *job);
void heap_pop(struct key_heap *heap, struct job *job);
struct job *heap_top(struct core *core, struct key_heap *heap);  /* drops stale entries before the best */
void heap_compact(struct core *core, struct key_heap *heap);

/* lock.c: NAME or NAME=shared */
struct lock *lock_of(struct core *core, struct slice name);      /* created if missing */
void lock_hold_free(struct lock_hold *hold);
bool lock_held_alone(const struct lock *lock);           /* by a person or a job */
void lock_tidy(struct core *core, struct lock *lock);    /* free it if nobody needs it */

/* order.c */
void order_add(struct core *core, const struct job *job); /* a job came into a queue; no effect outside placement */
/* its best job was assigned; no effect outside placement */
void order_charged(struct core *core, const struct tenant *tenant);

/* tenant.c */
void tenant_release(struct core *core, struct run *run);

#endif
