/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clocks, timers, due times and schedules. */
#ifndef TITAN_CORE_TIME_TIME_H
#define TITAN_CORE_TIME_TIME_H

#include "core/state.h"

/* steady_clock.c: the steady clock, which continues across restarts */
int64_t steady_ms(const struct core *core);
/* A time on the steady clock, wait_ms from now or a little later. */
int64_t due_after(const struct core *core, int64_t wait_ms);
int64_t due_wall_ms(const struct core *core, int64_t due_ms);    /* the wall-clock time of a steady time, for people */
/* Submit time; of a live run by the present wall clock. */
int64_t run_submitted_ms(const struct core *core, const struct run *run);
void run_resume_clock(struct core *core, struct run *run);

/* due.c */
/*
 * Arm the timer of the job's state. due_ms is on the steady clock, date_ms on the wall clock; the later one counts.
 */
void due_arm(struct core *core, struct job *job, enum timer_kind kind, int64_t due_ms, int64_t date_ms);
/* Disarm the timer of the job's state; to: the job's next state. */
void due_disarm(struct core *core, struct job *job, enum job_state to);
int64_t deadline_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec);
/* Return when the job's state is due, on the present wall clock; 0 if it isn't. */
int64_t job_due_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec);
void deadline_arm(struct core *core, struct job *job);
void deadline_disarm(struct core *core, struct job *job);
void deadline_reopen(struct core *core, struct job *job);
void dispatch_arm(struct core *core, struct job *job);
void dispatch_released(struct core *core, struct job *job);

/* late.c */
void ending_fired(struct core *core, struct job *job);   /* an `always` job's time to end is over */
void deadline_fired(struct core *core, struct job *job);
void dispatch_late(struct core *core, struct job *job);

/* schedule.c */
void schedule_fired(struct core *core, struct schedule *schedule, uint64_t stamp);
/* Count a run as live or as ended for the overlap rule of its schedule. */
void schedule_run_counts(struct core *core, const struct run *run, bool live);
void schedules_stepped(struct core *core);               /* check next times after the wall clock was set */
void schedules_resume(struct core *core);

/* schedule_list.c */
struct schedule *schedule_find(const struct core *core, struct slice name);
struct schedule *schedule_by_stamp(const struct core *core, uint64_t stamp);
struct schedule *schedule_new(struct core *core, struct slice name, struct slice owner);
void schedules_free(struct core *core);
enum err schedule_take_spec(struct core *core, struct schedule *schedule, struct slice bytes, struct error *error);
uint64_t schedule_count_live(const struct core *core, const struct schedule *schedule);
void schedules_check(const struct core *core);
uint64_t schedules_hash(const struct core *core);

/* schedule_set.c */
uint64_t schedule_step(struct core *core, const struct core_input *input);
void schedule_keep_key(struct core *core, struct schedule *schedule, const uint8_t id[24], const uint8_t digest[32]);
enum err schedule_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);

/* steady.c */
void steady_begin(struct core *core);
void steady_turn(struct core *core);

/* timers.c */
void timer_add_steady(struct core *core, enum timer_kind kind, uint64_t id, int64_t due_ms);
/* Add a timer on the monotonic clock, for what isn't durable. */
void timer_add(struct core *core, enum timer_kind kind, uint64_t id, uint64_t stamp, int64_t wait_ms);
void timer_add_due(struct core *core, enum timer_kind kind, const struct job *job, int64_t due_ms, int64_t date_ms);
void timer_stale(struct core *core);                     /* count a timer as stale: it isn't needed any longer */
bool timer_valid(const struct core *core, const struct timer *timer);
bool timer_take_due(struct core *core, struct timer *ret_timer);
void timers_drop_lost(struct core *core);                /* drop timers from before a job became unknown */
void timers_tidy(struct core *core);

#endif
