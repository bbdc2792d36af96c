/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers, and who gets which job. */
#ifndef TITAN_CORE_PLACE_PLACE_H
#define TITAN_CORE_PLACE_PLACE_H

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/state.h"

/* charge.c: I7 */
bool wants_fit(const struct worker *worker, const struct wants *wants);          /* now, beside what is in use */
void charge_attach(struct core *core, struct worker *worker, struct job *job);
void charge_detach(struct core *core, struct worker *worker, struct job *job);
void charge_started(struct core *core, struct job *job);
void charge_check(const struct core *core, const struct worker *worker);

/* choose.c: classes that want more than a slot */
/* The worker that it had better have, or must have, by its affinity; NULL: it doesn't matter. */
struct worker *job_target(const struct core *core, const struct job *job, struct arena *arena);

/* fit.c */
bool class_allows(const struct worker *worker, const struct ready_class *class); /* as things stand, when it is idle */
bool class_served(const struct core *core, struct ready_class *class);    /* one that may, be it busy */
bool worker_takes(const struct core *core, const struct worker *worker, uint16_t class_at);      /* now */

/* hello.c */
void worker_hello(struct core *core, const struct core_input *input);

/* place.c */
void place_jobs(struct core *core);

/* pool.c */
struct pool *pool_get(struct core *core, struct slice name);     /* made if there is none; empty: default */
enum err load_pool(struct core *core, const struct row_pool *row, struct error *error);
void pools_free(struct core *core);
enum err pool_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
enum err worker_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);

/* refusal.c */
void worker_refused(struct core *core, struct worker *worker, uint64_t code);    /* it lacked what a start needs: it rests */
void worker_rested(struct core *core, struct worker *worker);    /* it may have jobs again */
void worker_has_started(struct core *core, struct worker *worker);    /* a job there */

/* worker.c */
void worker_says_stuck(struct worker *worker, struct u64_list jobs);
bool worker_has_stuck(const struct worker *worker, uint64_t job);
void worker_gone(struct core *core, uint64_t conn);
struct worker *worker_heard(struct core *core, uint64_t conn);   /* NULL if it isn't a worker's */
void worker_timer_fired(struct core *core, struct worker *worker);
void workers_forgive(struct core *core);          /* what silence there was doesn't count */
void worker_wait(struct core *core, struct worker *worker);      /* unreachable, lost after a full grace */
void workers_quit(struct core *core);

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
struct worker *worker_new(struct core *core, uint64_t number, struct slice name, struct pool *pool);
void worker_free(struct worker *worker);
void worker_touch(struct core *core, struct worker *worker);
unsigned worker_tally(const struct worker *worker);      /* bits of enum tally */
void worker_count(struct core *core, struct worker *worker, unsigned tally);     /* as this, no longer as before */

#endif
