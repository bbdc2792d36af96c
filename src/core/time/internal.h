/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_TIME_INTERNAL_H
#define TITAN_CORE_TIME_INTERNAL_H

#include "core/state.h"

/* steady_clock.c */
#define CLOCK_STEP_MS 100                /* ms; a smaller step doesn't mean that the wall clock was set */
bool clock_stepped(int64_t step_ms);

/* due.c: deadlines of jobs */
struct deadline { /* a deadline on the steady or the wall clock: the earlier one counts; 0: not set */
	int64_t due_ms;
	int64_t date_ms;
};

/* late.c */
void job_out_of_time(struct core *core, struct job *job);

/* schedule.c */
/* Begin a run of the schedule for the given due time. */
enum err schedule_begin(struct core *core, struct schedule *schedule, int64_t due_ms, struct error *error);
bool schedule_has_come(const struct core *core, int64_t ms);
void schedule_arm(struct core *core, struct schedule *schedule);
void schedule_arm_queue(struct core *core, struct schedule *schedule);
void schedule_disarm(struct core *core, uint64_t *stamp);
/* Handle all times of the schedule that have come by now. */
void schedule_times_come(struct core *core, struct schedule *schedule);

/* schedule_list.c */
void schedule_drop(struct core *core, size_t at);
void schedule_parts_release(struct schedule *schedule);
void schedule_row_put(struct core *core, const struct schedule *schedule);
void schedule_parts_rows(struct core *core, const struct schedule *schedule, size_t count, bool deleted);
/* Return the schedule's revision: the digest of the request that last set its graph and times. */
struct slice schedule_revision(const struct schedule *schedule);
/* The schedule's next time after wall_ms; 0: none. */
int64_t schedule_next_after(const struct schedule *schedule, int64_t wall_ms);
/* true: the schedule's next queued run may begin now */
bool schedule_next_may_begin(const struct schedule *schedule);

/* timers.c */
void timer_add_date(struct core *core, enum timer_kind kind, uint64_t id, int64_t date_ms);
void timers_rekey(struct core *core);                    /* sort the timers anew after a clock was set */

#endif
