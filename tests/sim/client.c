/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A client that submits graphs, some of them twice, repeats what wasn't answered with the same key, and
 * cancels runs now and then.
 */
#include "sim.h"

#include "base/mem.h"

#define CANCEL_BASE UINT64_C(1000000)

static void send_graph(struct sim_world *world, struct sim_graph *graph, uint64_t index)
{
	struct message *message = message_make(OP_SUBMIT);

	message->graph = graph;
	message->request = index + 1;
	conn_to_master(world, world->client_conn, message);
}

static void send_cancel(struct sim_world *world, struct sim_graph *graph, uint64_t index)
{
	struct message *message = message_make(OP_ACT);

	graph->cancel_sent = true;
	message->run = graph->run;
	message->request = CANCEL_BASE + index;
	world_note(world, "the client cancels run %u", (unsigned)graph->run);
	conn_to_master(world, world->client_conn, message);
}

static void new_graph(struct sim_world *world)
{
	uint32_t most = world_chance(world, 50) ? 120 : 14;

	world->graphs = mem_resize(world->graphs, world->graph_count + 1, sizeof(struct sim_graph *));
	world->graphs[world->graph_count] = graph_make(&world->rand, world->graph_count + 1, most);
	world->graph_count++;
	send_graph(world, world->graphs[world->graph_count - 1], world->graph_count - 1);
}

/* True if it was; if not, it may be from now on. */
static bool connected(struct sim_world *world)
{
	if (world->client_conn && world->client_conn->peer_open)
		return true;
	world->client_conn = world->master.up ? conn_make(world, SIM_WORKERS_MAX) : NULL;
	return false;
}

void client_step(struct sim_world *world)
{
	uint64_t pick;

	/* In the end a person settles what nobody knows. */
	if (client_at_rest(world)) {
		world_plan(world, 10 * NS_PER_S, HAPPENS_CLIENT, SIM_WORKERS_MAX);
		for (size_t i = 0; !world->faults && connected(world) && i < world->graph_count; i++)
			if (world->graphs[i]->run && oracle_run_unknown(world, world->graphs[i]->run))
				send_cancel(world, world->graphs[i], i);
		return;
	}
	world_plan(world, (int64_t)(1 + world_rand(world, 1500)) * MS, HAPPENS_CLIENT, SIM_WORKERS_MAX);
	if (world->client_steps)
		world->client_steps--;
	if (!connected(world)) {
		for (size_t i = 0; i < world->graph_count; i++)
			if (!world->graphs[i]->answered)
				send_graph(world, world->graphs[i], i);
		return;
	}
	if (world->graph_count < world->graph_target) {
		new_graph(world);
		return;
	}
	pick = world_rand(world, world->graph_count);
	if (!world->graphs[pick]->answered || world_chance(world, 200))
		send_graph(world, world->graphs[pick], pick);    /* an impatient or forgetful client */
	else if (world->graphs[pick]->run && world_chance(world, 150))
		send_cancel(world, world->graphs[pick], pick);
}

void client_receive(struct sim_world *world, const struct message *message)
{
	struct sim_graph *graph;

	if (message->request >= CANCEL_BASE) {
		graph = world->graphs[message->request - CANCEL_BASE];
		if (message->op == OP_OK)
			oracle_cancelled(world, graph->run);
		return;
	}
	graph = world->graphs[message->request - 1];
	graph->answered = true;
	if (message->op == OP_ACCEPTED)
		oracle_accepted(world, graph, message->run);
	else if (!graph->invalid && message->op == OP_ERROR)
		world_fail(world, "a valid graph was refused");
}

bool client_at_rest(const struct sim_world *world)
{
	if (world->graph_count < world->graph_target || world->client_steps)
		return false;
	for (size_t i = 0; i < world->graph_count; i++)
		if (!world->graphs[i]->answered)
			return false;
	return true;
}
