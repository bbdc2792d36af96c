/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One binary heap of everything that is due, on the monotonic clock. Timers are never searched for:
 * one that isn't needed any more is counted as stale, dropped when it surfaces, and swept out with
 * its like when they are the majority.
 */
#include "core/internal.h"

bool timer_valid(const struct core *core, const struct timer *timer)
{
	const struct worker *worker;
	const struct job *job;

	if (timer->kind == TIMER_WORKER) {
		worker = worker_find(core, timer->id);
		return worker && worker->timer_stamp == timer->stamp;
	}
	if (timer->kind == TIMER_EXPIRY) {
		const struct gate *gate = gate_find(core, timer->id);

		return gate && gate->stamp == timer->stamp;
	}
	job = job_find(core, timer->id);
	if (!job || job->epoch != timer->stamp || job->round != timer->round)
		return false;
	switch ((enum timer_kind)timer->kind) {
	case TIMER_DUE:
		return job->state == STATE_DELAYED;
	default:
		return job->state == STATE_RUNNING;
	}
}

static void timer_up(struct timers *timers, size_t at)
{
	struct timer timer = timers->at[at];

	while (at > 0 && timers->at[(at - 1) / 2].due_ns > timer.due_ns) {
		timers->at[at] = timers->at[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	timers->at[at] = timer;
}

static void timer_down(struct timers *timers, size_t at)
{
	struct timer timer = timers->at[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= timers->count)
			break;
		if (child + 1 < timers->count && timers->at[child + 1].due_ns < timers->at[child].due_ns)
			child++;
		if (timers->at[child].due_ns >= timer.due_ns)
			break;
		timers->at[at] = timers->at[child];
		at = child;
	}
	timers->at[at] = timer;
}

static void timer_pop(struct timers *timers)
{
	timers->at[0] = timers->at[--timers->count];
	if (timers->count > 0)
		timer_down(timers, 0);
}

static void timers_compact(struct core *core)
{
	struct timers *timers = &core->timers;
	size_t kept = 0;

	for (size_t i = 0; i < timers->count; i++)
		if (timer_valid(core, &timers->at[i]))
			timers->at[kept++] = timers->at[i];
	timers->count = kept;
	timers->stale = 0;
	for (size_t i = kept / 2; i-- > 0;)
		timer_down(timers, i);
}

void timer_add(struct core *core, enum timer_kind kind, uint64_t id, uint64_t stamp, int64_t wait_ms)
{
	struct timers *timers = &core->timers;

	GROW(timers->at, timers->count, timers->cap);
	timers->at[timers->count++] = (struct timer){
		.due_ns = core->now.mono_ns + wait_ms * NS_PER_MS, .id = id, .stamp = stamp,
		.kind = (uint16_t)kind, .round = kind == TIMER_WORKER ? 0 : job_find(core, id)->round,
	};
	timer_up(timers, timers->count - 1);
}

void timer_stale(struct core *core)
{
	core->timers.stale++;
}

bool timer_take_due(struct core *core, struct timer *ret_timer)
{
	struct timers *timers = &core->timers;

	while (timers->count > 0 && timers->at[0].due_ns <= core->now.mono_ns) {
		struct timer timer = timers->at[0];

		timer_pop(timers);
		if (timer_valid(core, &timer)) {
			*ret_timer = timer;
			return true;
		}
		timers->stale--;
	}
	return false;
}

void timers_tidy(struct core *core)
{
	struct timers *timers = &core->timers;

	if (timers->stale > 64 && timers->stale > timers->count / 2)
		timers_compact(core);
	while (timers->count > 0 && timers->stale > 0 && !timer_valid(core, &timers->at[0])) {
		timer_pop(timers);
		timers->stale--;
	}
}
