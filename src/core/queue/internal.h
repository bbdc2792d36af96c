/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_QUEUE_INTERNAL_H
#define TITAN_CORE_QUEUE_INTERNAL_H

#include "core/state.h"

/* bound.c */
void bound_park(struct core *core, struct bound *full, struct job *job);
void bound_offer(struct core *core, struct bound *bound);
void bound_widened(struct core *core, struct bound *bound); /* the bound's limit changed: offer jobs that wait there */
/* Take the run's lanes away from this bound, because the run has its place in the group. */
void run_freed(struct core *core, struct run *run, struct bound *bound);
void lane_leave(struct lane *lane);                      /* take a lane away from the bound where it waits */
void run_compact(struct core *core, struct run *run);
void run_reoffer(struct core *core, struct run *run);
void bound_free(struct bound *bound);

/* fair.c: the queues of a class */
void class_revive(struct ready_class *class, const struct job *job);     /* the job's stale entry became valid again */
void class_stale(struct ready_class *class, const struct job *job);
/* The best job of the class, not removed; or NULL. */
struct job *class_top(struct core *core, struct ready_class *class);
void class_compact(struct core *core, struct ready_class *class);
void class_free_queues(struct ready_class *class);
/* Find or make the queue for one more lane. */
struct queue *queue_join(struct core *core, struct tenant *tenant, uint16_t class_at);
void queue_leave(struct core *core, struct queue *queue);        /* free the queue if no lane is left */

/* group.c: concurrency groups, written as NAME or NAME=LIMIT */
struct group *group_of(struct core *core, struct slice name);    /* find a group by name, or create it */
void claim_begin(struct core *core, struct claim *claim, bool counted); /* a lane begins to claim a group or lock */
void claim_end(struct core *core, struct claim *claim, bool counted);
void run_leave_concurrency(struct core *core, struct run *run);
void run_seat(struct core *core, struct run *run);

/* heap.c */
#define SERIAL_BITS 56                   /* bits of a key for the serial number; above them the inverted priority */
#define JOB_IN_HEAP (JOB_QUEUED | JOB_PARKED)
void heap_insert(struct key_heap *heap, const struct job *job);
void heap_pop(struct key_heap *heap, struct job *job);
/* returns the best job; stale entries before it are dropped */
struct job *heap_top(struct core *core, struct key_heap *heap);
void heap_compact(struct core *core, struct key_heap *heap);

/* lock.c: locks, written as NAME or NAME=shared */
struct lock *lock_of(struct core *core, struct slice name);      /* find a lock by name, or create it */
void lock_hold_free(struct lock_hold *hold);
bool lock_held_alone(const struct lock *lock);           /* held exclusively, by a person or a job? */
void lock_tidy(struct core *core, struct lock *lock);    /* free a lock that nobody holds or claims */

/* order.c */
/* Tell class_order that a job came into a queue; no effect outside placement. */
void order_add(struct core *core, const struct job *job);
/* The tenant's best job was assigned; no effect outside placement. */
void order_charged(struct core *core, const struct tenant *tenant);

/* tenant.c */
void tenant_release(struct core *core, struct run *run);

#endif
