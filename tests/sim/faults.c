/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated faults, which happen only in the first phase of a schedule. Each schedule draws the kinds of fault that
 * it has: some bugs show best when one kind happens alone, others when few kinds meet.
 */
#include "sim.h"

static int64_t span(struct sim_world *world, int64_t hasty_ms, int64_t ms)
{
	return (int64_t)world_rand(world, (uint64_t)(world->hasty ? hasty_ms : ms)) * MS;
}

static struct sim_worker *some_worker(struct sim_world *world)
{
	return &world->workers[world_rand(world, world->worker_count)];
}

static void later(int64_t *until_ns, int64_t ns)
{
	if (ns > *until_ns)
		*until_ns = ns;
}

static void master_crash(struct sim_world *world)
{
	if (world->master.up)
		sim_master_crash(world);
}

static void master_pause(struct sim_world *world)
{
	world_note(world, "the master is paused");
	later(&world->master.paused_until_ns, world->now_ns + span(world, 15000, 100000));
	later(&world->stopped_until_ns, world->master.paused_until_ns);
}

/*
 * Let the transaction under way fail so that the master can't know whether it is on disk; then the master must end
 * itself.
 */
static void commit_fails(struct sim_world *world)
{
	world->master.commit_fails = true;
}

static void disk_full(struct sim_world *world)
{
	world_note(world, "the master's disk is full");
	later(&world->master.full_until_ns, world->now_ns + span(world, 20000, 60000));
}

static void slow_commits(struct sim_world *world)
{
	later(&world->master.slow_until_ns, world->now_ns + span(world, 20000, 60000));
}

static struct sim_conn *some_conn(struct sim_world *world)
{
	uint32_t who = (uint32_t)world_rand(world, world->worker_count + 1);

	return who == world->worker_count ? world->client_conn : world->workers[who].conn;
}

static void connection_break(struct sim_world *world)
{
	struct sim_conn *conn = some_conn(world);

	if (conn)
		conn_break(world, conn);
}

/* Reset a connection: each end notices it at its own time, and both may still receive what was under way. */
static void connection_reset(struct sim_world *world)
{
	struct sim_conn *conn = some_conn(world);

	if (conn)
		conn_reset(world, conn);
}

static void keeper_crash(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	if (worker->keeper_up)
		sim_worker_keeper_crash(world, worker, false);
}

static void machine_crash(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	if (worker->keeper_up)
		sim_worker_keeper_crash(world, worker, true);
}

static void link_crash_alone(struct sim_world *world)
{
	link_crash(world, some_worker(world), true);
}

static void keeper_pause(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	world_note(world, "%s: the keeper is paused", worker->name);
	later(&worker->paused_until_ns, world->now_ns + span(world, 12000, 90000));
	oracle_paused(world, worker);
}

static void link_pause(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	world_note(world, "%s: the link is paused", worker->name);
	later(&worker->link.paused_until_ns, world->now_ns + span(world, 12000, 90000));
}

static void machine_pause(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	world_note(world, "%s is paused", worker->name);
	later(&worker->paused_until_ns, world->now_ns + span(world, 12000, 90000));
	later(&worker->link.paused_until_ns, worker->paused_until_ns);
	oracle_paused(world, worker);
}

static void partition(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	world_note(world, "%s is cut off", worker->name);
	later(&worker->cut_until_ns, world->now_ns + span(world, 15000, 100000));
	if (worker->conn)
		conn_break(world, worker->conn);
}

/*
 * Delay all messages to, or all from, one worker until the partition ends. They arrive then if the connection still
 * exists.
 */
static void partition_one_way(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);
	bool deaf = world_chance(world, 500);

	world_note(world, "%s is %s", worker->name, deaf ? "deaf" : "mute");
	later(deaf ? &worker->deaf_until_ns : &worker->mute_until_ns, world->now_ns + span(world, 15000, 100000));
}

static void slow_network(struct sim_world *world)
{
	later(&world->slow_until_ns, world->now_ns + span(world, 20000, 60000));
}

static void spool_full(struct sim_world *world)
{
	struct sim_worker *worker = some_worker(world);

	world_note(world, "%s: its disk is full", worker->name);
	later(&worker->full_until_ns, world->now_ns + span(world, 10000, 60000));
}

static void (*const kinds[])(struct sim_world *world) = {
	master_crash, master_pause, commit_fails, disk_full, slow_commits, connection_break, connection_reset,
	keeper_crash, machine_crash, link_crash_alone, keeper_pause, link_pause, machine_pause, partition,
	partition_one_way, slow_network, spool_full, world_clock_set,
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void plan(struct sim_world *world, uint64_t kind, uint64_t within_ms)
{
	world_plan(world, (int64_t)world_rand(world, within_ms) * MS, HAPPENS_FAULT, 0)->a = kind;
}

void faults_begin(struct sim_world *world)
{
	bool all = world_chance(world, 250);

	for (uint64_t i = 0; i < KINDS && world->fault_percent; i++)
		if (all || world_chance(world, 400))
			plan(world, i, 60000);
}

void fault_happens(struct sim_world *world, uint64_t kind)
{
	if (!world->faults)
		return;
	kinds[kind](world);
	plan(world, kind, (world->hasty ? 100000 : 400000) / (world->fault_percent + 1));
}
