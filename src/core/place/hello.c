/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker's HELLO: its name, slots, labels, resources and inventory of attempts. Current attempts are adopted, stale
 * ones are stopped, and attempts that the inventory should have and hasn't are lost.
 */
#include "core/place/place.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/place/internal.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"

/*
 * Is this another process (instance) of a worker that is connected and was heard within its lease? Two processes then have
 * the same name and key, and the connected one keeps its jobs. A new connection of the same instance isn't refused: it
 * replaces the older connection.
 */
static bool is_second_life(const struct core *core, const struct worker *worker, struct slice instance)
{
	return worker->conn != 0 && core->now.mono_ns - worker->heard_ns < core->lease_ms * NS_PER_MS && instance.len > 0 &&
	       worker->instance_len > 0 && !slice_eq(instance, slice_make(worker->instance, worker->instance_len));
}

static enum err hello_check(const struct core *core, const struct core_input *input,
			    struct resource_list *ret_offers, struct error *error)
{
	const struct input_hello *hello = &input->hello;
	const struct worker *worker;

	if (!text_is_name(hello->name))
		return error_set(error, ERR_INVALID,
				 "HELLO: the name of a worker may have letters, digits, _ . -, at most %d",
				 LIMIT_NAME_MAX_LEN);
	if (hello->slots == 0 || hello->slots > LIMIT_SLOTS_MAX)
		return error_set(error, ERR_INVALID, "HELLO: slots is %llu, but must be from 1 to %d",
				 (unsigned long long)hello->slots, LIMIT_SLOTS_MAX);
	if (hello->instance.len > INSTANCE_SIZE)
		return error_set(error, ERR_INVALID, "HELLO: instance has more than %d bytes", INSTANCE_SIZE);
	if (labels_check(hello->labels, error) != ERR_NONE)
		return error->code;
	if (hello->pool.len > 0 && !text_is_name(hello->pool))
		return error_set(error, ERR_INVALID, "HELLO: the name of a pool may have letters, digits, _ . -, at "
			"most %d",
				 LIMIT_NAME_MAX_LEN);
	if (map_get(&core->worker_conns, input->conn))
		return error_set(error, ERR_NOT_EXPECTED, "HELLO was sent twice on this connection");
	/* This HELLO waited unread while the worker connected again: its inventory is out of date. */
	worker = name_map_get(&core->worker_names, hello->name);
	if (worker && input->conn < worker->newest_conn)
		return error_set(error, ERR_DUPLICATE, "worker %s has opened a newer connection", worker->name);
	if (worker && is_second_life(core, worker, hello->instance))
		return error_set(error, ERR_BUSY, "worker %s is connected already, as process %llu; another one may have its name when that "
				 "one was silent for %lld ms", worker->name, (unsigned long long)worker->pid, (long long)core->lease_ms);
	return resources_read(hello->offers, ret_offers, error);
}

/*
 * Was the keeper of the last HELLO one of those that have ended in order since? It had noted each start by then, so an
 * attempt that isn't in the inventory never started.
 */
static bool ended_in_order(const struct worker *worker, struct slice before)
{
	for (size_t at = 0; worker->instance_len == INSTANCE_SIZE && at + INSTANCE_SIZE <= before.len; at += INSTANCE_SIZE)
		if (memcmp(before.data + at, worker->instance, INSTANCE_SIZE) == 0)
			return true;
	return false;
}

/*
 * Register the worker on its new connection. *ret_knows_starts: its inventory has each attempt that it started, because its
 * keeper is the same process as at the last HELLO, or the earlier one ended in order.
 */
static struct worker *hello_worker(struct core *core, const struct core_input *input,
				   const struct resource_list *offers, bool *ret_knows_starts)
{
	const struct input_hello *hello = &input->hello;
	struct worker *worker = name_map_get(&core->worker_names, hello->name);
	struct error error;
	bool same_life;

	if (!worker) {
		worker = worker_new(core, core->next_worker++, hello->name, pool_get(core, slice_make(NULL, 0)));
		core->worker_counter_due = true;
	}
	if (worker->conn != 0) {
		error_set(&error, ERR_DUPLICATE, "worker %s has opened another connection", worker->name);
		error_send(core, worker->conn, 0, &error, true);
		map_remove(&core->worker_conns, worker->conn);
		worker_dropped(core, worker);
	}
	same_life = hello->instance.len > 0 && slice_eq(hello->instance, slice_make(worker->instance, worker->instance_len));
	*ret_knows_starts = same_life || ended_in_order(worker, hello->before);
	if (!same_life) {
		worker_renewed(core, worker);
		here_ask_again(core, worker);
	}
	worker->conn = input->conn;
	worker->newest_conn = input->conn;
	map_put(&core->worker_conns, input->conn, worker);
	worker->instance_len = hello->instance.len;
	if (hello->instance.len > 0)
		memcpy(worker->instance, hello->instance.data, hello->instance.len);
	worker->slots = (uint32_t)hello->slots;
	if (worker->slots > worker->slots_high)
		worker->slots_high = worker->slots;
	mem_free(worker->machine);
	worker->machine = mem_text(hello->machine);
	mem_free(worker->labels.at);
	worker->labels = labels_copy(hello->labels);
	labels_order(&worker->labels);
	worker->pid = hello->pid;
	worker->protocol = hello->version;
	worker->seen_ms = core->now.wall_ms;     /* the time of this HELLO is also in the worker's row */
	worker->quitting = worker->ended = false;
	worker->owners_only = hello->owners_only;
	worker->stuck_count = 0;
	worker->pool = pool_get(core, hello->pool);
	worker->offer_count = offers->n;
	worker->offers = mem_resize(worker->offers, offers->n + 1, sizeof(*worker->offers));
	memcpy(worker->offers, offers->at, offers->n * sizeof(*offers->at));
	contexts_begin(worker, hello->contexts);
	charge_reset(core, worker);
	core->drain_due = true;
	core->serving++;
	worker_row_put(core, worker);
	return worker;
}

static void welcome_send(struct core *core, uint64_t conn, uint64_t version)
{
	outbox_frame(core->outbox, conn, OP_WELCOME)->welcome = (struct msg_welcome){
		.version = version, .cluster = slice_str(core->cluster),
		.generation = core->generation,
		.boot = core->boot, .turn = core->turn, .heartbeat_ms = (uint64_t)core->heartbeat_ms,
		.lease_ms = (uint64_t)core->lease_ms, .role = ROLE_WORKER, .pid = core->pid,
	};
}

static void held_adopt(struct core *core, struct job *job, enum attempt_phase phase)
{
	job->flags |= JOB_HELD;
	if (phase == PHASE_ENDED)
		return;                  /* the held attempt has ended: its result follows in DONE */
	if (job->state == STATE_STOPPING) {
		attempt_stop_send(core, job);
		return;
	}
	if (job->state == STATE_ASSIGNED && job->flags & JOB_RECALLED) {
		/* The recall request may have been lost with the old connection: recall again if needed. */
		job->flags &= (uint32_t)~JOB_RECALLED;
		core->recalls--;
	}
	if (job->state == STATE_ASSIGNED && phase == PHASE_RUNNING)
		attempt_run(core, job, EVENT_STARTED, core->now.wall_ms);
	else if (job->state == STATE_ASSIGNED && job_on_hold(job))
		attempt_recall(core, job);
}

/* A job in state unknown still runs at the worker that returned. Its start time may be known from before. */
static void held_returned(struct core *core, struct worker *worker, struct job *job)
{
	bool cancels = attempt_cancels_when_returned(job);

	attempt_run(core, job, EVENT_RETURNED, job->started_ms ? job->started_ms : core->now.wall_ms);
	attempt_attach(core, worker, job);
	job->flags |= JOB_HELD;
	if (cancels)
		attempt_stop(core, job, EVENT_CANCEL);
}

static void held_stop(struct core *core, const struct worker *worker, const struct rec_held *held)
{
	if (held->phase == PHASE_ENDED)
		/* the held attempt has ended: its result follows in DONE, is acknowledged and ignored */
		return;
	outbox_frame(core->outbox, worker->conn, OP_STOP)->stop = (struct rec_stop){
		.job = held->job, .epoch = held->epoch, .grace_ms = 0,
	};
}

static void inventory_apply(struct core *core, struct worker *worker, const struct input_hello *hello,
			     bool knows_starts)
{
	for (size_t i = 0; i < hello->held_count; i++) {
		const struct rec_held *held = &hello->held[i];
		struct job *job = job_find(core, held->job);

		if (attempt_current(worker, job, PLANTED(stale_adopted) && job ? job->epoch : held->epoch))
			held_adopt(core, job, held->phase);
		else if (attempt_unknown(worker, job, held->epoch) && held->phase == PHASE_RUNNING)
			held_returned(core, worker, job);
		else if (!PLANTED(stale_not_stopped) || !job)
			held_stop(core, worker, held);
	}
	for (size_t i = worker->held_count; i-- > 0;) {
		struct job *job = worker->held[i].job;

		/*
		 * Walk backwards: when attempt_lost removes an entry, the last entry takes its place, and that one
		 * was visited.
		 */
		if (!(job->flags & JOB_HELD) && !PLANTED(lost_at_hello_forgotten))
			attempt_lost(core, job, OUTCOME_LOST, knows_starts);
		job->flags &= (uint32_t)~JOB_HELD;
	}
	jobs_tell_children(core);
}

void worker_hello(struct core *core, const struct core_input *input)
{
	struct resource_list offers = { 0 };
	struct worker *worker;
	struct error error;
	bool knows_starts;

	if (hello_check(core, input, &offers, &error) != ERR_NONE) {
		error_send(core, input->conn, 0, &error, true);
		return;
	}
	worker = hello_worker(core, input, &offers, &knows_starts);
	worker->state = WORKER_UNREACHABLE;
	worker_heard(core, input->conn);
	worker->reading = true;
	if (PLANTED(welcome_before_stops))
		welcome_send(core, input->conn, input->hello.version);
	inventory_apply(core, worker, &input->hello, knows_starts);
	worker->reading = false;
	charge_waiting(core, worker);
	/* WELCOME goes last: it brings the lease, and stale attempts must be stopped before queued ones may start. */
	if (!PLANTED(welcome_before_stops))
		welcome_send(core, input->conn, input->hello.version);
}
