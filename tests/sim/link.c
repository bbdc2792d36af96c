/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker's link: it connects the keeper's socket to the master's. Its table of attempts can be rebuilt from the
 * keeper's inventory at any time. The link may be killed alone: the keeper still reads what was in the socket up to
 * the cut, what the link hadn't read from the keeper is lost, and the keeper goes on. Like src/worker/link*.c, but
 * without files and output.
 */
#include "sim.h"

#include "base/mem.h"

#define GOODBYE_PERMILLE 5                /* heartbeats in 1000 that say that the worker ends */

static struct link_item *item_of(struct sim_link *link, uint64_t job, uint64_t epoch)
{
	for (size_t i = 0; i < link->count; i++)
		if (link->items[i].job == job && link->items[i].epoch == epoch)
			return &link->items[i];
	return NULL;
}

static struct link_item *item_get(struct sim_link *link, uint64_t job, uint64_t epoch)
{
	struct link_item *item = item_of(link, job, epoch);

	if (item)
		return item;
	if (link->count == link->cap) {
		link->cap = link->cap ? link->cap * 2 : 16;
		link->items = mem_resize(link->items, link->cap, sizeof(*link->items));
	}
	link->items[link->count] = (struct link_item){ .job = job, .epoch = epoch, .phase = PHASE_QUEUED };
	return &link->items[link->count++];
}

static int64_t pipe_delay(struct sim_world *world)
{
	if (world->faults && world_chance(world, 10))
		return (int64_t)world_rand(world, 1000) * MS;
	return (int64_t)(5000 + world_rand(world, 100000));
}

/* ---- messages between keeper and link ---- */

static void to_keeper(struct sim_world *world, struct sim_worker *worker, struct message *message)
{
	int64_t at = world->now_ns + pipe_delay(world);
	struct event *event;

	if (at < worker->link.last_to_keeper_ns)
		at = worker->link.last_to_keeper_ns;
	worker->link.last_to_keeper_ns = at;
	event = world_plan(world, at - world->now_ns, HAPPENS_TO_KEEPER, worker->index);
	event->a = worker->link.life;
	event->b = (uint64_t)at;
	event->message = message;
}

void link_from_keeper_plan(struct sim_world *world, struct sim_worker *worker, struct message *message)
{
	int64_t at = world->now_ns + pipe_delay(world);
	struct event *event;

	if (at < worker->link.last_to_link_ns)
		at = worker->link.last_to_link_ns;
	worker->link.last_to_link_ns = at;
	event = world_plan(world, at - world->now_ns, HAPPENS_FROM_KEEPER, worker->index);
	event->a = worker->link.life;
	event->message = message;
}

/*
 * Does the keeper still receive this message? Its link lives, or the latest dead link sent it and it was in the socket
 * before the cut.
 */
bool link_said(const struct sim_worker *worker, const struct event *event)
{
	if (event->a == worker->link.life)
		return true;
	return event->a + 1 == worker->link.life && (int64_t)event->b <= worker->link.cut_ns;
}

/* ---- messages from the keeper ---- */

static void send_started(struct sim_world *world, struct sim_worker *worker, const struct rec_started *started)
{
	struct message *message = message_make(OP_STARTED);

	message->started = mem_array(1, sizeof(*message->started));
	message->started[0] = *started;
	message->count = 1;
	conn_to_master(world, worker->conn, message);
}

static void send_done(struct sim_world *world, struct sim_worker *worker, const struct link_item *item)
{
	struct message *message = message_make(OP_DONE);

	message->done = mem_array(1, sizeof(*message->done));
	message->done[0] = item->done;
	message->count = 1;
	conn_to_master(world, worker->conn, message);
}

static void on_inventory(struct sim_world *world, struct sim_worker *worker, const struct message *message)
{
	for (size_t i = 0; i < message->count; i++)
		item_get(&worker->link, message->held[i].job, message->held[i].epoch)->phase =
			(enum attempt_phase)message->held[i].phase;
	worker->link.listed = true;
	link_connect(world, worker);
}

void link_from_keeper(struct sim_world *world, struct sim_worker *worker, const struct event *event)
{
	const struct message *message = event->message;
	struct link_item *item;

	if (!worker->link.up || event->a != worker->link.life)
		return;
	switch (message->op) {
	case OP_INVENTORY:
		on_inventory(world, worker, message);
		break;
	case OP_STARTED:
		item = item_get(&worker->link, message->started[0].job, message->started[0].epoch);
		item->phase = PHASE_RUNNING;
		item->started = message->started[0];
		if (worker->welcomed)
			send_started(world, worker, &item->started);
		break;
	default:
		item = item_get(&worker->link, message->done[0].job, message->done[0].epoch);
		item->phase = PHASE_ENDED;
		item->done = message->done[0];
		if (worker->welcomed)
			send_done(world, worker, item);
	}
}

/* ---- messages from the master ---- */

static void lease_to_keeper(struct sim_world *world, struct sim_worker *worker, int64_t sent_ns)
{
	struct message *lease = message_make(OP_HEARTBEAT);

	worker->link.echo_ns = world->now_ns;
	lease->sent_ns = sent_ns + worker->lease_ms * MS;
	to_keeper(world, worker, lease);
}

static void on_welcome(struct sim_world *world, struct sim_worker *worker, const struct message *message)
{
	struct sim_link *link = &worker->link;

	worker->welcomed = true;
	worker->welcomed_ns = world->now_ns;
	worker->lease_ms = message->lease_ms;
	/* the lease counts from the time when HELLO was sent */
	lease_to_keeper(world, worker, worker->hello_ns);
	for (size_t i = 0; i < link->count; i++) {
		if (link->items[i].phase == PHASE_ENDED && link->items[i].done.job)
			send_done(world, worker, &link->items[i]);
		else if (link->items[i].phase == PHASE_RUNNING && link->items[i].started.job)
			send_started(world, worker, &link->items[i].started);
	}
}

static void on_acks(struct sim_world *world, struct sim_worker *worker, struct message *message)
{
	size_t kept = 0;

	for (size_t i = 0; i < message->count; i++) {
		struct link_item *item = item_of(&worker->link, message->attempts[i].job, message->attempts[i].epoch);

		if (!item || item->phase != PHASE_ENDED)
			continue;
		*item = worker->link.items[--worker->link.count];
		message->attempts[kept++] = message->attempts[i];
	}
	message->count = kept;
	to_keeper(world, worker, message);
}

void link_receive(struct sim_world *world, struct sim_worker *worker, struct event *event)
{
	struct message *message = event->message;

	event->message = NULL;
	switch (message->op) {
	case OP_WELCOME:
		on_welcome(world, worker, message);
		message_free(message);
		break;
	case OP_HEARTBEAT:
		if (worker->welcomed)
			lease_to_keeper(world, worker, message->sent_ns);
		/* The worker has ended. The next heartbeat comes from a worker that was started again and found its jobs. */
		if (message->ending && worker->conn) {
			conn_break(world, worker->conn);
			worker->welcomed = false;
		}
		message_free(message);
		break;
	case OP_ACK:
		on_acks(world, worker, message);
		break;
	case OP_CONTEXT:
		if (message->value >= worker->contexts)
			world_fail(world, "%s has no slot %u", worker->name, (unsigned)message->value);
		blob_release(worker->link.contexts[message->value]);
		worker->link.contexts[message->value] = blob_hold(message->context);
		message_free(message);
		break;
	case OP_ASSIGN:
		for (size_t i = 0; i < message->count; i++) {
			oracle_told(world, worker, &message->assign[i]);
			item_get(&worker->link, message->assign[i].job, message->assign[i].epoch);
		}
		to_keeper(world, worker, message);
		break;
	default:
		to_keeper(world, worker, message);
	}
}

/* ---- connection ---- */

void link_forget_contexts(struct sim_worker *worker)
{
	for (size_t slot = 0; slot < LIMIT_WORKER_CONTEXTS; slot++) {
		blob_release(worker->link.contexts[slot]);
		worker->link.contexts[slot] = NULL;
	}
}

void link_connect(struct sim_world *world, struct sim_worker *worker)
{
	struct sim_link *link = &worker->link;
	struct message *hello;

	if (!worker->keeper_up || !link->up || !link->listed || (worker->conn && worker->conn->peer_open))
		return;
	worker->welcomed = false;
	if (!world->master.up || worker->cut_until_ns > world->now_ns || link->paused_until_ns > world->now_ns) {
		worker->conn = NULL;
		world_plan(world, (int64_t)(1 + world_rand(world, 2000)) * MS, HAPPENS_CONNECT, worker->index);
		return;
	}
	link_forget_contexts(worker);
	worker->conn = conn_make(world, worker->index);
	hello = message_make(OP_HELLO);
	hello->instance = worker->instance;
	hello->pool = worker->pool;
	memcpy(hello->offers, worker->offers, sizeof(hello->offers));
	hello->held = mem_array(link->count + 1, sizeof(*hello->held));
	for (size_t i = link->count; i-- > 0;)
		hello->held[hello->count++] =
			(struct rec_held){ .job = link->items[i].job, .epoch = link->items[i].epoch, .phase = link->items[i].phase };
	world_note(world, "%s says HELLO on connection %u with %u attempts", worker->name, (unsigned)worker->conn->id,
		   (unsigned)hello->count);
	worker->hello_ns = world->now_ns;
	conn_to_master(world, worker->conn, hello);
}

/*
 * Return the load of the worker's machine by other programs, which changes every 15 s. It comes from a hash, not
 * from the world's random numbers, so that it doesn't change the rest of the schedule.
 */
static struct sim_load load_now(const struct sim_world *world, const struct sim_worker *worker)
{
	static const struct sim_load loads[] = {
		{ .cpu_permille = 0 }, { .cpu_permille = 300, .start_us = 200000 }, { .cpu_permille = 950 },
		{ .gpu_permille = 920 }, { .cpu_permille = 650, .gpu_permille = 200 }, { .start_us = 3000000 },
	};
	uint64_t lot = hash_u64(world->seed * 31 + (uint64_t)(world->now_ns / (15 * NS_PER_S)) * 7 + worker->index);

	return loads[world->laden ? lot % (sizeof(loads) / sizeof(loads[0])) : 0];
}

/*
 * The link's timer: send a heartbeat, reconnect if the connection is broken, and break it if the master has been
 * silent too long.
 */
void link_beat(struct sim_world *world, struct sim_worker *worker, uint64_t life)
{
	struct sim_link *link = &worker->link;
	struct message *message;

	if (!link->up || life != link->life)
		return;
	world_plan(world, (world->hasty ? 1000 : 2000) * MS, HAPPENS_LINK_BEAT, worker->index)->a = life;
	if (link->paused_until_ns > world->now_ns)
		return;
	if (!worker->conn || !worker->conn->peer_open) {
		link_connect(world, worker);
		return;
	}
	if (worker->welcomed ? world->now_ns - link->echo_ns > worker->lease_ms * MS :
			       world->now_ns - worker->hello_ns > 10 * NS_PER_S) {
		world_note(world, "%s: the master is silent", worker->name);
		conn_break(world, worker->conn);
		worker->welcomed = false;
		return;
	}
	if (!worker->welcomed)
		return;
	oracle_quiet(world, worker);
	message = message_make(OP_HEARTBEAT);
	message->sent_ns = world->now_ns;
	message->load = load_now(world, worker);
	message->ending = world->faults && world_chance(world, GOODBYE_PERMILLE);
	conn_to_master(world, worker->conn, message);
}

/* ---- start and death of the link ---- */

void link_boot(struct sim_world *world, struct sim_worker *worker)
{
	struct sim_link *link = &worker->link;

	if (link->up || !worker->keeper_up)
		return;
	/* a paused keeper can't notice that the old link died */
	if (worker->paused_until_ns > world->now_ns) {
		world_plan(world, worker->paused_until_ns - world->now_ns + MS, HAPPENS_LINK_BOOT, worker->index);
		return;
	}
	link->up = true;
	link->listed = false;
	link->count = 0;
	worker->conn = NULL;
	worker->welcomed = false;
	sim_worker_tell_everything(world, worker);
	world_plan(world, (int64_t)world_rand(world, 1000) * MS, HAPPENS_LINK_BEAT, worker->index)->a = link->life;
}

void link_crash(struct sim_world *world, struct sim_worker *worker, bool alone)
{
	struct sim_link *link = &worker->link;

	if (!link->up)
		return;
	if (worker->conn)
		conn_break(world, worker->conn);
	worker->conn = NULL;
	worker->welcomed = false;
	link->up = link->listed = false;
	link->life++;
	link->count = 0;
	link->paused_until_ns = 0;
	/* If the keeper died too, it reads nothing more: the cut is before all messages. */
	link->cut_ns = alone ? world->now_ns + (int64_t)world_rand(world, 200000) : -1;
	if (!alone)
		return;
	world_note(world, "%s: the link is killed", worker->name);
	world_plan(world, (int64_t)(50 + world_rand(world, 2000)) * MS, HAPPENS_LINK_BOOT, worker->index);
}
