/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of internal.h, what is about who has which job: wishes, bounds, queues, workers. Other files include that. */
#ifndef TITAN_CORE_PLACING_H
#define TITAN_CORE_PLACING_H

#include "core/state.h"

#include "base/planted.h"

/* label.c */
void classes_init(struct core *core);
void classes_free(struct core *core);
enum err class_of(struct core *core, struct run *run, const struct rec_job_spec *spec, uint16_t *ret_class,
		  struct error *error);
void run_release_classes(struct core *core, struct run *run, size_t from);       /* all but the first of them */
bool worker_can(const struct worker *worker, const struct ready_class *class);   /* when nothing else runs there */
bool labels_cover(const struct slice_list *has, const struct slice_list *wants);
void labels_sort(struct slice_list *labels);             /* and drops what is there twice */
struct slice_list labels_copy(struct slice_list labels); /* one allocation, at its at */

/* charge.c: I7 */
static inline const struct wants *job_wants(const struct core *core, const struct job *job)
{
	const struct ready_class *class = core->classes[job->class_at];

	return class ? class->wants : NULL;
}

bool wants_fit(const struct worker *worker, const struct wants *wants);          /* now, beside what is in use */
void charge_attach(struct core *core, struct worker *worker, struct job *job);
void charge_detach(struct core *core, struct worker *worker, struct job *job);
void charge_started(struct core *core, struct job *job);
void charge_reset(struct core *core, struct worker *worker);     /* what it offers is new: nothing is paid */
void charge_settle(struct core *core, struct worker *worker);    /* pay what can be paid */
void charge_check(const struct core *core, const struct worker *worker);

/* pool.c */
struct pool *pool_get(struct core *core, struct slice name);     /* made if there is none; empty: default */
enum err load_pool(struct core *core, const struct row_pool *row, struct error *error);
void pools_free(struct core *core);
enum err pool_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
enum err worker_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
void worker_row_put(struct core *core, const struct worker *worker);

/* bound.c */
bool lane_shares(const struct lane *lane, const struct bound *bound);    /* bound.c: a lock */
static inline struct lane *job_lane(const struct job *job)
{
	return job->run->lanes[job->lane];
}

bool bound_full(const struct bound *bound);
struct bound *job_bound_full(const struct core *core, const struct job *job);     /* the first that has no room for it, or NULL */
const struct bound *job_parked_at(const struct job *job);        /* where its lane stands, or NULL */
void bound_park(struct core *core, struct bound *full, struct job *job);
void bound_offer(struct core *core, struct bound *bound);
void bound_widened(struct core *core, struct bound *bound);      /* its limit is another */
void bounds_offer(struct core *core, const struct job *job);
void run_offer(struct core *core, struct run *run);
void bounds_count(struct core *core, const struct job *job, int change);         /* attempts held */
void claims_count(struct core *core, const struct job *job, int change);         /* attempts that aren't known to be gone */
void run_freed(struct core *core, struct run *run, struct bound *bound);         /* none of its jobs waits there any more */
void lane_leave(struct lane *lane);                      /* it stands nowhere */
void run_compact(struct core *core, struct run *run);
void run_reoffer(struct core *core, struct run *run);
void bound_free(struct bound *bound);

static inline bool state_claims(enum job_state state)
{
	return state_holds(state) || (state == STATE_UNKNOWN && !PLANTED(unknown_leaves_its_group));
}

/* lane.c */
void run_release(struct core *core, struct run *run);    /* from bounds and classes, before it leaves memory */
struct bound *job_group(const struct job *job);          /* NULL if none */
void run_release_bounds(struct core *core, struct run *run);     /* before it leaves memory */
void run_free_bounds(struct run *run);
void run_drop_lanes(struct core *core, struct run *run, size_t lanes, size_t groups);       /* all but the first of them */
enum err lane_join(struct core *core, struct job *job, const struct rec_job_spec *spec, struct map *fanouts,
		   struct error *error);
void group_fail(struct core *core, const struct job *failed);

/* group.c: NAME or NAME=LIMIT */
bool concurrency_read(struct slice text, struct slice *ret_name, uint32_t *ret_stated);
struct group *group_of(struct core *core, struct slice name);    /* made if it isn't there */
uint32_t group_limit(const struct group *group);         /* by counting again */
void groups_free(struct core *core);
void claim_begin(struct core *core, struct claim *claim, bool counted);          /* of a lane */
void claim_end(struct core *core, struct claim *claim, bool counted);
void run_states(struct core *core, struct run *run, bool live);          /* the limits that it states count, or not */
bool run_join_concurrency(struct core *core, struct run *run, struct slice text);        /* false: the text is bad */
void run_leave_concurrency(struct core *core, struct run *run);
struct slice run_concurrency(const struct run *run, struct arena *arena);        /* as given */
void run_seat(struct core *core, struct run *run);
void run_over(struct core *core, struct run *run);       /* all its jobs have ended */
enum err group_set(struct core *core, const struct msg_set *set, uint64_t *ret_changed, struct error *error);
enum err load_group(struct core *core, const struct row_job_group *row, struct error *error);
uint64_t groups_hash(const struct core *core);

/* lock.c: NAME or NAME=shared */
bool lock_read(struct slice text, struct slice *ret_name, bool *ret_shared);
struct lock *lock_of(struct core *core, struct slice name);      /* made if it isn't there */
void lock_hold_free(struct lock_hold *hold);
bool lock_held_alone(const struct lock *lock);           /* by a person */
void lock_tidy(struct core *core, struct lock *lock);    /* goes if nobody needs it */
void locks_free(struct core *core);
bool lock_blocked(const struct core *core, const struct lock *lock, bool shared, uint64_t key);  /* for a job with this key */
uint64_t lock_first_alone(const struct core *core, const struct lock *lock);
void locks_offer(struct core *core);                     /* those who keep others out may be others */
enum err lock_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, uint64_t *ret_fence,
		  struct error *error);
void lock_expired(struct core *core, uint64_t stamp);
enum err load_lock_hold(struct core *core, const struct row_lock_hold *row, struct error *error);
bool lock_sane(const struct lock *lock);
bool locks_resume(struct core *core);
uint64_t locks_hash(const struct core *core);
/* view_lock.c: who has it, in words; job: that waits for it, or NULL */
void lock_tell(const struct core *core, const struct lock *lock, const struct job *job, struct buf *words);

/* view_share.c */
uint64_t waiting_at(const struct bound *bound);          /* view_share.c: how many ready jobs stand there */

/* tenant.c */
struct tenant *tenant_find(const struct core *core, struct slice name);
void run_take_tenant(struct core *core, struct run *run, struct slice name);     /* its owner's if empty */
void tenant_release(struct core *core, struct run *run);
void tenants_free(struct core *core);
uint64_t tenant_queued(const struct core *core, const struct tenant *tenant);    /* jobs neither ended nor out */
enum err tenant_admit(const struct core *core, const struct input_submit *submit, uint32_t count,
		      struct error *error);
enum err tenant_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
enum err load_tenant(struct core *core, const struct row_tenant *row, struct error *error);

/* fair.c: the queues of a class */
void class_insert(struct ready_class *class, struct job *job);
void class_revive(struct ready_class *class, const struct job *job);     /* an entry that was stale is right again */
void class_stale(struct ready_class *class, const struct job *job);
struct job *class_top(struct core *core, struct ready_class *class);     /* the best, which stays there; or NULL */
void class_compact(struct core *core, struct ready_class *class);
void class_free_queues(struct ready_class *class);
struct queue *queue_join(struct core *core, struct tenant *tenant, uint16_t class_at);   /* for one lane more */
void queue_leave(struct core *core, struct queue *queue);        /* one lane less, whose run is over */
void tenant_charge(struct core *core, struct tenant *tenant);    /* it was given an attempt */
void ready_pop(struct ready_class *class, struct job *job);      /* the best */

/* order.c */
void order_begin(struct core *core, struct class_order *order);  /* until its end nothing comes into a queue without order_add */
void order_end(struct core *core);
void order_add(struct core *core, const struct job *job);        /* it came into a queue; both are nothing while nobody places */
struct job *order_best(struct core *core, struct class_order *order);    /* the best of its class as well; NULL: there is none */
void order_charged(struct core *core, const struct tenant *tenant);        /* that of the best was given an attempt */
void order_pass(struct class_order *order, uint16_t class_at);   /* nobody takes any more of it */

/* ready.c */
#define SERIAL_BITS 56                   /* of a key; above them is the priority, inverted */

uint64_t ready_key(const struct job *job);
struct job *ready_job(const struct core *core, uint64_t key);
bool ready_waits(const struct job *job);
#define JOB_IN_HEAP (JOB_QUEUED | JOB_PARKED)

void heap_insert(struct key_heap *heap, const struct job *job);
void heap_pop(struct key_heap *heap, struct job *job);
struct job *heap_top(struct core *core, struct key_heap *heap);  /* what is stale before the best goes */
void heap_compact(struct core *core, struct key_heap *heap);
struct job *ready_offered(struct core *core, struct ready_class *class); /* the best that its bounds have room for */
void ready_push(struct core *core, struct job *job);
void ready_leave(struct core *core, struct job *job);    /* it stopped being ready without being taken */
void ready_compact(struct core *core);                   /* not within a move: every entry is a ready job's then */
size_t ready_tidy(struct core *core);

/* place.c */
uint64_t worker_depth(const struct core *core, const struct worker *worker);
void candidate_down(struct candidate *heap, size_t count, size_t at);
void place_jobs(struct core *core);

/* choose.c: classes that want more than a slot */
bool class_allows(const struct worker *worker, const struct ready_class *class); /* as things stand, when it is idle */
bool class_served(const struct core *core, struct ready_class *class);    /* one that may, be it busy */
bool class_steady(const struct core *core, const struct ready_class *class);      /* one that may and doesn't flap */
bool worker_takes(const struct core *core, const struct worker *worker, uint16_t class_at);      /* now */
uint64_t worker_score(const struct worker *worker);      /* below 2^26; the lowest is the best */
bool worker_overloaded(const struct worker *worker);
/* The worker that it had better have, or must have, by its affinity; NULL: it doesn't matter. */
struct worker *job_target(const struct core *core, const struct job *job, struct arena *arena);
void reservations_clear(struct core *core);
void classes_place(struct core *core, size_t count);

/* workers.c */
static inline bool worker_connected(const struct worker *worker)
{
	return worker->conn != 0 && worker->state == WORKER_UP && !worker->quitting;
}

static inline uint64_t worker_busy(const struct worker *worker)
{
	uint64_t paid = worker->held_count - worker->unpaid;

	return paid < worker->slots ? paid : worker->slots;
}

static inline bool worker_rests(const struct core *core, const struct worker *worker)
{
	return worker->rest_until_ns > core->now.mono_ns;
}

static inline bool worker_serves(const struct worker *worker)
{
	return worker_connected(worker) && (worker->standing == STANDING_NONE || PLANTED(cordon_ignored)) &&
	       (worker->pool->state == POOL_ACTIVE || PLANTED(pool_state_ignored)) && !worker->resting;
}

struct worker *worker_find(const struct core *core, uint64_t number);
void worker_says_stuck(struct worker *worker, struct u64_list jobs);
bool worker_has_stuck(const struct worker *worker, uint64_t job);
void worker_refused(struct core *core, struct worker *worker, uint64_t code);    /* it lacked what a start needs: it rests */
void worker_rested(struct core *core, struct worker *worker);    /* it may have jobs again */
void worker_has_started(struct core *core, struct worker *worker);    /* a job there */
void worker_renewed(struct core *core, struct worker *worker);   /* it has another keeper, which may be able to start them */
struct worker *worker_new(struct core *core, uint64_t number, struct slice name, struct pool *pool);
void worker_free(struct worker *worker);
void worker_touch(struct core *core, struct worker *worker);
unsigned worker_tally(const struct worker *worker);      /* bits of enum tally */
void worker_count(struct core *core, struct worker *worker, unsigned tally);     /* as this, no longer as before */
void worker_gone(struct core *core, uint64_t conn);
struct worker *worker_heard(struct core *core, uint64_t conn);   /* NULL if it isn't a worker's */
void worker_timer_fired(struct core *core, struct worker *worker);
void workers_forgive(struct core *core);          /* what silence there was doesn't count */
void worker_wait(struct core *core, struct worker *worker);      /* unreachable, lost after a full grace */
void worker_dropped(struct core *core, struct worker *worker);   /* it lost its connection, unasked */
void workers_quit(struct core *core);

/* hello.c */
void worker_hello(struct core *core, const struct core_input *input);

#endif
