/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual clock, the heap of planned events, the network, and the two phases of a schedule: first faults happen,
 * then none do and everything must come to rest.
 */
#include "values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define CLOCK_GRAPHS_MAX 300

static sigjmp_buf failure_jump;
const char *sim_failure;
static char failure_text[512];

_Noreturn void world_fail(struct sim_world *world, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure_text, sizeof(failure_text), format, args);
	va_end(args);
	sim_failure = failure_text;
	world_note(world, "FAIL %s", failure_text);
	siglongjmp(failure_jump, 1);
}

void world_note(struct sim_world *world, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	world->trace = hash_bytes(text, strlen(text), world->trace ^ (uint64_t)world->now_ns);
	if (world->story)
		printf("%12.6f  %s\n", (double)world->now_ns / 1e9, text);
}

uint64_t world_rand(struct sim_world *world, uint64_t limit)
{
	return rand_below(&world->rand, limit);
}

bool world_chance(struct sim_world *world, unsigned per_mille)
{
	return rand_below(&world->rand, 1000) < per_mille;
}

struct now world_time(const struct sim_world *world)
{
	return (struct now){ .mono_ns = world->now_ns,
			     .wall_ms = WALL_START_MS + world->wall_offset_ms + world->now_ns / MS };
}

struct now master_time(const struct sim_world *world)
{
	struct now now = world_time(world);

	now.mono_ns = world->now_ns - world->boot_ns + NS_PER_S;
	now.boot_ns = now.mono_ns + 5 * NS_PER_S;
	return now;
}

/* Set the wall clock wrong by up to ten years, or right. */
void world_clock_set(struct sim_world *world)
{
	static const int64_t spans[] = { 0, 30000, 3600000, INT64_C(315576000000) };
	int64_t span = spans[world_rand(world, 4)];

	/*
	 * Do nothing in a world with many graphs: a jump may start a hundred runs, and every step takes time for
	 * each.
	 */
	if (world->graph_count > CLOCK_GRAPHS_MAX)
		return;
	world->wall_offset_ms = world_chance(world, 500) ? span : -span;
	world_note(world, "the clocks are set %lld s from the right time", (long long)(world->wall_offset_ms / 1000));
	sim_master_clock(world);
}

static bool event_before(const struct event *a, const struct event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static struct event *plan_event(struct sim_world *world, struct event event)
{
	size_t at = world->heap_count++;

	if (world->heap_count > world->heap_cap) {
		world->heap_cap = world->heap_cap ? world->heap_cap * 2 : 256;
		world->heap = mem_resize(world->heap, world->heap_cap, sizeof(*world->heap));
	}
	while (at && event_before(&event, &world->heap[(at - 1) / 2])) {
		world->heap[at] = world->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	world->heap[at] = event;
	return &world->heap[at];
}

struct event *world_plan(struct sim_world *world, int64_t after_ns, enum happening what, uint32_t who)
{
	return plan_event(world, (struct event){ .at_ns = world->now_ns + (after_ns > 0 ? after_ns : 0),
						 .order = ++world->order, .what = what, .who = who });
}

static bool world_next(struct sim_world *world, struct event *ret_event)
{
	struct event last;
	size_t at = 0, child;

	if (!world->heap_count)
		return false;
	*ret_event = world->heap[0];
	last = world->heap[--world->heap_count];
	while ((child = at * 2 + 1) < world->heap_count) {
		if (child + 1 < world->heap_count && event_before(&world->heap[child + 1], &world->heap[child]))
			child++;
		if (!event_before(&world->heap[child], &last))
			break;
		world->heap[at] = world->heap[child];
		at = child;
	}
	world->heap[at] = last;
	return true;
}

/* ---- network ---- */

struct sim_conn *conn_make(struct sim_world *world, uint32_t who)
{
	struct sim_conn *conn = mem_zalloc(sizeof(*conn));

	conn->id = ++world->next_conn;
	conn->who = who;
	conn->peer_open = conn->master_open = true;
	map_put(&world->conns, conn->id, conn);
	return conn;
}

static int64_t network_delay(struct sim_world *world)
{
	if (world->faults && world_chance(world, world->slow_until_ns > world->now_ns ? 300 : 10))
		return (int64_t)world_rand(world, 3000) * MS;
	return (int64_t)(20000 + world_rand(world, 300000));
}

/* The peer closes its end at once; the master notices later, and may still receive what was under way. */
void conn_break(struct sim_world *world, struct sim_conn *conn)
{
	if (!conn->peer_open)
		return;
	conn->peer_open = false;
	conn->lossy = world_chance(world, 500);
	world_note(world, "connection %u breaks%s", (unsigned)conn->id, conn->lossy ? ", losing what is under way" : "");
	if (conn->master_open) {
		int64_t at = conn->last_to_master_ns - world->now_ns + network_delay(world);

		world_plan(world, at, HAPPENS_GONE, conn->who)->a = conn->id;
	}
}

/* Neither end closed the connection: each notices the break when the messages under way have arrived. */
void conn_reset(struct sim_world *world, struct sim_conn *conn)
{
	int64_t to_master = conn->last_to_master_ns - world->now_ns, to_peer = conn->last_to_peer_ns - world->now_ns;

	world_note(world, "connection %u is reset", (unsigned)conn->id);
	if (conn->master_open)
		world_plan(world, (to_master > 0 ? to_master : 0) + network_delay(world), HAPPENS_GONE, conn->who)->a = conn->id;
	if (conn->peer_open)
		world_plan(world, (to_peer > 0 ? to_peer : 0) + network_delay(world), HAPPENS_PEER_GONE, conn->who)->a = conn->id;
}

/*
 * The master closes the connection, or it dies: the peer receives what was sent and then notices. silently: the
 * master's machine died, and the peer never notices.
 */
void conn_close(struct sim_world *world, struct sim_conn *conn, bool silently)
{
	int64_t after_ns = conn->last_to_peer_ns - world->now_ns;

	conn->master_open = false;
	if (conn->peer_open && (!silently || conn->who >= SIM_WORKERS_MAX))
		world_plan(world, (after_ns > 0 ? after_ns : 0) + network_delay(world), HAPPENS_PEER_GONE, conn->who)->a = conn->id;
}

void conn_to_master(struct sim_world *world, struct sim_conn *conn, struct message *message)
{
	int64_t at = world->now_ns + network_delay(world);
	struct event *event;

	if (!conn || !conn->peer_open) {
		message_free(message);
		return;
	}
	if (conn->who < SIM_WORKERS_MAX && at < world->workers[conn->who].mute_until_ns)
		at = world->workers[conn->who].mute_until_ns;
	if (at < conn->last_to_master_ns)
		at = conn->last_to_master_ns;
	conn->last_to_master_ns = at;
	event = world_plan(world, at - world->now_ns, HAPPENS_TO_MASTER, conn->who);
	event->a = conn->id;
	event->b = world->master.life;
	event->message = message;
}

void conn_to_peer(struct sim_world *world, uint64_t conn_id, struct message *message)
{
	struct sim_conn *conn = map_get(&world->conns, conn_id);
	int64_t at = world->now_ns + network_delay(world);
	struct event *event;

	if (!conn || !conn->master_open) {
		message_free(message);
		return;
	}
	if (conn->who < SIM_WORKERS_MAX && at < world->workers[conn->who].deaf_until_ns)
		at = world->workers[conn->who].deaf_until_ns;
	if (at < conn->last_to_peer_ns)
		at = conn->last_to_peer_ns;
	conn->last_to_peer_ns = at;
	event = world_plan(world, at - world->now_ns,
			   conn->who >= SIM_WORKERS_MAX ? HAPPENS_TO_CLIENT : HAPPENS_TO_WORKER, conn->who);
	event->a = conn_id;
	event->message = message;
}

struct message *message_make(enum opcode op)
{
	struct message *message = mem_zalloc(sizeof(*message));

	message->op = op;
	return message;
}

void message_free(struct message *message)
{
	if (!message)
		return;
	mem_free(message->held);
	mem_free(message->assign);
	blob_release(message->context);
	mem_free(message->stop);
	mem_free(message->attempts);
	mem_free(message->started);
	mem_free(message->done);
	mem_free(message->page);
	mem_free(message);
}

/* ---- events ---- */

/* Plan the event again for the end of a pause; true: it is postponed. */
static bool postponed(struct sim_world *world, struct event *event, int64_t until_ns)
{
	struct event again = *event;

	if (until_ns <= world->now_ns)
		return false;
	again.at_ns = until_ns;
	plan_event(world, again);
	event->message = NULL;
	return true;
}

static void to_peer(struct sim_world *world, struct event *event)
{
	struct sim_conn *conn = map_get(&world->conns, event->a);
	struct sim_worker *worker = event->who < SIM_WORKERS_MAX ? &world->workers[event->who] : NULL;

	if (!conn || !conn->peer_open)
		return;
	if (event->who > SIM_WORKERS_MAX)
		values_receive(world, event->who - SIM_WORKERS_MAX - 1, event->message);
	else if (event->what == HAPPENS_TO_CLIENT)
		client_receive(world, event->message);
	else if (worker->conn == conn && worker->link.up && !postponed(world, event, worker->link.paused_until_ns))
		link_receive(world, worker, event);
}

/* Deliver a message between link and keeper. */
static void within_worker(struct sim_world *world, struct sim_worker *worker, struct event *event)
{
	if (event->what == HAPPENS_FROM_KEEPER) {
		if (!postponed(world, event, worker->link.paused_until_ns))
			link_from_keeper(world, worker, event);
	} else if (worker->keeper_up && link_said(worker, event) && !postponed(world, event, worker->paused_until_ns)) {
		sim_worker_receive(world, worker, event->message);
	}
}

static void to_master(struct sim_world *world, struct event *event)
{
	struct sim_conn *conn = map_get(&world->conns, event->a);

	if (!world->master.up || !conn || !conn->master_open)
		return;
	if (event->what == HAPPENS_TO_MASTER && (event->b != world->master.life || (!conn->peer_open && conn->lossy)))
		return;
	if (event->what == HAPPENS_GONE)
		conn->master_open = false;
	sim_master_receive(world, event);
	event->message = NULL;
}

static void job_moves(struct sim_world *world, struct sim_worker *worker, const struct event *event)
{
	if (event->what == HAPPENS_STAGED)
		sim_worker_staged(world, worker, event->a, event->b);
	else
		sim_worker_job_end(world, worker, event->a, event->what == HAPPENS_KILL);
}

static void happen(struct sim_world *world, struct event *event)
{
	struct sim_worker *worker = event->who < world->worker_count ? &world->workers[event->who] : NULL;

	switch (event->what) {
	case HAPPENS_TO_MASTER:
	case HAPPENS_GONE:
		to_master(world, event);
		break;
	case HAPPENS_TO_WORKER:
	case HAPPENS_TO_CLIENT:
		to_peer(world, event);
		break;
	case HAPPENS_TURN:
		if (postponed(world, event, world->master.paused_until_ns))
			break;
		if (world->master.up && event->b == world->master.life && event->a == world->master.turn_number)
			sim_master_turn(world);
		break;
	case HAPPENS_COMMIT:
		if (postponed(world, event, world->master.paused_until_ns))
			break;
		if (world->master.up && event->b == world->master.life)
			sim_master_commit_done(world);
		break;
	case HAPPENS_MASTER_BOOT:
		if (!world->master.up)
			sim_master_boot(world);
		break;
	case HAPPENS_CONNECT:
		link_connect(world, worker);
		break;
	case HAPPENS_PEER_GONE:
		conn_break(world, map_get(&world->conns, event->a));
		break;
	case HAPPENS_TO_KEEPER:
	case HAPPENS_FROM_KEEPER:
		within_worker(world, worker, event);
		break;
	case HAPPENS_LINK_BOOT:
		link_boot(world, worker);
		break;
	case HAPPENS_LINK_BEAT:
		link_beat(world, worker, event->a);
		break;
	case HAPPENS_LEASE_END:
		sim_worker_lease_end(world, worker);
		break;
	case HAPPENS_BEAT:
		sim_worker_beat(world, worker);
		break;
	case HAPPENS_JOB_END:
	case HAPPENS_KILL:
	case HAPPENS_STAGED:
		job_moves(world, worker, event);
		break;
	case HAPPENS_KEEPER_BOOT:
		if (!worker->keeper_up)
			sim_worker_boot(world, worker);
		break;
	case HAPPENS_CLIENT:
		client_step(world);
		break;
	case HAPPENS_VALUES:
		values_step_peer(world, event->who);
		break;
	case HAPPENS_FAULT:
		fault_happens(world, event->a);
	}
	message_free(event->message);
}

static void world_begin(struct sim_world *world, uint64_t seed, bool story)
{
	memset(world, 0, sizeof(*world));
	world->seed = seed;
	world->story = story;
	world->now_ns = NS_PER_S;
	rand_seed(&world->rand, seed);
	world->faults = true;
	world->fault_percent = (unsigned)world_rand(world, 40);
	world->fail_percent = (unsigned)world_rand(world, 50);
	world->features = graph_features_draw(&world->rand);
	world->worker_count = 1 + (uint32_t)world_rand(world, SIM_WORKERS_MAX);
	world->hasty = world_chance(world, 600);
	world->ending_ms = world->hasty ? 10000 : 40000;
	world->scheduling = world_chance(world, 250);
	world->lengthy = world_chance(world, 250);
	world->fair = world_chance(world, 60);
	world->laden = seed % 3 == 0;
	world->crowded = seed % 4 == 0;
	if (world_chance(world, 150) || seed % 5 == 1) {
		world->hasty = world->lengthy = true;
		world->fail_percent += 20;
	} else {
		world->features &= ~(UINT64_C(1) << FEATURE_only_once);
	}
	/* Turn on features that are rare in other worlds. */
	if (seed % 5 == 1)
		world->features |= UINT64_C(1) << FEATURE_only_once;
	if (seed % 5 == 2)
		world->features |= UINT64_C(1) << FEATURE_repeats | UINT64_C(1) << FEATURE_needs;
	if (seed % 5 == 3)
		world->features |= UINT64_C(1) << FEATURE_gates | UINT64_C(1) << FEATURE_needs;
	world->brittle = seed % 5 == 2;
	if (world->fair)
		world->features = UINT64_C(1) << FEATURE_tenants | (world->features & UINT64_C(1) << FEATURE_retries);
	for (uint32_t i = 0; i < SIM_TENANTS; i++)
		world->oracle.tenants[i].weight = 1;
	world->graph_target = 1 + world_rand(world, world_chance(world, 500) ? 6 : 14);
	world->client_steps = 4 * world->graph_target + world_rand(world, world_chance(world, 300) ? 200 : 30);
	values_begin(world);
	sim_master_boot(world);
	for (uint32_t i = 0; i < world->worker_count; i++) {
		world->workers[i].index = i;
		world->workers[i].slots = 1 + (uint32_t)world_rand(world, 4);
		world->workers[i].contexts = (const uint32_t[]){ 2, 0, LIMIT_WORKER_CONTEXTS, 1 }[i % 4];
		/* The first worker takes everybody's jobs and has all labels, so that every job can end. */
		world->workers[i].owners_only = i > 0 && world->features >> FEATURE_strangers & 1 && world_rand(world, 2);
		world->workers[i].lacks_here = i >= SIM_MACHINES && world->features >> FEATURE_contexts & 1 && world_rand(world, 2);
		world->workers[i].labels = i ? (unsigned)world_rand(world, 1U << SIM_LABELS) : (1U << SIM_LABELS) - 1;
		snprintf(world->workers[i].name, sizeof(world->workers[i].name), "w%u", i);
		sim_worker_boot(world, &world->workers[i]);
	}
	world_plan(world, MS, HAPPENS_CLIENT, SIM_WORKERS_MAX);
	faults_begin(world);
}

static bool world_at_rest(const struct sim_world *world)
{
	if (!client_at_rest(world) || !world->master.up || world->master.commits.first || !oracle_schedules_gone(world))
		return false;
	for (uint32_t i = 0; i < world->worker_count; i++)
		if (!sim_worker_at_rest(&world->workers[i]))
			return false;
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];
		const struct row *row = graph->run ? disk_get(&world->disk, TABLE_run, graph->run) : NULL;

		if (!graph->invalid && (graph->run || !graph->into) && (!row || row->run.ended_ms == 0))
			return false;
	}
	return values_at_rest(world) && !prune_left(world);
}

/* Note in the story what keeps the world from coming to rest. */
static void tell_unrest(struct sim_world *world)
{
	if (!client_at_rest(world) || !world->master.up || world->master.commits.first || !oracle_schedules_gone(world))
		world_note(world, "client at rest %d, master up %d, turns under way %d, schedules gone %d", client_at_rest(world),
			   world->master.up, world->master.commits.first != NULL, oracle_schedules_gone(world));
	if (!values_at_rest(world))
		values_tell_unrest(world);
	for (uint32_t i = 0; i < world->worker_count; i++)
		if (!sim_worker_at_rest(&world->workers[i]))
			world_note(world, "%s isn't at rest", world->workers[i].name);
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];
		const struct row *run = graph->run ? disk_get(&world->disk, TABLE_run, graph->run) : NULL;

		if (!graph->invalid && (graph->run || !graph->into) && (!run || run->run.ended_ms == 0))
			world_note(world, "%s, run %u, has no end", graph->name, (unsigned)graph->run);
		for (uint32_t k = 0; run && run->run.ended_ms == 0 && k < graph->count; k++) {
			const struct row *row = disk_get(&world->disk, TABLE_job, oracle_serial(graph, k));

			if (!row || !state_terminal((enum job_state)row->job.state))
				world_note(world, "job %u of run %u is %s", (unsigned)oracle_serial(graph, k), (unsigned)graph->run,
					   row ? state_table[row->job.state].name : "new");
		}
	}
}

static void world_live(struct sim_world *world)
{
	int64_t calm_ns = (int64_t)(30 + world_rand(world, 270)) * NS_PER_S;
	/* the faults end by the time limit, or already when the client has nothing left to do */
	bool until_then = world_chance(world, world->scheduling ? 800 : 250);
	int64_t rest_by_ns = calm_ns + 7200 * NS_PER_S;
	struct event event;

	while (world_next(world, &event)) {
		world->now_ns = event.at_ns;
		if (world->faults && (world->now_ns > calm_ns || (!until_then && client_at_rest(world) && values_asked_all(world)))) {
			world->faults = false;
			world->calm_ns = world->now_ns;
			world->wall_offset_ms = 0;
			sim_master_clock(world);
			world_note(world, "from here on nothing goes wrong");
		}
		world->events_done++;
		happen(world, &event);
		if (!world->faults && world_at_rest(world))
			break;
		/*
		 * When the clock is set right, a schedule may begin a thousand runs at once, so allow time for
		 * each.
		 */
		if (world->now_ns > rest_by_ns + (int64_t)world->graph_count * 30 * NS_PER_S || world->events_done > 2000000) {
			tell_unrest(world);
			world_fail(world, "I9: it never comes to rest");
		}
	}
	oracle_rest(world);
}

void world_run(struct sim_world *world, uint64_t seed, bool story)
{
	sim_failure = NULL;
	if (sigsetjmp(failure_jump, 1) == 0) {
		world_begin(world, seed, story);
		world_live(world);
	}
}

/* An abort in the core (a broken invariant) counts as the failure of this schedule. */
void sim_aborted(int signal_number);
void sim_aborted(int signal_number)
{
	(void)signal_number;
	sim_failure = "an invariant of the core broke (see the line above)";
	siglongjmp(failure_jump, 1);
}

void world_free(struct sim_world *world)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	if (!sim_failure)                        /* after an abort the core is inconsistent and can't be freed */
		core_free(world->master.core);
	for (size_t i = 0; i < world->heap_count; i++)
		message_free(world->heap[i].message);
	for (size_t i = 0; i < world->master.inbox_count; i++)
		message_free(world->master.inbox[i].message);
	mem_free(world->heap);
	mem_free(world->master.inbox);
	while (world->master.commits.first) {
		struct outbox *outbox = world->master.commits.first;

		world->master.commits.first = outbox->next;
		turn_free(outbox);
	}
	mem_free(world->master.committing);
	prune_forget(world);
	for (uint32_t i = 0; i < world->worker_count; i++)
		sim_worker_free(&world->workers[i]);
	while (map_next(&world->conns, &cursor, &key, &value))
		mem_free(value);
	map_free(&world->conns);
	oracle_free(&world->oracle);
	values_end(world);
	disk_free(&world->disk);
	for (size_t i = 0; i < world->act_count; i++) {
		mem_free(world->acts[i].rounds);
		mem_free(world->acts[i].jobs);
	}
	mem_free(world->acts);
	client_schedule_free(world);
	for (size_t i = 0; i < world->graph_count; i++)
		graph_free(world->graphs[i]);
	mem_free(world->graphs);
}
