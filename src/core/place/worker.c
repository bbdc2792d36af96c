/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers: known by name for ever, connected or not. A worker that left keeps its attempts for a full
 * grace; when it comes back it says what it has, and every difference is settled at once.
 */
#include "core/internal.h"

#include "base/text.h"
#include "core/view/view.h"

struct worker *worker_find(const struct core *core, uint64_t number)
{
	size_t low = 0, high = core->worker_count;

	/* Numbers are given one after the other: the guess is nearly always right. */
	if (number > 0 && number <= core->worker_count && core->workers[number - 1]->number == number)
		return core->workers[number - 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->workers[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < core->worker_count && core->workers[low]->number == number ? core->workers[low] : NULL;
}

struct worker *worker_new(struct core *core, uint64_t number, struct slice name)
{
	struct worker *worker = mem_zalloc(sizeof(*worker));

	CHECK(core->worker_count == 0 || core->workers[core->worker_count - 1]->number < number);
	worker->number = number;
	worker->name = mem_alloc(name.len + 1);
	memcpy(worker->name, name.data, name.len);
	worker->name[name.len] = '\0';
	worker->state = WORKER_UNREACHABLE;
	worker->pool = pool_get(core, slice_make(NULL, 0));
	GROW(core->workers, core->worker_count, core->worker_cap);
	core->workers[core->worker_count++] = worker;
	name_map_put(&core->worker_names, slice_str(worker->name), worker);
	return worker;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	mem_free(worker->name);
	mem_free(worker->held);
	mem_free(worker->labels.at);
	mem_free(worker->offers);
	mem_free(worker->stuck);
	mem_free(worker);
}

void worker_touch(struct core *core, struct worker *worker)
{
	if (worker->touched)
		return;
	worker->touched = true;
	GROW(core->touched_workers, core->touched_worker_count, core->touched_worker_cap);
	core->touched_workers[core->touched_worker_count++] = worker;
}

unsigned worker_tally(const struct worker *worker)
{
	uint64_t busy = worker_busy(worker);
	unsigned tally = 1 << TALLY_THERE;

	if (worker->state == WORKER_LOST)
		return 0;
	if (worker->held_count - busy < (uint64_t)VIEW_AHEAD_ENOUGH * worker->slots)
		tally |= 1 << TALLY_FEW_AHEAD;
	return busy > 0 ? tally | 1 << TALLY_BUSY : tally;
}

void worker_count(struct core *core, struct worker *worker, unsigned tally)
{
	unsigned before = worker->tally;

	for (unsigned at = 0; at < TALLIES; at++)
		core->tallies[at] += (uint64_t)(tally >> at & 1) - (before >> at & 1);
	worker->tally = (uint8_t)tally;
}

/* What it says decides nothing: their slots stay taken because nobody said that they ended. */
void worker_says_stuck(struct worker *worker, struct u64_list jobs)
{
	worker->stuck_count = jobs.n < worker->slots_high ? jobs.n : worker->slots_high;
	worker->stuck = mem_resize(worker->stuck, worker->stuck_count + 1, sizeof(*worker->stuck));
	if (worker->stuck_count > 0)
		memcpy(worker->stuck, jobs.at, worker->stuck_count * sizeof(*worker->stuck));
}

bool worker_has_stuck(const struct worker *worker, uint64_t job)
{
	for (size_t i = 0; i < worker->stuck_count; i++)
		if (worker->stuck[i] == job)
			return true;
	return false;
}

/* --- a worker that can't start jobs --- */

void worker_refused(struct core *core, struct worker *worker, uint64_t code)
{
	int64_t rest_ms = LIMIT_REFUSED_REST_MS;

	worker->refused_code = code > 0 && code < UINT32_MAX ? (uint32_t)code : UINT32_MAX;
	worker_touch(core, worker);
	if (worker->resting)
		return;                  /* it was given this job before */
	for (uint32_t i = 0; i < worker->refusals && rest_ms < LIMIT_REFUSED_REST_MAX_MS; i++)
		rest_ms *= 2;
	if (rest_ms > LIMIT_REFUSED_REST_MAX_MS)
		rest_ms = LIMIT_REFUSED_REST_MAX_MS;
	worker->refusals++;
	worker->refused_until_ns = core->now.mono_ns + rest_ms * NS_PER_MS;
	worker->resting = true;
	core->serving++;
	timer_add(core, TIMER_REST, worker->number, ++worker->rest_stamp, rest_ms);
}

void worker_rested(struct core *core, struct worker *worker)
{
	worker->resting = false;
	core->serving++;
	worker_touch(core, worker);
}

/* One that starts while its worker rests was given before: the alarm stays, the next rest is a short one. */
void worker_has_started(struct core *core, struct worker *worker)
{
	worker->refusals = 0;
	if (worker->resting || worker->refused_code == 0)
		return;
	worker->refused_code = 0;
	worker_touch(core, worker);
}

void worker_renewed(struct core *core, struct worker *worker)
{
	if (worker->resting)
		timer_stale(core);
	worker->resting = false;
	worker->refused_code = 0;
	worker->refusals = 0;
	core->serving++;
}

/* --- silence --- */

static void worker_timer_arm(struct core *core, struct worker *worker, int64_t wait_ms)
{
	if (worker->timed)
		timer_stale(core);
	worker->timed = true;
	worker->timer_stamp++;
	timer_add(core, TIMER_WORKER, worker->number, worker->timer_stamp, wait_ms);
}

static void worker_state_set(struct core *core, struct worker *worker, enum worker_state state)
{
	worker->state = state;
	core->serving++;
	worker_touch(core, worker);
}

void worker_wait(struct core *core, struct worker *worker)
{
	worker_state_set(core, worker, WORKER_UNREACHABLE);
	worker_timer_arm(core, worker, core->grace_ms);
}

/* A master that was restarted has seen nobody flap. */
void worker_dropped(struct core *core, struct worker *worker)
{
	int64_t first_ns;

	if (worker->quitting)
		return;
	worker->drops_ns[worker->drop_at] = core->now.mono_ns;
	worker->drop_at = (worker->drop_at + 1) % LIMIT_FLAP_DROPS;
	first_ns = worker->drops_ns[worker->drop_at];
	if (first_ns > 0 && core->now.mono_ns - first_ns < LIMIT_FLAP_WINDOW_MS * NS_PER_MS)
		worker->rest_until_ns = core->now.mono_ns + LIMIT_FLAP_REST_MS * NS_PER_MS;
}

static void worker_disconnect(struct core *core, struct worker *worker)
{
	map_remove(&core->worker_conns, worker->conn);
	worker->conn = 0;
	core->serving++;
}

static void worker_lost(struct core *core, struct worker *worker)
{
	struct error error;

	if (worker->conn != 0) {
		error_set(&error, ERR_TIMEOUT, "worker %s was silent for too long", worker->name);
		error_send(core, worker->conn, 0, &error, true);
		worker_dropped(core, worker);
		worker_disconnect(core, worker);
	}
	worker_state_set(core, worker, WORKER_LOST);
	while (worker->held_count > 0)
		attempt_lost(core, worker->held[worker->held_count - 1].job, OUTCOME_LOST, false);
	jobs_settle(core);
}

void worker_timer_fired(struct core *core, struct worker *worker)
{
	int64_t silent_ms = (core->now.mono_ns - worker->heard_ns) / NS_PER_MS;

	worker->timed = false;
	if (worker->state == WORKER_UP && silent_ms < core->lease_ms) {
		worker_timer_arm(core, worker, core->lease_ms - silent_ms);
	} else if (worker->state == WORKER_UP) {
		worker_state_set(core, worker, WORKER_UNREACHABLE);
		worker_timer_arm(core, worker, core->grace_ms > silent_ms ? core->grace_ms - silent_ms : 0);
	} else if (worker->state == WORKER_UNREACHABLE) {
		worker_lost(core, worker);
	}
}

struct worker *worker_heard(struct core *core, uint64_t conn)
{
	struct worker *worker = conn ? map_get(&core->worker_conns, conn) : NULL;

	if (!worker)
		return NULL;
	worker->heard_ns = core->now.mono_ns;
	worker->seen_ms = core->now.wall_ms;
	if (worker->state == WORKER_UP)
		return worker;
	worker_state_set(core, worker, WORKER_UP);
	worker_timer_arm(core, worker, core->lease_ms);
	return worker;
}

void worker_gone(struct core *core, uint64_t conn)
{
	struct worker *worker = map_get(&core->worker_conns, conn);

	if (!worker)
		return;                  /* another connection of the same worker took its place */
	worker_dropped(core, worker);
	worker_disconnect(core, worker);
	worker_wait(core, worker);
}

void workers_forgive(struct core *core)
{
	for (size_t i = 0; i < core->worker_count; i++) {
		struct worker *worker = core->workers[i];

		if (worker->state == WORKER_UP)
			worker->heard_ns = core->now.mono_ns;
		else if (worker->state == WORKER_UNREACHABLE)
			worker_wait(core, worker);
	}
}

void workers_quit(struct core *core)
{
	for (size_t i = 0; i < core->worker_count; i++) {
		struct worker *worker = core->workers[i];

		if (worker->conn == 0)
			continue;
		worker->quitting = true;
		core->serving++;
		outbox_frame(core->outbox, worker->conn, OP_QUIT)->quit.grace_ms = LIMIT_STOP_GRACE_MS;
	}
}
