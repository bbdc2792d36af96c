/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers, and which worker gets which job. */
#ifndef TITAN_CORE_PLACE_PLACE_H
#define TITAN_CORE_PLACE_PLACE_H

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/state.h"

/* charge.c: resources in use (invariant I7) */
/* Check whether these requirements fit on the worker beside what is in use now. */
bool wants_fit(const struct worker *worker, const struct wants *wants);
void charge_attach(struct core *core, struct worker *worker, struct job *job);
void charge_detach(struct core *core, struct worker *worker, struct job *job);
void charge_started(struct core *core, struct job *job);
void charge_check(const struct core *core, const struct worker *worker);

/* choose.c: classes that want more than a slot */
/* Return the worker that the job's affinity prefers or requires; NULL if any worker will do. */
struct worker *job_target(const struct core *core, const struct job *job, struct arena *arena);

/* fit.c */
/* Check whether this worker, once idle, may have jobs of this class. */
bool class_allows(const struct worker *worker, const struct ready_class *class);
/* Check whether some worker, even a busy one, may have jobs of this class. */
bool class_served(const struct core *core, struct ready_class *class);
/* Check whether this worker has room for a job of this class now. */
bool worker_takes(const struct core *core, const struct worker *worker, uint16_t class_at);

/* hello.c */
void worker_hello(struct core *core, const struct core_input *input);

/* place.c */
void place_jobs(struct core *core);

/* pool.c */
struct pool *pool_get(struct core *core, struct slice name); /* find or create a pool; an empty name means "default" */
enum err load_provides(struct core *core, const struct row_pool_provides *row, struct error *error);
enum err load_pool(struct core *core, const struct row_pool *row, struct error *error);
void pools_free(struct core *core);
uint64_t pool_hash(const struct pool *pool);
enum err pool_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
enum err worker_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);

/* topic.c: mappings of topics to pools */
const char *topic_pool(const struct core *core, struct slice topic);     /* the topic's pool; NULL: no mapping matches */
bool topic_is_pattern(struct slice text);
enum err topic_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
enum err load_topic(struct core *core, const struct row_topic *row, struct error *error);
void topics_free(struct core *core);
uint64_t topics_hash(const struct core *core);
/* Return the mapping of exactly this pattern, or NULL. */
const struct topic *topic_find(const struct core *core, struct slice pattern);

/* refusal.c */
/* Let the worker rest: it couldn't start a job, so it gets no jobs for a while. */
void worker_refused(struct core *core, struct worker *worker, uint64_t code);
void worker_rested(struct core *core, struct worker *worker);    /* the worker's rest is over */
void worker_has_started(struct core *core, struct worker *worker);    /* note that the worker has started a job */

/* worker.c */
void worker_says_stuck(struct worker *worker, struct u64_list jobs);
bool worker_has_stuck(const struct worker *worker, uint64_t job);
void worker_gone(struct core *core, uint64_t conn);
struct worker *worker_heard(struct core *core, uint64_t conn);   /* note a sign of life; NULL if conn is no worker's */
void worker_timer_fired(struct core *core, struct worker *worker);
void workers_forgive(struct core *core);          /* count the silence of all workers anew */
/* Mark a worker unreachable; after a full grace it is lost. */
void worker_wait(struct core *core, struct worker *worker);
void worker_says_leaving(struct core *core, struct worker *worker);
void worker_says_end(struct core *core, struct worker *worker);       /* record that the worker ends in order */
enum worker_state worker_shown(const struct worker *worker);      /* the worker's state as people see it */
void workers_quit(struct core *core);

/* workers.c */
static inline bool worker_connected(const struct worker *worker)
{
	return worker->conn != 0 && worker->state == WORKER_UP && !worker->quitting;
}

static inline uint64_t worker_busy(const struct worker *worker)
{
	uint64_t reserved = worker->held_count - worker->unreserved;

	return reserved < worker->slots ? reserved : worker->slots;
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
unsigned worker_tally(const struct worker *worker);      /* bits of enum tally: the worker's counts */
/* Replace the tally bits for which the worker is counted. */
void worker_count(struct core *core, struct worker *worker, unsigned tally);

#endif
