/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The limit of a tenant's queued jobs: a graph is accepted if the tenant has at most that many queued jobs with it, and
 * refused only if there would be more. Queued jobs are those that are neither active nor ended, sub-runs included. A
 * turn moves jobs before and after it takes a graph, so jobs that moved in this turn may count or not.
 */
#include "oracle.h"

static uint64_t with_subs(const struct sim_graph *graph)
{
	uint64_t count = graph->count;

	for (uint32_t i = 0; graph->subs && i < graph->count; i++)
		count += graph->subs[i] ? with_subs(graph->subs[i]) : 0;
	return count;
}

/*
 * Count the tenant's queued jobs. *ret_most also counts jobs that aren't durable yet, and those that may have begun
 * meanwhile.
 */
static void count_queued(struct sim_world *world, uint32_t tenant, uint64_t turn, uint64_t *ret_least, uint64_t *ret_most)
{
	*ret_least = *ret_most = 0;
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		if (oracle_root(graph)->tenant != tenant)
			continue;
		if (graph->admitted)
			*ret_most += with_subs(graph);
		for (uint32_t i = 0; graph->first && i < graph->count; i++) {
			const struct oracle_job *job = oracle_job(world, graph->first + i);
			const struct sim_graph *sub = graph->subs ? graph->subs[i] : NULL;
			bool moved = job->moved_turn == turn, out = state_has_attempt(job->decided);
			bool queued = !out && !state_terminal(job->decided);

			*ret_least += queued && !moved && job->decided != STATE_UNKNOWN;
			*ret_most += queued || moved || (sub && out);
			*ret_most += sub && (out || moved) ? with_subs(sub) : 0;
		}
	}
}

/* The graph that this frame accepts or refuses; NULL: the frame answers no submit. */
static struct sim_graph *answered_graph(const struct sim_world *world, const struct outgoing *frame)
{
	uint64_t id = frame->op == OP_ACCEPTED ? frame->accepted.id : frame->op == OP_ERROR ? frame->error.id : 0;

	return id > 0 && id <= world->graph_count ? world->graphs[id - 1] : NULL;
}

static void queued_turn(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_job)
			oracle_job(world, (uint64_t)outbox->rows[i].job.job)->moved_turn = outbox->turn;
	for (size_t i = 0; i < outbox->frame_count; i++) {
		struct sim_graph *graph = answered_graph(world, &outbox->frames[i]);

		if (graph && outbox->frames[i].op == OP_ACCEPTED && !outbox->frames[i].accepted.existing)
			graph->admitted = outbox->turn;
	}
}

static void check_answer(struct sim_world *world, const struct outgoing *frame, const struct sim_graph *graph, uint64_t turn)
{
	uint32_t tenant = oracle_root(graph)->tenant;
	uint64_t most = tenant ? world->oracle.tenants[tenant - 1].most : 0, least_there, most_there;

	if (frame->op == OP_ERROR && frame->error.code == ERR_BUSY && most == 0)
		world_fail(world, "a graph is refused for what queues, and its tenant has no limit");
	if (most == 0)
		return;
	count_queued(world, tenant, turn, &least_there, &most_there);
	if (frame->op == OP_ACCEPTED && !frame->accepted.existing && least_there + graph->count > most)
		world_fail(world, "%u jobs of tenant t%u are taken, %u queue, and %u is the most", graph->count, tenant,
			   (unsigned)least_there, (unsigned)most);
	if (frame->op == OP_ERROR && frame->error.code == ERR_BUSY && most_there + graph->count <= most)
		world_fail(world, "%u jobs of tenant t%u are refused, %u queue, and %u is the most", graph->count, tenant,
			   (unsigned)most_there, (unsigned)most);
}

static bool is_set(const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_tenant)
			return true;
	return false;
}

/*
 * Check the answers of the turn. If the turn also set a tenant, the limit at each answer isn't known: check
 * nothing.
 */
static void queued_decided(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->frame_count && !is_set(outbox); i++) {
		const struct sim_graph *graph = answered_graph(world, &outbox->frames[i]);

		if (graph)
			check_answer(world, &outbox->frames[i], graph, outbox->turn);
	}
}

static void queued_committed(struct sim_world *world, const struct outbox *outbox)
{
	for (size_t i = 0; i < world->graph_count; i++)
		if (world->graphs[i]->admitted <= outbox->turn)
			world->graphs[i]->admitted = 0;
}

static void queued_crash(struct sim_world *world)
{
	for (size_t i = 0; i < world->graph_count; i++)
		world->graphs[i]->admitted = 0;
}

const struct oracle_check oracle_queued = {
	.turn = queued_turn, .decided = queued_decided, .committed = queued_committed, .crash = queued_crash,
};
