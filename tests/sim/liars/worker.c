/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lying workers: they report what could be true, what was true once, or what never can be true. */
#include "tests/sim/liars/liars.h"

#define HELD_MOST 20
#define TOLD_MOST 4
#define LATEST 12

static bool honest(struct liars *liars)
{
	return chance(liars, liars->honesty);
}

static unsigned any_worker(struct liars *liars)
{
	return (unsigned)below(liars, LIARS_WORKERS);
}

/*
 * Return an attempt to report. An honest worker reports one of its own; a lying one any worker's attempt, sometimes
 * with a later epoch or with the number of another job.
 */
static struct rig_attempt any_attempt(struct liars *liars, unsigned worker)
{
	size_t known = liars->given_count < LIARS_GIVEN ? liars->given_count : LIARS_GIVEN, back;
	struct rig_attempt attempt = { .job = 1, .epoch = 1 };
	bool own = honest(liars);

	if (known == 0)
		return attempt;
	back = below(liars, known > LATEST && chance(liars, 80) ? LATEST : known);
	while (own && back + 1 < known && liars->given_to[(liars->given_count - 1 - back) % LIARS_GIVEN] != worker)
		back++;
	attempt = liars->given[(liars->given_count - 1 - back) % LIARS_GIVEN];
	if (!own && chance(liars, 6))
		attempt.epoch++;
	if (!own && chance(liars, 4))
		attempt.job = below(liars, 100);
	return attempt;
}

static int64_t any_wall_ms(struct liars *liars)
{
	static const int64_t absurd[] = { 0, -1, 1, INT64_MAX, INT64_MIN, INT64_MAX / 2 };

	if (honest(liars) || chance(liars, 40))
		return liars->rig->now.wall_ms;
	return absurd[below(liars, sizeof(absurd) / sizeof(*absurd))];
}

static uint64_t any_number(struct liars *liars)
{
	static const uint64_t absurd[] = { UINT64_MAX, INT64_MAX, 0 };

	if (honest(liars) || chance(liars, 40))
		return below(liars, 1000);
	return absurd[below(liars, sizeof(absurd) / sizeof(*absurd))];
}

static uint64_t any_phase(struct liars *liars)
{
	return honest(liars) || chance(liars, 50) ? PHASE_RUNNING : below(liars, PHASE_ENDED + 2);
}

static size_t any_held(struct liars *liars, unsigned worker, struct rec_held held[HELD_MOST])
{
	size_t count = chance(liars, 30) ? 0 : below(liars, HELD_MOST);

	for (size_t i = 0; i < count; i++) {
		struct rig_attempt attempt = any_attempt(liars, worker);

		held[i] = (struct rec_held){ .job = attempt.job, .epoch = attempt.epoch, .phase = any_phase(liars) };
	}
	return count;
}

void worker_comes(struct liars *liars)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO };
	struct slice labels[] = { slice_str("la") }, offers[] = { slice_str("cpus=4000"), slice_str("gpus=1") };
	struct rec_held held[HELD_MOST] = { 0 };
	unsigned worker = any_worker(liars);
	char name[8];

	if (liars->conns[worker] && chance(liars, 70))
		return;
	snprintf(name, sizeof(name), "w%u", worker);
	input.conn = liars->conns[worker] = ++liars->rig->conn;
	input.hello = (struct input_hello){
		.name = slice_str(name), .pid = 9, .held = held, .held_count = any_held(liars, worker, held),
		.instance = slice_str(chance(liars, 80) ? "0123456789abcdef" : "x"),
		.slots = 1 + below(liars, chance(liars, 80) ? 4 : LIMIT_SLOTS_MAX),
		.labels = { labels, below(liars, 2) }, .offers = { offers, below(liars, 3) },
		.pool = slice_str(chance(liars, 50) ? "p1" : ""), .contexts = below(liars, 40) };
	tell(liars, "%s says hello and has %zu", name, input.hello.held_count);
	for (size_t i = 0; i < input.hello.held_count; i++)
		tell(liars, "    job %llu epoch %llx phase %d", (unsigned long long)held[i].job,
		     (unsigned long long)held[i].epoch, (int)held[i].phase);
	rig_step(liars->rig, &input);
}

void worker_goes(struct liars *liars)
{
	unsigned worker = any_worker(liars);

	if (!liars->conns[worker])
		return;
	tell(liars, "w%u is gone", worker);
	rig_gone(liars->rig, liars->conns[worker]);
	liars->conns[worker] = 0;
}

void worker_starts(struct liars *liars)
{
	struct core_input input = { .kind = INPUT_STARTED };
	struct rec_started started[TOLD_MOST];
	unsigned worker = any_worker(liars);

	if (!liars->conns[worker])
		return;
	input.conn = liars->conns[worker];
	input.started.at = started;
	input.started.n = 1 + below(liars, TOLD_MOST);
	for (size_t i = 0; i < input.started.n; i++) {
		struct rig_attempt attempt = any_attempt(liars, worker);

		started[i] = (struct rec_started){ .job = attempt.job, .epoch = attempt.epoch, .pid = 4,
						   .wall_ms = any_wall_ms(liars) };
		tell(liars, "w%u has started job %llu epoch %llx at %lld", worker, (unsigned long long)attempt.job,
		     (unsigned long long)attempt.epoch, (long long)started[i].wall_ms);
	}
	rig_step(liars->rig, &input);
}

void worker_ends(struct liars *liars)
{
	struct core_input input = { .kind = INPUT_DONE };
	struct rec_done done[TOLD_MOST];
	unsigned worker = any_worker(liars);

	if (!liars->conns[worker])
		return;
	input.conn = liars->conns[worker];
	input.done.at = done;
	input.done.n = 1 + below(liars, TOLD_MOST);
	for (size_t i = 0; i < input.done.n; i++) {
		struct rig_attempt attempt = any_attempt(liars, worker);

		done[i] = (struct rec_done){ .job = attempt.job, .epoch = attempt.epoch,
			.outcome = chance(liars, 70) ? OUTCOME_EXIT : below(liars, OUTCOME_COUNT + 2),
			.code = chance(liars, 75) ? 0 : any_number(liars), .started_ms = any_wall_ms(liars),
			.ended_ms = any_wall_ms(liars), .run_ns = any_number(liars), .cpu_us = any_number(liars),
			.rss_kib = any_number(liars), .out_bytes = any_number(liars) };
		tell(liars, "w%u says job %llu epoch %llx ended: outcome %d code %llu", worker,
		     (unsigned long long)attempt.job, (unsigned long long)attempt.epoch, (int)done[i].outcome,
		     (unsigned long long)done[i].code);
	}
	rig_step(liars->rig, &input);
}

void worker_beats(struct liars *liars)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT };
	unsigned worker = any_worker(liars);

	if (!liars->conns[worker])
		return;
	input.conn = liars->conns[worker];
	input.heartbeat = (struct msg_heartbeat){ .cpu_permille = any_number(liars), .gpu_permille = any_number(liars),
						  .start_us = any_number(liars), .ending = chance(liars, 2) };
	tell(liars, "w%u sends a heartbeat", worker);
	rig_step(liars->rig, &input);
}
