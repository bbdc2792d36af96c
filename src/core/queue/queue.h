/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ready job is next: heaps, lanes and the bounds at which they wait; tenants, groups, locks, classes. */
#ifndef TITAN_CORE_QUEUE_QUEUE_H
#define TITAN_CORE_QUEUE_QUEUE_H

#include "core/state.h"

/* bound.c */
bool lane_shares(const struct lane *lane, const struct bound *bound);    /* does the lane claim this lock shared? */
bool bound_full(const struct bound *bound);
/* The first of the job's bounds that is full, or NULL. */
struct bound *job_bound_full(const struct core *core, const struct job *job);
const struct bound *job_parked_at(const struct job *job); /* the bound at which a parked job's lane waits, or NULL */
void bounds_offer(struct core *core, const struct job *job);
void run_offer(struct core *core, struct run *run);
/* Add change to the active jobs of the job's bounds. */
void bounds_count(struct core *core, const struct job *job, int change);
void claims_count(struct core *core, const struct job *job, int change); /* add change to the job's groups and locks */

/* fair.c: the queues of a class */
void class_insert(struct ready_class *class, struct job *job);
void tenant_charge(struct core *core, struct tenant *tenant);    /* charge the tenant for one attempt */
void ready_pop(struct ready_class *class, struct job *job);      /* remove the best job of its class */

/* group.c: concurrency groups, written as NAME or NAME=LIMIT */
bool concurrency_read(struct slice text, struct slice *ret_name, uint32_t *ret_stated);
uint32_t group_limit(const struct group *group);         /* the limit by set and stated limits, computed anew */
void groups_free(struct core *core);
/* live true: count the limits that the run states; false: don't count them any more. */
void run_states(struct core *core, struct run *run, bool live);
/* false: the text isn't NAME or NAME=LIMIT */
bool run_join_concurrency(struct core *core, struct run *run, struct slice text);
/* The run's group as submitted: NAME or NAME=LIMIT. */
struct slice run_concurrency(const struct run *run, struct arena *arena);
/* frees the run's place in its group, because all its jobs have ended */
void run_over(struct core *core, struct run *run);
enum err group_set(struct core *core, const struct msg_set *set, uint64_t *ret_changed, struct error *error);
enum err load_group(struct core *core, const struct row_job_group *row, struct error *error);
uint64_t groups_hash(const struct core *core);

/* heap.c */
uint64_t ready_key(const struct job *job);
struct job *ready_job(const struct core *core, uint64_t key);
bool ready_waits(const struct job *job);

/* here.c: the submitter's directory, which a worker must share */
bool worker_shares(const struct worker *worker, const struct wants *wants);
bool worker_lacks(const struct worker *worker, const struct wants *wants);       /* has the worker said that it doesn't? */
/* Note that the worker doesn't have the directory of the job's class. False: the class needs none. */
bool here_lacks(struct core *core, const struct worker *worker, const struct job *job);
void here_ask_again(struct core *core, const struct worker *worker);     /* forget what the worker said of directories */

/* label.c */
void classes_init(struct core *core);
void classes_free(struct core *core);
/* The class of the jobs of a submit that require nothing of their own: most of them, so it is looked up once. */
struct plain_class {
	bool known;
	uint16_t at;
};
/*
 * here: the submitter's directory, from context_here; jobs that name a directory don't need it. plain: zero at the first
 * job of a submit.
 */
enum err class_of(struct core *core, struct run *run, const struct rec_job_spec *spec, struct slice here,
		  struct plain_class *plain, uint16_t *ret_class, struct error *error);
/* Leave the run's classes from index `from` on. */
void run_release_classes(struct core *core, struct run *run, size_t from);
/* Check whether the worker could run jobs of this class if it were idle. */
bool worker_can(const struct worker *worker, const struct ready_class *class);
/* Check that the worker meets each requirement on labels. */
bool worker_has_labels(const struct worker *worker, const struct wants *wants);
void labels_sort(struct slice_list *labels);             /* sort texts and drop duplicates */
struct slice_list labels_copy(struct slice_list labels); /* returns a copy in one block of memory: free its .at */

bool pool_has(const struct pool *pool, struct slice capability);
size_t pool_lacks(const struct pool *pool, const struct wants *wants);   /* number of required capabilities that it lacks */
/* Check that the pool provides all capabilities, or that the jobs' topic is mapped to it. */
bool pool_provides(const struct pool *pool, const struct wants *wants);
bool pool_has_topic(const struct pool *pool, const struct wants *wants);

static inline const struct wants *job_wants(const struct core *core, const struct job *job)
{
	const struct ready_class *class = core->classes[job->class_at];

	return class ? class->wants : NULL;
}

/* lane.c */
static inline struct lane *job_lane(const struct job *job)
{
	return job->run->lanes[job->lane];
}

void run_release(struct core *core, struct run *run);    /* remove a run from bounds and classes, before it is freed */
struct bound *job_group(const struct job *job);          /* the job's fan-out, or NULL */
void run_release_bounds(struct core *core, struct run *run);     /* remove a run from its bounds, before it is freed */
void run_free_bounds(struct run *run);
/* A graph was refused: keep only the first of the run's lanes and groups, this many of each. */
void run_drop_lanes(struct core *core, struct run *run, size_t lanes, size_t groups);
enum err lane_join(struct core *core, struct job *job, const struct rec_job_spec *spec, struct map *fanouts,
		   struct error *error);

/* lock.c: locks, written as NAME or NAME=shared */
bool lock_read(struct slice text, struct slice *ret_name, bool *ret_shared);
void locks_free(struct core *core);
/* Must a job with this key wait for the lock? */
bool lock_blocked(const struct core *core, const struct lock *lock, bool shared, uint64_t key);
uint64_t lock_first_alone(const struct core *core, const struct lock *lock);
void locks_offer(struct core *core); /* offer locks again to waiting jobs if workers serve other classes than before */
bool lock_sane(const struct lock *lock);
uint64_t locks_hash(const struct core *core);

/* lock_hold.c */
enum err lock_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, uint64_t *ret_fence,
		  struct error *error);
void lock_expired(struct core *core, uint64_t stamp);
enum err load_lock_hold(struct core *core, const struct row_lock_hold *row, struct error *error);
bool locks_resume(struct core *core);

/* order.c */
/* Until order_end, each job that enters a queue must also be passed to order_add. */
void order_begin(struct core *core, struct class_order *order);
void order_end(struct core *core);
/* Return the best job of all classes, which is at the top of its class; NULL: none. */
struct job *order_best(struct core *core, struct class_order *order);
/* Skip a class for the rest of the turn, because no worker takes more of its jobs. */
void order_pass(struct class_order *order, uint16_t class_at);

/* ready.c */
/* The class's best job whose bounds all have room. */
struct job *ready_offered(struct core *core, struct ready_class *class);
void ready_push(struct core *core, struct job *job);
void ready_leave(struct core *core, struct job *job);    /* the job stops being ready and wasn't assigned */
void ready_compact(struct core *core); /* drop stale entries; never within job_move, when states are half changed */
size_t ready_tidy(struct core *core);

/* tenant.c */
struct tenant *tenant_find(const struct core *core, struct slice name);
/* Charge the run to a tenant; empty name: the owner. */
void run_take_tenant(struct core *core, struct run *run, struct slice name);
void tenants_free(struct core *core);
/* Number of the tenant's jobs that are neither ended nor active. */
uint64_t tenant_queued(const struct core *core, const struct tenant *tenant);
enum err tenant_admit(const struct core *core, const struct input_submit *submit, uint32_t count,
		      struct error *error);
enum err tenant_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
enum err load_tenant(struct core *core, const struct row_tenant *row, struct error *error);

#endif
