/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_LIFE_INTERNAL_H
#define TITAN_CORE_LIFE_INTERNAL_H

#include "core/state.h"

struct target;

/* attempt.c */
void attempt_renew(struct core *core, struct job *job);   /* begin a new attempt: next epoch, results cleared */
/* Apply the end of an attempt; jobs_tell_children must follow to tell the children. */
void attempt_finish(struct core *core, struct job *job, const struct rec_done *done);
/* Note that an unknown job must be cancelled if it returns; false: that was noted before. */
bool attempt_cancel_when_returned(struct core *core, struct job *job);
void attempt_recall_over(struct core *core, struct job *job);    /* forget a recall: the job left ASSIGNED */
void attempt_detach(struct core *core, struct job *job);

/* begin.c */
void noop_begin(struct core *core, struct job *job);

/* cancel.c */
/* Cancel on a person's request, also an unknown job. all: also the `always` jobs of its sub-run. */
bool job_cancel(struct core *core, struct job *job, bool all);
uint64_t run_cancel_jobs(struct core *core, struct run *run, bool all);
/* Note that the run was told to end; its `always` jobs go on. */
void run_told_to_end(struct core *core, struct run *run);
/* Cancel without a person's request: an unknown job stays unknown. Return whether anything changed. */
bool job_give_up(struct core *core, struct job *job);
void group_fail(struct core *core, const struct job *failed);

/* dead.c: jobs that end badly: which failures are forgiven, and dead letters */
void bad_end_enter(struct core *core, struct job *job, enum job_event event);
void bad_end_leave(struct core *core, struct job *job);
/* Discard the target's dead letters; returns how many. */
uint64_t dead_discard(struct core *core, const struct target *target);
/* Put back all discarded dead letters of the target's jobs. ERR_CHANGED: there aren't exactly act->value of them. */
enum err dead_reinstate(struct core *core, const struct input_act *act, const struct target *target, uint64_t *ret_changed, struct error *error);

/* ending.c: final and `always` jobs of runs that were told to end */
/* Start the time that an `always` job has to end, unless it waits for parents. */
void ending_order(struct core *core, struct job *job);
/* An `always` job no longer waits: start its time to end if its run was told to end. */
void ending_waited(struct core *core, struct job *job);
void ending_returned(struct core *core, struct job *job); /* an `always` job is no longer unknown: arm its timer */
void ending_clear(struct core *core, struct job *job);

/* hold.c */
uint64_t subrun_hold(struct core *core, const struct job *job);  /* hold or release a sub-run as its parent job is */
uint64_t subrun_prioritize(struct core *core, const struct job *job);
uint64_t run_hold(struct core *core, struct run *run, bool hold);
uint64_t job_hold(struct core *core, struct job *job, bool hold);
uint64_t job_prioritize(struct core *core, struct job *job, uint8_t priority);

/* hooks.c: the rows of hooks.def, in their order */
void hooks_leave(struct core *core, struct job *job, enum job_state to);
void hooks_enter(struct core *core, struct job *job, enum job_state from, enum job_event event);
void hooks_ended(struct core *core, const struct job *job);
bool hooks_begin(struct core *core, struct job *job);    /* begin a ready job; false: workers run jobs of this kind */

/* loop.c */
/* Does this end of an attempt meet the loop's condition? Must be asked before a retry is considered. */
bool loop_holds(const struct job *job, const struct rec_job_spec *spec, enum job_state end);
/* An attempt ended and isn't retried: end the loop's pass, or the job. */
void attempt_over(struct core *core, struct job *job, enum job_event event, enum job_state end);
/* Return the specification to send, with titan's variables. whole: with the run's context merged in. before: for a worker of the version before. */
struct slice attempt_spec(struct core *core, const struct job *job, bool whole, bool before);

/* retry.c */
uint64_t retry_cause(enum outcome outcome);              /* the bit of enum retry_on for an outcome; 0: never retried */
bool retry_covers(const struct job *job, const struct rec_job_spec *spec, uint64_t cause);
/* Check whether this end is one that the job retries, and whether a retry is left. */
bool retry_due(const struct job *job, const struct rec_job_spec *spec, uint64_t cause);
void job_delay(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec,
	       uint64_t failures);

/*
 * Return a wait: it doubles from the first wait with each further failure, up to the last one. Jitter, unless exact, adds at most a
 * quarter, so no wait is shorter than asked for.
 */
int64_t backoff_wait(struct core *core, uint64_t first, uint64_t last, bool exact, uint64_t failures);

/* round.c */
enum err round_open(struct core *core, const struct input_act *act, const struct target *target,
		    uint64_t *ret_changed, struct error *error);

/* service.c */
void service_ended(struct core *core, struct job *job);          /* the service's process ended by itself */
void service_lost(struct core *core, struct job *job);           /* its worker was lost, or ended it for a reason of its own */
void service_began(struct core *core, struct job *job);          /* it runs: wait until it is stable */
/* The service was told to end because nobody needs it any longer, and its process is gone. */
void service_stopped(struct core *core, struct job *job, enum job_event event);
bool service_reopens(const struct job *job);             /* does a new round of another job of the run start this service again? */

/* subrun.c */
#define SUBRUN_CANCELLED 2               /* the exit code that stands for a cancelled sub-run */
struct run *subrun_of(const struct core *core, const struct job *job);   /* the sub-run that a job waits for, or NULL */
void subrun_begin(struct core *core, struct job *job);
void subrun_attach(struct core *core, const struct job *job);
void subrun_detach(struct core *core, const struct job *job);
void subrun_stop(struct core *core, const struct job *job);      /* stop the job's sub-run, except its `always` jobs */
/* Cancel on a person's request, unknown jobs included. Return whether anything changed. */
bool subrun_cancel(struct core *core, const struct job *job, bool all);
/* Check whether the job's sub-run was told to end and still lives. */
bool subrun_is_ending(const struct core *core, const struct job *job);

/* tries.c */
bool stage_lacks(uint64_t outcome, uint64_t code);       /* did the worker lack room for the job's files? */

/* target.c */
enum err own_run_check(const struct core *core, uint64_t run, struct slice own_only, struct error *error);
/* Return ERR_TERMINAL if all jobs of the target have ended. */
enum err act_check_live(uint64_t number, struct slice name, const struct target *target, struct error *error);

#endif
