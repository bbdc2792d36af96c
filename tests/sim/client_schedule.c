/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules that people add, change, pause, fire and remove. People send some of them twice, and sometimes send a
 * different schedule with a key that was used before.
 */
#include "sim.h"

#include <stdio.h>

#include "base/mem.h"

/* With more graphs than this, people remove all schedules for good: every step takes time for each run. */
#define RUNS_ENOUGH 100

const char *const sim_schedule_names[SIM_SCHEDULES] = { "nightly", "often" };

static void minutes_draw(struct sim_world *world, struct sim_schedule *schedule)
{
	static const unsigned steps[] = { 1, 1, 1, 2, 3, 5 };
	unsigned step = steps[world_rand(world, 6)], first, second;

	if (world_chance(world, 700)) {
		for (unsigned minute = 0; minute < 60; minute += step)
			schedule->minutes |= UINT64_C(1) << minute;
		snprintf(schedule->cron, sizeof(schedule->cron), "*/%u", step);
		return;
	}
	first = (unsigned)world_rand(world, 60);
	second = (unsigned)world_rand(world, 60);
	schedule->minutes = UINT64_C(1) << first | UINT64_C(1) << second;
	snprintf(schedule->cron, sizeof(schedule->cron), "%u,%u", first, second);
}

/*
 * Choose the hours. If the schedule names hours, they are near the hour in which the world begins, so that the schedule
 * fires.
 */
static void hours_draw(struct sim_world *world, struct sim_schedule *schedule)
{
	static const int32_t offsets_s[] = { 0, 0, 3600, -18000, 19800, 49500 };
	size_t len = strlen(schedule->cron);
	unsigned hour;

	schedule->offset_s = offsets_s[world_rand(world, 6)];
	schedule->hours = (1U << 24) - 1;
	if (world_chance(world, 700)) {
		snprintf(schedule->cron + len, sizeof(schedule->cron) - len, " * * * *");
		return;
	}
	hour = (unsigned)((WALL_START_MS / 1000 + schedule->offset_s) / 3600 + (int64_t)world_rand(world, 2)) % 24;
	schedule->hours = 1U << hour | 1U << (hour + 1) % 24;
	snprintf(schedule->cron + len, sizeof(schedule->cron) - len, " %u,%u * * *", hour, (hour + 1) % 24);
}

static void zone_make(struct sim_schedule *schedule)
{
	for (unsigned i = 0; i < 4; i++)
		schedule->zone[8 + i] = (uint8_t)((uint32_t)schedule->offset_s >> (8 * i));
	if (schedule->offset_s)
		schedule->spec.zone = slice_make(schedule->zone, sizeof(schedule->zone));
}

static struct sim_schedule *schedule_add(struct sim_world *world)
{
	struct sim_schedule *schedule = mem_zalloc(sizeof(*schedule));

	world->schedules = mem_resize(world->schedules, world->schedule_count + 1, sizeof(struct sim_schedule *));
	world->schedules[world->schedule_count++] = schedule;
	return schedule;
}

static const struct sim_schedule *schedule_make(struct sim_world *world)
{
	const uint64_t unlike = UINT64_C(1) << FEATURE_tenants | UINT64_C(1) << FEATURE_concurrency |
				UINT64_C(1) << FEATURE_run_concurrency | UINT64_C(1) << FEATURE_locks;
	struct sim_schedule *schedule = schedule_add(world);

	schedule->name = (uint32_t)world_rand(world, SIM_SCHEDULES);
	schedule->graph = graph_make(&world->rand, world->schedule_count, 3, world->features & ~unlike,
				     NULL, NULL, 0);
	memcpy(schedule->digest, schedule->graph->digest, sizeof(schedule->digest));
	minutes_draw(world, schedule);
	hours_draw(world, schedule);
	zone_make(schedule);
	schedule->spec.cron = slice_str(schedule->cron);
	schedule->spec.overlap = world_rand(world, OVERLAP_ALLOW + 1);
	schedule->spec.catchup = world_rand(world, CATCHUP_SPAN + 1);
	if (schedule->spec.catchup == CATCHUP_ALL && schedule->spec.overlap == OVERLAP_ALLOW && world_rand(world, 10))
		/* with another overlap rule, a clock that is set ahead would start a hundred runs each time */
		schedule->spec.overlap = OVERLAP_SKIP;
	if (schedule->spec.catchup == CATCHUP_SPAN)
		schedule->spec.catchup_ms = world_rand(world, 2) ? 90000 : 1000 + world_rand(world, 7200000);
	return schedule;
}

/*
 * Make a different schedule with the key of one that was sent before. The master must notice that the digest
 * differs.
 */
static const struct sim_schedule *schedule_borrow(struct sim_world *world, const struct sim_schedule *of)
{
	struct sim_schedule *schedule = schedule_add(world);

	*schedule = *of;
	schedule->borrowed = true;
	schedule->digest[0] ^= 1;
	schedule->spec.cron = slice_str(schedule->cron);
	zone_make(schedule);
	schedule->spec.overlap = (of->spec.overlap + 1) % (OVERLAP_ALLOW + 1);
	return schedule;
}

static void schedule_send(struct sim_world *world, const struct sim_schedule *schedule)
{
	struct message *message = message_make(OP_SUBMIT);
	struct sim_act *act = client_act_new(world, &message->request);

	*act = (struct sim_act){ .kind = OBJECT_SCHEDULE, .set = SET_PUT, .object = schedule->name, .schedule = schedule };
	message->schedule = schedule;
	world_note(world, "a person puts schedule %s: %s, %d s, overlap %d, catchup %d%s", sim_schedule_names[schedule->name],
		   schedule->cron, (int)schedule->offset_s, (int)schedule->spec.overlap, (int)schedule->spec.catchup,
		   schedule->borrowed ? ", with the key of another" : "");
	conn_to_master(world, world->client_conn, message);
}

bool person_schedule(struct sim_world *world, const struct sim_graph *graph)
{
	static const enum set_verb verbs[] = { SET_PAUSE, SET_RESUME, SET_RESUME, SET_FIRE, SET_FIRE, SET_REMOVE };
	uint32_t name = (uint32_t)world_rand(world, SIM_SCHEDULES);
	const struct sim_schedule *said = world->oracle.schedules[name].said;

	(void)graph;
	if (!world->scheduling || !world->faults)
		return false;
	if (world->graph_count > RUNS_ENOUGH) {
		world->scheduling = false;
		client_tidy_schedules(world);
		return true;
	}
	if (!said || world_chance(world, 200))
		schedule_send(world, schedule_make(world));
	else if (world_chance(world, 200))
		schedule_send(world, world_chance(world, 500) ? schedule_borrow(world, said) : said);
	else
		client_set(world, OBJECT_SCHEDULE, verbs[world_rand(world, sizeof(verbs) / sizeof(verbs[0]))], name);
	return true;
}

void client_tidy_schedules(struct sim_world *world)
{
	for (uint32_t i = 0; i < SIM_SCHEDULES; i++)
		if (world->oracle.schedules[i].said)
			client_set(world, OBJECT_SCHEDULE, SET_REMOVE, i);
}

void client_schedule_free(struct sim_world *world)
{
	for (size_t i = 0; i < world->schedule_count; i++) {
		if (!world->schedules[i]->borrowed)
			graph_free(world->schedules[i]->graph);
		mem_free(world->schedules[i]);
	}
	mem_free(world->schedules);
}
