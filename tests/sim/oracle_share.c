/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shares of tenants: no tenant has more active jobs than its limit, whatever people set meanwhile. And if two tenants
 * both have jobs waiting, each gets a number in proportion to its weight, within one job. The second is checked in
 * worlds where jobs differ only in their tenants (fair).
 */
#include "oracle.h"

const char *const graph_tenant_names[SIM_TENANTS] = { "t1", "t2", "t3" };

static uint32_t tenant_index(struct slice name)
{
	uint32_t i = 0;

	while (i < SIM_TENANTS && !slice_eq(name, slice_str(graph_tenant_names[i])))
		i++;
	return i;
}

static void share_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	const struct sim_graph *given = map_get(&world->oracle.runs, assign->run);
	uint64_t out = 0;
	uint32_t limit;

	(void)job;
	if (!given || given->tenant == 0)
		return;
	world->oracle.tenants[given->tenant - 1].given++;
	limit = world->oracle.tenants[given->tenant - 1].limit;
	for (size_t at = 0; limit && at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		for (uint32_t i = 0; graph->first && oracle_root(graph)->tenant == given->tenant && i < graph->count; i++)
			out += !(graph->subs && graph->subs[i]) &&
			       state_has_attempt(oracle_job(world, graph->first + i)->decided);
	}
	if (out > limit)
		world_fail(world, "%u jobs of tenant t%u are out, and %u is the most", (unsigned)out, given->tenant, limit);
}

static void note_tenant(struct sim_world *world, const struct row_tenant *row, bool deleted)
{
	uint32_t at = tenant_index(row->name);
	uint32_t weight = deleted ? 1 : (uint32_t)row->weight;

	if (at == SIM_TENANTS)
		return;
	if (weight != world->oracle.tenants[at].weight)
		memset(world->oracle.shares, 0, sizeof(world->oracle.shares));
	if (weight < world->oracle.tenants[at].least || world->oracle.tenants[at].least == 0)
		world->oracle.tenants[at].least = weight;
	world->oracle.tenants[at].weight = weight;
	world->oracle.tenants[at].limit = deleted ? 0 : (uint32_t)row->max_jobs;
	world->oracle.tenants[at].most = deleted ? 0 : (uint32_t)row->max_queued;
}

static bool is_as_said(const struct oracle_tenant *tenant, const struct sim_act *act)
{
	if (act->set != SET_PUT)
		return tenant->weight == 1 && tenant->limit == 0 && tenant->most == 0;
	return tenant->weight == TENANT_WEIGHT(act->number) && tenant->limit == TENANT_LIMIT(act->number) &&
	       tenant->most == TENANT_MOST(act->number);
}

static void share_turn(struct sim_world *world, const struct outbox *outbox)
{
	const struct sim_act *last[SIM_TENANTS] = { NULL };
	/* changes of each tenant without an act in this turn: its first run sets it once */
	uint32_t changes[SIM_TENANTS + 1] = { 0 };

	for (uint32_t i = 0; i < SIM_TENANTS; i++)
		world->oracle.tenants[i].given = 0;
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_tenant) {
			note_tenant(world, &outbox->rows[i].tenant, outbox->rows[i].deleted);
			changes[tenant_index(outbox->rows[i].tenant.name)]++;
		}
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];
		const struct sim_act *act = frame->op == OP_OK && frame->ok.id >= ACT_BASE ? &world->acts[frame->ok.id - ACT_BASE]
											    : NULL;

		if (act && act->kind == OBJECT_TENANT) {
			last[act->object] = act;
			changes[act->object]--;
		}
	}
	for (uint32_t i = 0; i < SIM_TENANTS; i++)
		if (last[i] && changes[i] == 0 && !is_as_said(&world->oracle.tenants[i], last[i]))
			world_fail(world, "tenant t%u isn't what a person was told", i + 1);
}

/* ---- by weight ---- */

static bool has_waiting(struct sim_world *world, uint32_t tenant)
{
	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		if (!graph->first || oracle_root(graph)->tenant != tenant + 1 ||
		    map_get(&world->oracle.held_runs, graph->durable_run))
			continue;
		for (uint32_t i = 0; i < graph->count; i++) {
			const struct oracle_job *job = oracle_job(world, graph->first + i);

			if (!job->held_decided && (job->moved ? job->decided == STATE_READY : graph->jobs[i].needs.n == 0))
				return true;
		}
	}
	return false;
}

static void check_pair(struct sim_world *world, uint32_t a, uint32_t b)
{
	const struct oracle_tenant *x = &world->oracle.tenants[a], *y = &world->oracle.tenants[b];
	struct oracle_share_pair *pair = &world->oracle.shares[a * SIM_TENANTS + b];
	int64_t ahead, bound;

	if (!has_waiting(world, a) || !has_waiting(world, b)) {
		*pair = (struct oracle_share_pair){ 0 };
		return;
	}
	pair->a += x->given;
	pair->b += y->given;
	/*
	 * Compare a/weight_a with b/weight_b within one job each; both sides are multiplied by both weights. A weight
	 * may have been smaller before, so the smallest one counts.
	 */
	bound = x->weight * y->weight / (x->least ? x->least : 1) + x->weight * y->weight / (y->least ? y->least : 1) + 1;
	ahead = (int64_t)(pair->a * y->weight) - (int64_t)(pair->b * x->weight);
	if (ahead > bound || ahead < -bound)
		world_fail(world, "tenants t%u and t%u, of weights %u and %u, got %u and %u jobs while both had more", a + 1, b + 1,
			   x->weight, y->weight, (unsigned)pair->a, (unsigned)pair->b);
}

static void share_decided(struct sim_world *world, const struct outbox *outbox)
{
	(void)outbox;
	for (uint32_t a = 0; world->fair && a < SIM_TENANTS; a++)
		for (uint32_t b = a + 1; b < SIM_TENANTS; b++)
			check_pair(world, a, b);
}

static void share_crash(struct sim_world *world)
{
	memset(world->oracle.shares, 0, sizeof(world->oracle.shares));
	for (uint32_t i = 0; i < SIM_TENANTS; i++) {
		const struct row *row = disk_get_text(&world->disk, TABLE_tenant, slice_str(graph_tenant_names[i]));

		world->oracle.tenants[i] = (struct oracle_tenant){ .weight = row ? (uint32_t)row->tenant.weight : 1,
								   .least = row ? (uint32_t)row->tenant.weight : 0,
								   .limit = row ? (uint32_t)row->tenant.max_jobs : 0,
								   .most = row ? (uint32_t)row->tenant.max_queued : 0 };
	}
}

const struct oracle_check oracle_share = {
	.turn = share_turn, .given = share_given, .decided = share_decided, .crash = share_crash,
};
