/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One binary heap of all timers, keyed on the monotonic clock. A timer is never searched for: one that is no longer
 * needed is counted as stale, dropped when it reaches the top, and swept when the majority is stale. A timer on
 * another clock is placed by that clock's present offset, checked again before it fires, and placed anew when a clock
 * was set (steady.c).
 */
#include "core/time/time.h"

#include "core/graph/graph.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/time/internal.h"

bool timer_valid(const struct core *core, const struct timer *timer)
{
	const struct worker *worker;
	const struct job *job;

	if (timer->kind == TIMER_WORKER) {
		worker = worker_find(core, timer->id);
		return worker && worker->timer_stamp == timer->stamp;
	}
	if (timer->kind == TIMER_REST) {
		worker = worker_find(core, timer->id);
		return worker && worker->resting && worker->rest_stamp == timer->stamp;
	}
	if (timer->kind == TIMER_LOCK)
		return map_get(&core->lock_stamps, timer->id) != NULL;
	if (timer->kind == TIMER_VALUE)
		return map_get(&core->value_stamps, timer->id) != NULL;
	if (timer->kind == TIMER_SCHEDULE)
		return schedule_by_stamp(core, timer->id) != NULL;
	if (timer->kind == TIMER_EXPIRY) {
		const struct gate *gate = gate_find(core, timer->id);

		return gate && gate->stamp == timer->stamp;
	}
	job = job_find(core, timer->id);
	if (!job || job->round != timer->round)
		return false;
	/* Deadline and ending timers exist beside the timer of the job's state, at most one of each in a round. */
	if (timer->kind == TIMER_DEADLINE)
		return (job->flags & JOB_DEADLINE) != 0;
	if (timer->kind == TIMER_ENDING)
		return (job->flags & JOB_ENDING) != 0;
	if (job->epoch != timer->stamp)
		return false;
	switch ((enum timer_kind)timer->kind) {
	case TIMER_DUE:
		return job->state == STATE_DELAYED;
	case TIMER_DISPATCH:
		return job->state == STATE_READY;
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
	timers->lost = false;
	for (size_t i = kept / 2; i-- > 0;)
		timer_down(timers, i);
}

static int64_t clamp_ms(int64_t wait_ms)
{
	int64_t most_ms = LIMIT_SPAN_MAX_S * INT64_C(1000);

	return wait_ms < -most_ms ? -most_ms : wait_ms > most_ms ? most_ms : wait_ms;
}

/*
 * Return a timer's due time on the monotonic clock, by the clocks as they stand. With both a steady and a wall time,
 * a deadline takes the earlier, any other kind the later.
 */
static int64_t timer_place(const struct core *core, const struct timer *timer)
{
	int64_t steady_ns = core->now.mono_ns +
		clamp_ms(timer->steady_ms - core->steady.base_ms - core->now.boot_ns / NS_PER_MS) * NS_PER_MS -
		core->now.boot_ns % NS_PER_MS;
	int64_t date_ns = core->now.mono_ns + clamp_ms(timer->date_ms - core->now.wall_ms) * NS_PER_MS;

	if (timer->steady_ms == 0 && timer->date_ms == 0)
		return timer->due_ns;
	if (timer->date_ms == 0)
		return steady_ns;
	if (timer->steady_ms == 0)
		return date_ns;
	if (timer->kind == TIMER_DEADLINE)
		return steady_ns < date_ns ? steady_ns : date_ns;
	return steady_ns > date_ns ? steady_ns : date_ns;
}

void timers_rekey(struct core *core)
{
	struct timers *timers = &core->timers;

	for (size_t i = 0; i < timers->count; i++)
		timers->at[i].due_ns = timer_place(core, &timers->at[i]);
	for (size_t i = timers->count / 2; i-- > 0;)
		timer_down(timers, i);
}

static void timer_push(struct core *core, struct timer timer)
{
	struct timers *timers = &core->timers;

	GROW(timers->at, timers->count, timers->cap);
	timers->at[timers->count++] = timer;
	timer_up(timers, timers->count - 1);
}

void timer_add_date(struct core *core, enum timer_kind kind, uint64_t id, int64_t date_ms)
{
	struct timer timer = { .id = id, .stamp = id, .date_ms = date_ms, .kind = (uint16_t)kind };

	timer.due_ns = timer_place(core, &timer);
	timer_push(core, timer);
}

void timer_add_steady(struct core *core, enum timer_kind kind, uint64_t id, int64_t due_ms)
{
	struct timer timer = { .id = id, .stamp = id, .steady_ms = due_ms, .kind = (uint16_t)kind };

	timer.due_ns = timer_place(core, &timer);
	timer_push(core, timer);
}

static uint64_t timer_stamp(const struct core *core, enum timer_kind kind, const struct job *job)
{
	return kind == TIMER_EXPIRY ? gate_find(core, job_serial(job))->stamp : job->epoch;
}

void timer_add_due(struct core *core, enum timer_kind kind, const struct job *job, int64_t due_ms, int64_t date_ms)
{
	struct timer timer = {
		.id = job_serial(job), .stamp = timer_stamp(core, kind, job), .steady_ms = due_ms, .date_ms = date_ms,
		.kind = (uint16_t)kind, .round = job->round, .due_ns = core->now.mono_ns,
	};

	timer.due_ns = timer_place(core, &timer);
	timer_push(core, timer);
}

void timer_add(struct core *core, enum timer_kind kind, uint64_t id, uint64_t stamp, int64_t wait_ms)
{
	timer_push(core, (struct timer){
		.due_ns = core->now.mono_ns + wait_ms * NS_PER_MS, .id = id, .stamp = stamp, .kind = (uint16_t)kind,
	});
}

void timer_stale(struct core *core)
{
	core->timers.stale++;
}

/*
 * Drop stale timers before an unknown job returns: it keeps its epoch, so a timer from before its loss would look
 * valid.
 */
void timers_drop_lost(struct core *core)
{
	if (core->timers.lost)
		timers_compact(core);
}

bool timer_take_due(struct core *core, struct timer *ret_timer)
{
	struct timers *timers = &core->timers;

	while (timers->count > 0 && timers->at[0].due_ns <= core->now.mono_ns) {
		struct timer timer = timers->at[0];

		timer_pop(timers);
		if (!timer_valid(core, &timer)) {
			timers->stale--;
			continue;
		}
		timer.due_ns = timer_place(core, &timer);
		if (timer.due_ns <= core->now.mono_ns) {
			*ret_timer = timer;
			return true;
		}
		timer_push(core, timer); /* the timer's own clock went slower than the monotonic one */
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
