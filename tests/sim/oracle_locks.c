/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks: after each turn nobody, job or person, has a lock together with an exclusive owner. A person's lock
 * doesn't expire early, and each fencing number is larger than all that were given out before. What people have is
 * known from their answers, and after a crash from rows; what jobs have is known from their states.
 */
#include "oracle.h"

/* tolerance: clocks are read in whole milliseconds, before and after the reboot */
#define REBOOT_MS 10

static bool has(enum job_state state)
{
	return state_has_attempt(state) || state == STATE_UNKNOWN;
}

struct holding {
	uint32_t all, alone;
};

static void count_jobs(struct sim_world *world, const struct sim_graph *graph, uint64_t first, unsigned lock,
		       struct holding *holding)
{
	bool shared = false;

	for (uint32_t at = 0; at < graph->count; at++) {
		if (!graph_names_lock(&graph->jobs[at], lock, &shared) || !has(oracle_job(world, first + at)->decided))
			continue;
		holding->all++;
		holding->alone += !shared;
	}
}

static void check_lock(struct sim_world *world, unsigned lock)
{
	struct holding holding = { 0 };
	size_t cursor = 0;
	uint64_t run;
	void *value;

	for (unsigned owner = 0; owner < SIM_OWNERS; owner++) {
		holding.all += world->oracle.holds[lock][owner].fence != 0;
		holding.alone += world->oracle.holds[lock][owner].fence != 0 && !world->oracle.holds[lock][owner].shared;
	}
	for (size_t i = 0; i < world->graph_count; i++)
		if (world->graphs[i]->decided.run)
			count_jobs(world, world->graphs[i], world->graphs[i]->decided.first, lock, &holding);
	/* Count the jobs of sub-runs, too, once these are durable. */
	while (map_next(&world->oracle.runs, &cursor, &run, &value)) {
		const struct row *row = ((const struct sim_graph *)value)->within ? disk_get(&world->disk, TABLE_run, run) : NULL;

		if (row)
			count_jobs(world, value, (uint64_t)row->run.first, lock, &holding);
	}
	if (holding.alone > 0 && holding.all > 1)
		world_fail(world, "%u have lock %s, and %u of them alone", holding.all, graph_lock_names[lock], holding.alone);
}

static void taken(struct sim_world *world, const struct sim_act *act, uint64_t fence)
{
	struct oracle_hold *hold = &world->oracle.holds[act->object][LOCK_OWNER(act->number)];

	if (hold->fence ? fence != hold->fence : fence <= world->oracle.fence)
		world_fail(world, "lock %s has the fencing number %llu behind %llu", graph_lock_names[act->object],
			   (unsigned long long)fence, (unsigned long long)(hold->fence ? hold->fence : world->oracle.fence));
	*hold = (struct oracle_hold){ .fence = fence, .ttl_ms = LOCK_TTL_MS(act->number), .shared = LOCK_SHARED(act->number),
				      .since_ns = world->now_ns };
	if (fence > world->oracle.fence)
		/* fences answered in this turn are compared with the largest one before the turn */
		world->oracle.fence = fence;
}

static struct oracle_hold *hold_of(struct oracle_hold holds[SIM_LOCKS][SIM_OWNERS], const struct row_lock_hold *row)
{
	for (unsigned lock = 0; lock < SIM_LOCKS; lock++)
		for (unsigned owner = 0; owner < SIM_OWNERS; owner++)
			if (slice_eq(row->lock, slice_str(graph_lock_names[lock])) &&
			    slice_eq(row->owner, slice_str(graph_owner_names[owner])))
				return &holds[lock][owner];
	return NULL;
}

/* Check that a lock that ended by itself, without being dropped, had reached its time limit. */
static void ended(struct sim_world *world, struct oracle_hold *hold)
{
	bool known = hold->since_ns > 0 && (world->oracle.wrong_ns == 0 || world->oracle.wrong_ns < hold->since_ns);
	int64_t unsure_ms = world->boots && world->boot_ns >= hold->since_ns ? REBOOT_MS : 0;

	if (hold->ttl_ms == 0 || (known && world->now_ns < hold->since_ns + ((int64_t)hold->ttl_ms - unsure_ms) * MS))
		world_fail(world, "a lock that a person has ends before its time");
	hold->fence = 0;
}

static void locks_turn(struct sim_world *world, const struct outbox *outbox)
{
	/* Check the locks as the turn before this one left them. */
	for (unsigned lock = 0; lock < SIM_LOCKS; lock++)
		check_lock(world, lock);
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];
		const struct sim_act *act = frame->op == OP_OK && frame->ok.id >= ACT_BASE ? &world->acts[frame->ok.id - ACT_BASE]
											    : NULL;

		if (!act || act->kind != OBJECT_LOCK)
			continue;
		if (act->set == SET_TAKE)
			taken(world, act, frame->ok.number);
		else
			world->oracle.holds[act->object][LOCK_OWNER(act->number)].fence = 0;
	}
	for (size_t i = 0; i < outbox->row_count; i++) {
		const struct row *row = &outbox->rows[i];
		struct oracle_hold *hold = row->table == TABLE_lock_hold ? hold_of(world->oracle.holds, &row->lock_hold) : NULL;

		if (hold && row->deleted && hold->fence == (uint64_t)row->lock_hold.fence)
			ended(world, hold);
	}
}

static void locks_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	struct oracle_hold *hold = row->table == TABLE_lock_hold ? hold_of(world->oracle.holds_durable, &row->lock_hold) : NULL;

	(void)job;
	(void)outbox;
	if (hold)
		*hold = (struct oracle_hold){ .fence = (uint64_t)row->lock_hold.fence, .ttl_ms = (uint64_t)row->lock_hold.ttl_ms,
					      .shared = row->lock_hold.shared != 0, .since_ns = world->oracle.decided_ns };
}

static void locks_crash(struct sim_world *world)
{
	memset(world->oracle.holds, 0, sizeof(world->oracle.holds));
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if (row->table == TABLE_lock_hold)
			*hold_of(world->oracle.holds, &row->lock_hold) = *hold_of(world->oracle.holds_durable, &row->lock_hold);
	}
	/* Fencing numbers in answers that were never sent don't count. */
	world->oracle.fence = 0;
	for (size_t i = 0; i < world->act_count; i++)
		if (world->acts[i].kind == OBJECT_LOCK && world->acts[i].fence > world->oracle.fence)
			world->oracle.fence = world->acts[i].fence;
}

const struct oracle_check oracle_locks = { .turn = locks_turn, .row = locks_row, .crash = locks_crash };
