/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules: graphs that begin at the times of a cron expression. A schedule's next time is in its row and advances
 * in the turn that begins its run, so each time counts once: as a run that began, as a queued run, or as skipped. A
 * time is late if more than a minute has passed since; the schedule's `catchup` says what happens to late times.
 * Times are wall-clock times. If the wall clock is set back by more than three hours, the schedule starts anew; if by
 * less, no time comes twice.
 */
#include "core/rows/durable.h"
#include "core/time/time.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/time/internal.h"

#define LATE_MS 60000
#define HOUR_MS INT64_C(3600000)
#define BACK_MS (3 * HOUR_MS)
#define WORK_MAX 200                     /* most work in one turn: due schedules plus begun runs */
#define MISSED_COST 16                   /* this many missed times count as one unit of work */
#define MISSED_MAX 1000                  /* most missed times counted; more are skipped uncounted */
#define CATCH_UP_MAX 100                 /* most runs of a schedule begun at once, or queued */

static uint64_t stamp_new(struct core *core, struct schedule *schedule)
{
	map_put(&core->schedule_stamps, ++core->schedule_stamp, schedule);
	return core->schedule_stamp;
}

static void stamp_end(struct core *core, uint64_t *stamp)
{
	map_remove(&core->schedule_stamps, *stamp);
	*stamp = 0;
}

/* Forget a timer; the entry in the heap becomes stale. */
void schedule_disarm(struct core *core, uint64_t *stamp)
{
	if (*stamp == 0)
		return;
	timer_stale(core);
	stamp_end(core, stamp);
}

/* Arm the timer for the schedule's next time. */
void schedule_arm(struct core *core, struct schedule *schedule)
{
	schedule_disarm(core, &schedule->stamp);
	if (schedule->paused || schedule->next_ms == 0)
		return;
	schedule->stamp = stamp_new(core, schedule);
	timer_add_date(core, TIMER_SCHEDULE, schedule->stamp, schedule->next_ms);
}

void schedule_arm_queue(struct core *core, struct schedule *schedule)
{
	if (schedule->queue_stamp || !schedule_next_may_begin(schedule))
		return;
	schedule->queue_stamp = stamp_new(core, schedule);
	timer_add(core, TIMER_SCHEDULE, schedule->queue_stamp, schedule->queue_stamp, 0);
}

bool schedule_has_come(const struct core *core, int64_t ms)
{
	return ms != 0 && ms <= core->now.wall_ms;
}

/* --- runs --- */

static void skip(struct core *core, struct schedule *schedule, enum skip_why why, uint64_t count)
{
	schedule->skipped += count;
	schedule->skip_why = (uint8_t)why;
	schedule->skip_ms = core->now.wall_ms;
	happened(core, HAPPENED_SCHEDULE_SKIPPED, count, slice_str(schedule->name), why);
}

enum err schedule_begin(struct core *core, struct schedule *schedule, int64_t due_ms, struct error *error)
{
	struct input_submit submit = {
		.principal = schedule->principal, .owner = slice_str(schedule->owner),
		.name = slice_str(schedule->name), .parts = schedule->parts, .part_count = schedule->part_count,
		.max_jobs = schedule->max_jobs, .tenant = slice_str(schedule->tenant),
		.concurrency = slice_str(schedule->concurrency), .context = blob_slice(schedule->context),
	};
	struct run *run;
	enum err err = submit_run(core, &submit, &(struct run_origin){ .schedule = schedule->name }, &run, error);

	if (err != ERR_NONE) {
		skip(core, schedule, SKIP_REFUSED, 1);
		return err;
	}
	core->schedule_work++;
	schedule->live++;
	schedule->fired++;
	schedule->last_ms = due_ms;
	schedule->last_run = run->number;
	happened(core, HAPPENED_SCHEDULE_FIRED, run->number, slice_str(schedule->name), 0);
	return ERR_NONE;
}

/*
 * Handle one time that has come: begin a run, queue it, or skip it. With `together` several times have come at once
 * and all are wanted: if runs may not overlap, they are queued.
 */
static void come(struct core *core, struct schedule *schedule, int64_t due_ms, bool together)
{
	bool in_line = together || schedule->said.overlap == OVERLAP_QUEUE;
	struct error error;

	if (schedule->live == 0 || schedule->said.overlap == OVERLAP_ALLOW ||
	    (PLANTED(schedule_overlaps) && schedule->live == 1))
		schedule_begin(core, schedule, due_ms, &error);
	else if (in_line && schedule->queued < CATCH_UP_MAX)
		schedule->queued++;
	else if (!PLANTED(schedule_passes_over_in_silence))
		skip(core, schedule, SKIP_OVERLAP, 1);
}

/* Return how many runs to begin for the times that came until now; last_ms is the latest of them. */
static uint64_t wanted(const struct core *core, const struct schedule *schedule, uint64_t came, int64_t last_ms)
{
	int64_t age_ms = core->now.wall_ms - last_ms;

	if (schedule->said.catchup == CATCHUP_ALL)
		return came < CATCH_UP_MAX ? came : CATCH_UP_MAX;
	if (age_ms <= LATE_MS || schedule->said.catchup == CATCHUP_ONE)
		return 1;
	return schedule->said.catchup == CATCHUP_SPAN && age_ms <= (int64_t)schedule->said.catchup_ms;
}

/*
 * Return the latest time until now, when more have come than are counted: search ever longer spans back from now, or
 * else go on from the last counted time.
 */
static int64_t last_until_now(const struct core *core, const struct schedule *schedule, int64_t last_ms)
{
	static const int64_t spans_h[] = { 1, 24, 32 * 24, 366 * 24 };
	int64_t ms = last_ms;

	for (size_t i = 0; i < sizeof(spans_h) / sizeof(spans_h[0]); i++) {
		int64_t first_ms = schedule_next_after(schedule, core->now.wall_ms - spans_h[i] * HOUR_MS);

		if (schedule_has_come(core, first_ms)) {
			ms = first_ms;
			break;
		}
	}
	for (; schedule_has_come(core, ms); ms = schedule_next_after(schedule, ms))
		last_ms = ms;
	return last_ms;
}

void schedule_times_come(struct core *core, struct schedule *schedule)
{
	int64_t last_ms = schedule->next_ms, next_ms = schedule->next_ms;
	uint64_t came = 0, runs;

	while (schedule_has_come(core, next_ms) && came < MISSED_MAX) {
		came++;
		last_ms = next_ms;
		next_ms = schedule_next_after(schedule, next_ms);
	}
	if (schedule_has_come(core, next_ms)) {
		last_ms = last_until_now(core, schedule, last_ms);
		next_ms = schedule_next_after(schedule, core->now.wall_ms);
	}
	core->schedule_work += came / MISSED_COST;
	runs = wanted(core, schedule, came, last_ms);
	if (came > runs)
		skip(core, schedule, SKIP_MISSED, came - runs);
	schedule->next_ms = next_ms;
	for (uint64_t i = 0; i < runs; i++)
		come(core, schedule, last_ms, runs > 1);
	schedule_row_put(core, schedule);
	schedule_arm(core, schedule);
}

/* Limit the work in one turn: schedules beyond it fire in a later turn. */
static bool turn_is_full(struct core *core)
{
	if (core->schedule_turn != core->turn)
		core->schedule_work = 0;
	core->schedule_turn = core->turn;
	return core->schedule_work++ >= WORK_MAX;
}

void schedule_fired(struct core *core, struct schedule *schedule, uint64_t stamp)
{
	struct error error;

	if (turn_is_full(core)) {
		timer_add(core, TIMER_SCHEDULE, stamp, stamp, 1);
		return;
	}
	if (stamp == schedule->stamp) {
		stamp_end(core, &schedule->stamp);
		if (schedule_has_come(core, schedule->next_ms))
			schedule_times_come(core, schedule);
		else
			/* The timer was delayed, and meanwhile the wall clock was set back. */
			schedule_arm(core, schedule);
		return;
	}
	stamp_end(core, &schedule->queue_stamp);
	if (!schedule_next_may_begin(schedule))
		return;                  /* the schedule was paused since, or another run began */
	schedule->queued--;
	schedule_begin(core, schedule, core->now.wall_ms, &error);
	schedule_row_put(core, schedule);
	schedule_arm_queue(core, schedule);
}

void schedule_run_counts(struct core *core, const struct run *run, bool live)
{
	struct schedule *schedule = run->schedule ? schedule_find(core, slice_str(run->schedule)) : NULL;

	if (!schedule)
		return;
	if (live) {
		schedule->live++;
		return;
	}
	CHECK(schedule->live > 0);
	schedule->live--;
	schedule_arm_queue(core, schedule);
}

/*
 * Check whether the wall clock had been wrong and was set back by more than BACK_MS: the last or next time is too far
 * ahead.
 */
static bool was_ahead(const struct core *core, const struct schedule *schedule)
{
	int64_t limit_ms = core->now.wall_ms + BACK_MS, later_ms = schedule_next_after(schedule, limit_ms);

	return !PLANTED(schedule_waits_for_a_wrong_clock) &&
	       (schedule->last_ms > limit_ms || (later_ms != 0 && later_ms < schedule->next_ms));
}

void schedules_stepped(struct core *core)
{
	for (size_t i = 0; i < core->schedule_count; i++) {
		struct schedule *schedule = core->schedules[i];

		if (schedule->next_ms == 0 || !was_ahead(core, schedule))
			continue;
		schedule->next_ms = schedule_next_after(schedule, core->now.wall_ms);
		schedule->last_ms = 0;
		schedule_row_put(core, schedule);
		schedule_arm(core, schedule);
	}
}

void schedules_resume(struct core *core)
{
	for (size_t i = 0; i < core->schedule_count; i++) {
		struct schedule *schedule = core->schedules[i];

		schedule_arm(core, schedule);
		schedule_arm_queue(core, schedule);
	}
}
