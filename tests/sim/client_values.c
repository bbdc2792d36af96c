/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients that read and change values, one request at a time, and watchers. A client that loses its connection repeats a
 * request that has a key and gives up any other. They draw from random numbers of their own, so other worlds stay as they are.
 */
#include "values.h"

#include <stdio.h>

#include "base/mem.h"

const char *const sim_value_keys[VALUE_KEYS] = { "a", "ab", "abc", "b", "ba", "c" };
const char *const sim_watch_prefixes[VALUE_WATCHERS] = { "", "a" };

static uint64_t draw(struct sim_world *world, uint64_t limit)
{
	return rand_below(&world->values->rand, limit);
}

static void plan(struct sim_world *world, uint32_t peer, uint64_t within_ms)
{
	world_plan(world, (int64_t)(1 + draw(world, within_ms)) * MS, HAPPENS_VALUES, peer);
}

void values_begin(struct sim_world *world)
{
	struct sim_values *values;

	if (world->seed % 4 != 3)
		return;
	values = world->values = mem_zalloc(sizeof(*values));
	rand_seed(&values->rand, world->seed ^ UINT64_C(0x76616c756573));
	values->alone = world->seed % 16 == 7;
	for (size_t i = 0; i < VALUE_CLIENTS; i++)
		values->steps[i] = (unsigned)(10 + draw(world, values->alone ? 150 : 60));
	for (uint32_t i = 0; i < VALUE_PEERS; i++)
		plan(world, i, 1000);
	if (values->alone) {
		world->graph_target = world->client_steps = 0;
		world->scheduling = false;
	}
}

void values_end(struct sim_world *world)
{
	if (!world->values)
		return;
	if (world->values->backup.made)
		disk_free(&world->values->backup.disk);
	mem_free(world->values->asks);
	mem_free(world->values->changes);
	mem_free(world->values->turns);
	mem_free(world->values);
}

bool values_asked_all(const struct sim_world *world)
{
	for (size_t i = 0; world->values && i < VALUE_CLIENTS; i++)
		if (world->values->steps[i] || world->values->pending[i])
			return false;
	return true;
}

bool values_at_rest(const struct sim_world *world)
{
	const struct sim_values *values = world->values;

	if (!values)
		return true;
	for (size_t i = 0; i < VALUE_WATCHERS; i++)
		if (!values->watchers[i].synced)
			return false;
	for (size_t space = 0; space < SIM_SPACES; space++)
		for (size_t key = 0; key < VALUE_KEYS; key++)
			if (values->decided.at[space][key].ttl_ms)
				return false;
	return values_asked_all(world) && world->now_ns > values->changed_ns + 5 * NS_PER_S;
}

void values_tell_unrest(struct sim_world *world)
{
	const struct sim_values *values = world->values;

	for (size_t space = 0; space < SIM_SPACES; space++)
		for (size_t key = 0; key < VALUE_KEYS; key++)
			if (values->decided.at[space][key].ttl_ms)
				world_note(world, "key '%s' of namespace %zu hasn't ended", sim_value_keys[key], space);
	world_note(world, "clients at rest %d, watchers told %d %d", values_asked_all(world), values->watchers[0].synced,
		   values->watchers[1].synced);
}

/* ---- requests ---- */

static struct sim_value_op some_op(struct sim_world *world, unsigned space, bool only)
{
	static const enum value_verb verbs[] = {
		VALUES_GET, VALUES_GET, VALUES_SET, VALUES_SET, VALUES_ADD, VALUES_CAS, VALUES_CAS, VALUES_DEL, VALUES_INCR, VALUES_INCR,
		VALUES_SADD, VALUES_SREM, VALUES_TOUCH, VALUES_CHECK, VALUES_LIST,
	};
	static const char *const texts[] = { "", "x", "7", "-3", "text" };
	struct sim_value_op op = { .verb = verbs[draw(world, sizeof(verbs) / sizeof(verbs[0]) - !only)], .key = (unsigned)draw(world, VALUE_KEYS) };
	const struct sim_value *now = &world->values->decided.at[space][op.key];

	if (op.verb == VALUES_SADD || op.verb == VALUES_SREM)
		snprintf(op.text, sizeof(op.text), "%c", (char)('p' + draw(world, 3)));
	else if (op.verb == VALUES_SET || op.verb == VALUES_ADD || op.verb == VALUES_CAS)
		snprintf(op.text, sizeof(op.text), "%s", texts[draw(world, sizeof(texts) / sizeof(texts[0]))]);
	if (op.verb == VALUES_INCR)
		op.by = (int64_t)draw(world, 13) - 3;
	/* Mostly the version that the key has now, which may have another one when the request arrives. */
	if (op.verb == VALUES_CAS || op.verb == VALUES_CHECK)
		op.version = draw(world, 4) ? now->version : draw(world, 2) * world->values->decided.revision;
	if ((op.verb == VALUES_TOUCH || (op.text[0] && op.verb != VALUES_SADD && op.verb != VALUES_SREM)) && draw(world, 5) == 0)
		op.ttl_ms = 1 + draw(world, draw(world, 2) ? 2000 : 30000);
	return op;
}

static struct sim_ask *ask_new(struct sim_values *values)
{
	if (values->ask_count == values->ask_cap) {
		values->ask_cap = values->ask_cap ? values->ask_cap * 2 : 64;
		values->asks = mem_resize(values->asks, values->ask_cap, sizeof(*values->asks));
	}
	return &values->asks[values->ask_count++];
}

static void ask_send(struct sim_world *world, unsigned client)
{
	struct message *message = message_make(OP_VALUES);

	message->request = VALUE_ASKS + world->values->ask_count - 1;
	world->values->pending[client] = world->values->ask_count;
	conn_to_master(world, world->values->conns[client], message);
}

static void ask_new_one(struct sim_world *world, unsigned client)
{
	struct sim_values *values = world->values;
	struct sim_ask *ask = ask_new(values);

	*ask = (struct sim_ask){ .client = client, .first = values->ask_count - 1, .keyed = draw(world, 2) != 0, .count = 1 };
	ask->space = (unsigned)draw(world, values->run ? 3 : 2);
	if (draw(world, 4) == 0)
		ask->count += draw(world, VALUE_OPS);
	for (size_t i = 0; i < ask->count; i++)
		ask->ops[i] = some_op(world, ask->space, ask->count == 1);
	values->steps[client]--;
	ask_send(world, client);
}

static void ask_again(struct sim_world *world, unsigned client, size_t index)
{
	struct sim_ask *ask = ask_new(world->values);
	const struct sim_ask *before = &world->values->asks[index];

	*ask = (struct sim_ask){ .client = client, .space = before->space, .first = before->first, .keyed = true, .count = before->count };
	memcpy(ask->ops, before->ops, sizeof(ask->ops));
	ask_send(world, client);
}

/* ---- steps ---- */

/* Connect if there is no connection; true: it is a new one. */
static bool connected_anew(struct sim_world *world, uint32_t peer)
{
	struct sim_conn **conn = &world->values->conns[peer];

	if (*conn && (*conn)->peer_open)
		return false;
	*conn = world->master.up ? conn_make(world, SIM_WORKERS_MAX + 1 + peer) : NULL;
	return *conn != NULL;
}

static void client_steps(struct sim_world *world, unsigned client)
{
	struct sim_values *values = world->values;
	size_t pending = values->pending[client];
	bool anew = connected_anew(world, client);

	if (!values->conns[client] || (!pending && !values->steps[client]))
		return;
	if (!pending)
		ask_new_one(world, client);
	else if (values->asks[pending - 1].keyed && (anew || draw(world, 20) == 0))
		ask_again(world, client, pending - 1);
	else if (anew)
		values->pending[client] = 0;     /* nobody knows whether it was done */
}

static void watch_send(struct sim_world *world, unsigned watcher)
{
	struct message *message = message_make(OP_VALUES_WATCH);

	message->number = world->values->watchers[watcher].told + 1;
	conn_to_master(world, world->values->conns[VALUE_CLIENTS + watcher], message);
}

static void note_run(struct sim_world *world)
{
	for (size_t i = 0; !world->values->run && i < world->graph_count; i++)
		if (world->graphs[i]->run && !world->graphs[i]->into && !world->graphs[i]->within)
			world->values->run = world->graphs[i]->run;
}

void values_step_peer(struct sim_world *world, uint32_t peer)
{
	struct sim_values *values = world->values;
	unsigned watcher = peer - VALUE_CLIENTS;

	plan(world, peer, values_asked_all(world) ? 5000 : 800);
	if (world->faults && values->conns[peer] && values->conns[peer]->peer_open && draw(world, 40) == 0) {
		conn_break(world, values->conns[peer]);
		return;
	}
	if (peer < VALUE_CLIENTS) {
		note_run(world);
		client_steps(world, peer);
	} else if (connected_anew(world, peer)) {
		values->watchers[watcher].synced = values->watchers[watcher].paging = false;
		watch_send(world, watcher);
	}
	if (!values->alone || !world->faults || !world->master.up)
		return;
	if (draw(world, 50) == 0)
		values_backup(world);
	else if (values->backup.made && draw(world, 80) == 0)
		values_restore(world);
}

void values_receive(struct sim_world *world, uint32_t peer, const struct message *message)
{
	struct sim_values *values = world->values;
	struct sim_watcher *watcher;
	size_t pending;

	if (message->op == OP_VALUES_CHANGED) {
		watcher = &values->watchers[peer - VALUE_CLIENTS];
		oracle_values_page(world, peer - VALUE_CLIENTS, message->page);
		watcher->synced = !message->page->compacted;
		if (message->page->compacted)
			watch_send(world, peer - VALUE_CLIENTS);
		return;
	}
	pending = values->pending[peer];
	/* An answer to the first of several requests with one key answers all of them. */
	if (pending && values->asks[pending - 1].first == values->asks[message->request - VALUE_ASKS].first)
		values->pending[peer] = 0;
}
