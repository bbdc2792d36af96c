/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a worker may have the jobs of a class and has room for one now, and how busy the worker is. */
#include "core/place/place.h"

#include "base/planted.h"
#include "core/place/internal.h"
#include "core/queue/queue.h"

#define SHARE_ONE 1000
#define LATENCY_STEP_US 10000

static uint64_t share(uint64_t permille)
{
	/* Round down to steps of 10, so that background noise on a machine doesn't decide between equal workers. */
	return (permille < SHARE_ONE ? permille : SHARE_ONE) / 10 * 10;
}

uint64_t worker_score(const struct worker *worker)
{
	uint64_t latency = worker->start_us / LATENCY_STEP_US;

	return (worker->held_count - worker->unreserved) * SHARE_ONE / (PLANTED(score_by_count) ? 4 : worker->slots) +
	       share(worker->cpu_permille) +
	       share(worker->gpu_permille) + (latency < 100 ? latency : 100);
}

bool worker_overloaded(const struct worker *worker)
{
	return worker_busy(worker) * SHARE_ONE >= (uint64_t)LIMIT_OVERLOAD_PERMILLE * worker->slots ||
	       (!PLANTED(overload_by_slots_alone) &&
		(worker->cpu_permille >= LIMIT_OVERLOAD_PERMILLE || worker->gpu_permille >= LIMIT_OVERLOAD_PERMILLE));
}

bool class_allows(const struct worker *worker, const struct ready_class *class)
{
	return worker_serves(worker) && worker_can(worker, class);
}

/* Check that the worker keeps enough free for the job that reserved it, if a job with these wants starts there. */
static bool spares_reserved(const struct core *core, const struct worker *worker, const struct wants *wants)
{
	const struct wants *kept = core->classes[worker->reserved_class]->wants;

	for (size_t i = 0; wants && i < wants->ask_count; i++) {
		const struct resource *ask = &wants->asks[i];
		const struct resource *other = resource_find(kept->asks, kept->ask_count, ask->name);
		const struct resource *offer = resource_find(worker->offers, worker->offer_count, ask->name);

		if (other && offer->used + ask->amount + other->amount > offer->amount)
			return false;
	}
	return true;
}

bool worker_takes(const struct core *core, const struct worker *worker, uint16_t class_at)
{
	const struct wants *wants = core->classes[class_at]->wants;

	if (worker->held_count - worker->unreserved >= worker->slots ||
	    worker->held_count >= (uint64_t)worker->slots + LIMIT_PREFETCH_MAX || !wants_fit(worker, wants))
		return false;
	return worker->reserved == 0 || worker->reserved_class == class_at || PLANTED(nothing_kept_for_large_jobs) ||
	       spares_reserved(core, worker, wants);
}

bool class_served(const struct core *core, struct ready_class *class)
{
	if (class->served_as_of == core->serving)
		return class->served;
	class->served_as_of = core->serving;
	class->served = false;
	for (size_t i = 0; i < core->worker_count && !class->served; i++)
		class->served = class_allows(core->workers[i], class);
	return class->served;
}

/*
 * Check whether a steady worker may have jobs of this class, even if it is busy now. While there is one, flapping
 * workers are passed over.
 */
bool class_steady(const struct core *core, const struct ready_class *class)
{
	for (size_t i = 0; i < core->worker_count; i++)
		if (class_allows(core->workers[i], class) && !worker_rests(core, core->workers[i]))
			return true;
	return false;
}
