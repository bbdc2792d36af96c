/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers are known by name, connected or not, until they are forgotten. A disconnected worker keeps its attempts for
 * a full grace. When it returns with an inventory, every difference is resolved at once (hello.c).
 */
#include "core/place/place.h"

#include "base/planted.h"
#include "core/life/life.h"
#include "core/place/internal.h"
#include "core/rows/durable.h"
#include "core/time/time.h"


/*
 * Record the jobs that a worker couldn't kill. This is for display only: their slots stay taken because no end was
 * reported.
 */
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
	core->serving += !PLANTED(lock_kept_by_one_without_worker);
	worker_touch(core, worker);
}

void worker_wait(struct core *core, struct worker *worker)
{
	worker_state_set(core, worker, WORKER_UNREACHABLE);
	worker_timer_arm(core, worker, PLANTED(lost_before_its_lease_ends) ? core->lease_ms / 8 : core->grace_ms);
}

/*
 * Record an unexpected disconnect, to detect flapping. The record isn't durable: a restarted master begins without
 * it.
 */
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
	if (!worker->ended || worker->held_count > 0)
		happened(core, HAPPENED_WORKER_LOST, worker->number, slice_str(worker->name), 0);
	while (worker->held_count > 0)
		attempt_lost(core, worker->held[worker->held_count - 1].job, OUTCOME_LOST, false);
	jobs_tell_children(core);
}

void worker_timer_fired(struct core *core, struct worker *worker)
{
	int64_t silent_ms = (core->now.mono_ns - worker->heard_ns) / NS_PER_MS;

	worker->timed = false;
	if (worker->state == WORKER_UP && silent_ms < core->lease_ms) {
		worker_timer_arm(core, worker, core->lease_ms - silent_ms);
	} else if (worker->state == WORKER_UP) {
		worker_state_set(core, worker, WORKER_UNREACHABLE);
		happened(core, HAPPENED_WORKER_GONE, worker->number, slice_str(worker->name), 0);
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
	happened(core, HAPPENED_WORKER_UP, worker->number, slice_str(worker->name), 0);
	worker_timer_arm(core, worker, core->lease_ms);
	return worker;
}

void worker_gone(struct core *core, uint64_t conn)
{
	struct worker *worker = map_get(&core->worker_conns, conn);

	if (!worker)
		return;                  /* a newer connection of the same worker has replaced this one */
	worker_dropped(core, worker);
	worker_disconnect(core, worker);
	happened(core, HAPPENED_WORKER_GONE, worker->number, slice_str(worker->name), worker->ended);
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

enum worker_state worker_shown(const struct worker *worker)
{
	return worker->ended && worker->state != WORKER_UP && worker->held_count == 0 ? WORKER_ENDED : worker->state;
}

/* Give the worker no more jobs: it will end when it has given back those that it hasn't started. */
void worker_says_leaving(struct core *core, struct worker *worker)
{
	if (worker->quitting)
		return;
	worker->quitting = true;
	core->serving++;
	worker_touch(core, worker);
}

/*
 * Record that the worker ends, and give it no more jobs. It stays up until its connection is closed. The worker's row says
 * that it ended, so a restarted master knows that, too.
 */
void worker_says_end(struct core *core, struct worker *worker)
{
	if (worker->ended)
		return;
	worker->quitting = worker->ended = true;
	core->serving++;
	worker_row_put(core, worker);
	worker_touch(core, worker);
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
