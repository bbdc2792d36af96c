/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of workers by number, and the list of workers touched in this turn. */
#include "core/place/place.h"

#include "core/place/internal.h"
#include "core/view/view.h"

struct worker *worker_find(const struct core *core, uint64_t number)
{
	size_t low = 0, high = core->worker_count;

	/* Numbers are consecutive unless a worker was forgotten, so this guess is nearly always right. */
	if (number > 0 && number <= core->worker_count && core->workers[number - 1]->number == number)
		return core->workers[number - 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->workers[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < core->worker_count && core->workers[low]->number == number ? core->workers[low] : NULL;
}

struct worker *worker_new(struct core *core, uint64_t number, struct slice name, struct pool *pool)
{
	struct worker *worker = mem_zalloc(sizeof(*worker));

	CHECK(core->worker_count == 0 || core->workers[core->worker_count - 1]->number < number);
	worker->number = number;
	worker->name = mem_alloc(name.len + 1);
	memcpy(worker->name, name.data, name.len);
	worker->name[name.len] = '\0';
	worker->state = WORKER_UNREACHABLE;
	worker->pool = pool;
	GROW(core->workers, core->worker_count, core->worker_cap);
	core->workers[core->worker_count++] = worker;
	name_map_put(&core->worker_names, slice_str(worker->name), worker);
	return worker;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	mem_free(worker->name);
	mem_free(worker->machine);
	mem_free(worker->held);
	mem_free(worker->labels.at);
	mem_free(worker->offers);
	mem_free(worker->stuck);
	mem_free(worker);
}

void worker_touch(struct core *core, struct worker *worker)
{
	if (worker->touched)
		return;
	worker->touched = true;
	GROW(core->touched_workers, core->touched_worker_count, core->touched_worker_cap);
	core->touched_workers[core->touched_worker_count++] = worker;
}

unsigned worker_tally(const struct worker *worker)
{
	uint64_t busy = worker_busy(worker);
	unsigned tally = 1 << TALLY_THERE;

	if (worker->state == WORKER_LOST)
		return 0;
	if (worker->held_count - busy < (uint64_t)VIEW_PREFETCHED_ENOUGH * worker->slots)
		tally |= 1 << TALLY_FEW_PREFETCHED;
	return busy > 0 ? tally | 1 << TALLY_BUSY : tally;
}

void worker_count(struct core *core, struct worker *worker, unsigned tally)
{
	unsigned before = worker->tally;

	for (unsigned at = 0; at < TALLIES; at++)
		core->tallies[at] += (uint64_t)(tally >> at & 1) - (before >> at & 1);
	worker->tally = (uint8_t)tally;
}

uint64_t worker_depth(const struct core *core, const struct worker *worker)
{
	uint64_t span_us = (uint64_t)worker->slots * LIMIT_PREFETCH_SPAN_MS * 1000;
	uint64_t depth;

	if (core->prefetch_off || worker->results < EWMA_RESULTS)
		return 0;
	depth = span_us / (worker->run_us ? worker->run_us : 1);
	return depth < LIMIT_PREFETCH_MAX ? depth : LIMIT_PREFETCH_MAX;
}
