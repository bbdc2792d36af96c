/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pools, and what people do to workers: cordon, drain, forget. Pools are found by name. They are never removed: titan pool rm
 * forgets what a person set. A worker that names no pool belongs to pool "default". Every act here is idempotent.
 */
#include "core/place/place.h"

#include "base/text.h"
#include "core/graph/graph.h"
#include "core/people/people.h"
#include "core/place/internal.h"
#include "core/queue/queue.h"
#include "core/time/time.h"

#define POOL_DEFAULT "default"

static size_t pool_place(const struct core *core, struct slice name, bool *ret_there)
{
	size_t low = 0, high = core->pool_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct slice other = slice_str(core->pools[middle]->name);
		size_t len = name.len < other.len ? name.len : other.len;
		int order = memcmp(other.data, name.data, len);

		if (order == 0 && other.len == name.len) {
			*ret_there = true;
			return middle;
		}
		if (order < 0 || (order == 0 && other.len < name.len))
			low = middle + 1;
		else
			high = middle;
	}
	*ret_there = false;
	return low;
}

static struct pool *pool_find(const struct core *core, struct slice name)
{
	bool there;
	size_t at = pool_place(core, name.len ? name : slice_str(POOL_DEFAULT), &there);

	return there ? core->pools[at] : NULL;
}

struct pool *pool_get(struct core *core, struct slice name)
{
	struct pool *pool = pool_find(core, name);
	bool there;
	size_t at;

	if (pool)
		return pool;
	if (name.len == 0)
		name = slice_str(POOL_DEFAULT);
	pool = mem_zalloc(sizeof(*pool));
	pool->name = mem_text(name);
	at = pool_place(core, name, &there);
	GROW(core->pools, core->pool_count, core->pool_cap);
	memmove(core->pools + at + 1, core->pools + at, (core->pool_count - at) * sizeof(*core->pools));
	core->pools[at] = pool;
	core->pool_count++;
	return pool;
}

void pools_free(struct core *core)
{
	for (size_t i = 0; i < core->pool_count; i++) {
		mem_free(core->pools[i]->name);
		mem_free(core->pools[i]->provides.at);
		mem_free(core->pools[i]);
	}
	mem_free(core->pools);
}

static void pool_touch_workers(struct core *core, const struct pool *pool)
{
	for (size_t i = 0; i < core->worker_count; i++)
		if (core->workers[i]->pool == pool)
			worker_touch(core, core->workers[i]);
}

/* The state and the capabilities that a SET gives to a pool. */
struct pool_change {
	enum pool_state state;
	struct slice_list provides;
	bool known;                      /* the pool must exist */
	bool durable;
};

/* Read what the pool (NULL: there is none yet) is to become. */
static enum err pool_change_read(const struct pool *pool, const struct msg_set *set, struct pool_change *ret, struct error *error)
{
	*ret = (struct pool_change){ .durable = true };
	if (pool) {
		ret->state = pool->state;
		ret->provides = pool->provides;
	}
	switch ((enum set_verb)set->verb) {
	case SET_RESUME:
	case SET_DRAIN:
	case SET_PAUSE:
		ret->known = true;
		ret->state = set->verb == SET_RESUME ? POOL_ACTIVE : set->verb == SET_DRAIN ? POOL_DRAINING : POOL_INACTIVE;
		return ERR_NONE;
	case SET_REMOVE:
		*ret = (struct pool_change){ .known = true };
		return ERR_NONE;
	case SET_PUT:
		break;
	default:
		return error_set(error, ERR_INVALID, "a pool can only be set to active, draining or inactive");
	}
	if (set->number > POOL_INACTIVE + 1)
		return error_set(error, ERR_INVALID, "a pool can only be set to active, draining or inactive");
	if (set->number > 0)
		ret->state = (enum pool_state)(set->number - 1);
	if (!set->flag)
		return ERR_NONE;
	if (set->words.n > LIMIT_CAPABILITIES_MAX)
		return error_set(error, ERR_TOO_LARGE, "a pool may provide at most %d capabilities", LIMIT_CAPABILITIES_MAX);
	for (size_t i = 0; i < set->words.n; i++)
		if (!text_is_name(set->words.at[i]))
			return error_set(error, ERR_INVALID, "a capability may have letters, digits, _ . -, at most %d", LIMIT_NAME_MAX_LEN);
	ret->provides = set->words;
	labels_sort(&ret->provides);
	return ERR_NONE;
}

static bool lists_equal(const struct slice_list *a, const struct slice_list *b)
{
	for (size_t i = 0; a->n == b->n && i < a->n; i++)
		if (!slice_eq(a->at[i], b->at[i]))
			return false;
	return a->n == b->n;
}

static void provides_join(const struct pool *pool, struct buf *out)
{
	for (size_t i = 0; i < pool->provides.n; i++) {
		buf_add_str(out, i ? "," : "");
		buf_add_slice(out, pool->provides.at[i]);
	}
}

/* Read capabilities with commas between them; false: they aren't names, or too many. */
static bool provides_split(struct slice text, struct slice at[LIMIT_CAPABILITIES_MAX], struct slice_list *ret)
{
	*ret = (struct slice_list){ .at = at };
	while (text.len > 0) {
		const uint8_t *comma = memchr(text.data, ',', text.len);
		size_t len = comma ? (size_t)(comma - text.data) : text.len;

		if (ret->n == LIMIT_CAPABILITIES_MAX || !text_is_name(slice_make(text.data, len)))
			return false;
		at[ret->n++] = slice_make(text.data, len);
		len += comma != NULL;
		text = slice_make(text.data + len, text.len - len);
	}
	return true;
}

uint64_t pool_hash(const struct pool *pool)
{
	struct buf provides = { 0 };
	uint64_t hash;

	provides_join(pool, &provides);
	hash = hash_bytes(pool->name, strlen(pool->name), pool->state);
	hash = hash_bytes(provides.data, provides.len, hash);
	buf_free(&provides);
	return hash;
}

static void pool_row_put(struct core *core, const struct pool *pool)
{
	struct row *row = outbox_row(core->outbox, TABLE_pool);

	row->deleted = !pool->durable;
	row->pool = (struct row_pool){ .pool = arena_copy(&core->outbox->arena, slice_str(pool->name)), .state = (int64_t)pool->state };
}

/* Replace what the pool provides. */
static void pool_provide(struct core *core, struct pool *pool, struct slice_list provides)
{
	struct row *row = outbox_row(core->outbox, TABLE_pool_provides);
	struct slice_list copy = labels_copy(provides);
	struct buf text = { 0 };

	mem_free(pool->provides.at);
	pool->provides = copy;
	provides_join(pool, &text);
	row->deleted = pool->provides.n == 0;
	row->pool_provides = (struct row_pool_provides){
		.pool = arena_copy(&core->outbox->arena, slice_str(pool->name)), .provides = arena_copy(&core->outbox->arena, buf_slice(&text)),
	};
	buf_free(&text);
}

enum err pool_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error)
{
	struct pool *pool = pool_find(core, input->set.name);
	const struct pool none = { 0 };
	struct pool_change change;
	bool provides, state;

	if (pool_change_read(pool, &input->set, &change, error) != ERR_NONE)
		return error->code;
	if (!text_is_name(input->set.name))
		return error_set(error, ERR_INVALID, "the name of a pool may have letters, digits, _ . -, at most %d",
				 LIMIT_NAME_MAX_LEN);
	if (!pool && change.known) {
		error_set(error, ERR_NOT_FOUND, "there is no pool '%.*s'; a worker joins a pool with titan worker start "
			"--pool",
			  (int)input->set.name.len, (const char *)input->set.name.data);
		return error_next(error, "titan pool ls");
	}
	provides = !lists_equal(&(pool ? pool : &none)->provides, &change.provides);
	state = (pool ? pool : &none)->state != change.state || (input->set.verb == SET_REMOVE && pool->durable);
	if (!provides && !state && pool)
		return ERR_NONE;
	pool = pool_get(core, input->set.name);
	if (provides)
		pool_provide(core, pool, change.provides);
	if (state || !provides) {
		pool->state = change.state;
		pool->durable = change.durable;
		pool_row_put(core, pool);
	}
	pool_touch_workers(core, pool);
	core->drain_due = true;
	core->serving++;
	*ret_changed = 1;
	return ERR_NONE;
}

/* --- workers --- */

void worker_row_put(struct core *core, const struct worker *worker)
{
	struct arena *arena = &core->outbox->arena;

	outbox_row(core->outbox, TABLE_worker)->worker = (struct row_worker){
		.worker = (int64_t)worker->number,
		.name = arena_copy(arena, slice_str(worker->name)),
		.instance = arena_copy(arena, slice_make(worker->instance, worker->instance_len)),
		.slots = worker->slots, .seen_ms = worker->seen_ms,
		.pool = arena_copy(arena, slice_str(worker->pool->name)),
		.standing = (int64_t)worker->standing + (worker->ended ? ROW_WORKER_ENDED : 0),
	};
}

/*
 * Return a job in state unknown that was lost with this worker, or NULL. The worker may still report how that job
 * ended.
 */
static const struct job *worker_unknown(const struct core *core, const struct worker *worker)
{
	for (const struct gate *gate = gate_after(core, 0); gate; gate = gate_after(core, gate->job)) {
		const struct job *job = job_find(core, gate->job);

		if (job->state == STATE_UNKNOWN && job->worker == worker->number)
			return job;
	}
	return NULL;
}

/*
 * Forget a worker. Only a disconnected worker without jobs can be forgotten; if it comes back, it counts as a new
 * worker.
 */
static enum err worker_forget(struct core *core, struct worker *worker, struct error *error)
{
	const struct job *unknown = worker_unknown(core, worker);
	struct rec_job_spec spec;
	size_t at = 0;

	if (worker->conn != 0) {
		error_set(error, ERR_BUSY, "worker %s is connected; only workers that are gone can be forgotten", worker->name);
		return error_next(error, "titan drain %s", worker->name);
	}
	if (worker->held_count > 0) {
		error_set(error, ERR_BUSY, "worker %s still has %zu jobs and may come back with them; wait until the worker counts as lost",
			  worker->name, worker->held_count);
		return error_next(error, "titan worker ls");
	}
	if (unknown) {
		job_spec_decode(core, unknown, &spec);
		error_set(error, ERR_BUSY, "worker %s may still run job %llu/%.*s, which has mode once; settle or cancel that job first",
			  worker->name, (unsigned long long)unknown->run->number, (int)spec.name.len, (const char *)spec.name.data);
		return error_next(error, "titan approvals");
	}
	outbox_row(core->outbox, TABLE_worker)->worker.worker = (int64_t)worker->number;
	core->outbox->rows[core->outbox->row_count - 1].deleted = true;
	outbox_changed(core->outbox, CHANGED_WORKER, worker->number, 0);
	if (worker->resting)
		timer_stale(core);
	if (worker->timed)
		timer_stale(core);
	name_map_remove(&core->worker_names, slice_str(worker->name));
	for (size_t i = 0; i < core->touched_worker_count; i++)
		if (core->touched_workers[i] == worker)
			core->touched_workers[i--] = core->touched_workers[--core->touched_worker_count];
	while (core->workers[at] != worker)
		at++;
	memmove(core->workers + at, core->workers + at + 1, (--core->worker_count - at) * sizeof(*core->workers));
	worker_count(core, worker, 0);
	worker_free(worker);
	return ERR_NONE;
}

enum err worker_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error)
{
	struct worker *worker = name_map_get(&core->worker_names, input->set.name);
	enum worker_standing standing;

	if (!worker) {
		error_set(error, ERR_NOT_FOUND, "there is no worker '%.*s'", (int)input->set.name.len,
			  (const char *)input->set.name.data);
		return error_next(error, "titan worker ls");
	}
	switch ((enum set_verb)input->set.verb) {
	case SET_REMOVE:
		*ret_changed = 1;
		return worker_forget(core, worker, error);
	case SET_PAUSE:
		standing = STANDING_CORDONED;
		break;
	case SET_RESUME:
		standing = STANDING_NONE;
		break;
	case SET_DRAIN:
		standing = STANDING_DRAINING;
		break;
	default:
		return error_set(error, ERR_INVALID, "a worker can only be cordoned, uncordoned, drained or "
			"forgotten");
	}
	if (worker->standing == standing)
		return ERR_NONE;
	worker->standing = standing;
	worker_row_put(core, worker);
	worker_touch(core, worker);
	core->drain_due = true;
	core->serving++;
	*ret_changed = 1;
	return ERR_NONE;
}

enum err load_pool(struct core *core, const struct row_pool *row, struct error *error)
{
	struct pool *pool;

	if (!text_is_name(row->pool) || row->state < 0 || row->state > POOL_INACTIVE)
		return error_set(error, ERR_STORE_TRUST, "a pool has a bad name or state");
	pool = pool_get(core, row->pool);
	if (pool->durable)
		return error_set(error, ERR_STORE_TRUST, "pool %s is stored twice", pool->name);
	pool->state = (enum pool_state)row->state;
	pool->durable = true;
	return ERR_NONE;
}

enum err load_provides(struct core *core, const struct row_pool_provides *row, struct error *error)
{
	struct slice at[LIMIT_CAPABILITIES_MAX];
	struct slice_list provides;
	struct pool *pool;

	if (!text_is_name(row->pool) || !provides_split(row->provides, at, &provides) || provides.n == 0)
		return error_set(error, ERR_STORE_TRUST, "a pool has a bad name or bad capabilities");
	pool = pool_get(core, row->pool);
	if (pool->provides.n > 0)
		return error_set(error, ERR_STORE_TRUST, "the capabilities of pool %s are stored twice", pool->name);
	labels_sort(&provides);
	pool->provides = labels_copy(provides);
	return ERR_NONE;
}
