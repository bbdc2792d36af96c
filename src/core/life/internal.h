/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the files of this folder call of each other. */
#ifndef TITAN_CORE_LIFE_INTERNAL_H
#define TITAN_CORE_LIFE_INTERNAL_H

#include "core/state.h"

struct target;

/* attempt.c */
void attempt_renew(struct core *core, struct job *job);   /* an epoch; nothing is known of it */
/* It ended like this; its children aren't told. */
void attempt_finish(struct core *core, struct job *job, const struct rec_done *done);
bool attempt_doom(struct core *core, struct job *job);   /* one that is unknown is to end when it comes back; false: it was */
void attempt_recall_over(struct core *core, struct job *job);    /* it isn't asked back any more */
void attempt_detach(struct core *core, struct job *job);

/* begin.c */
void noop_begin(struct core *core, struct job *job);

/* cancel.c */
/* A person's word, also on one that is unknown. all: of its sub-run also what runs in any case. */
bool job_cancel(struct core *core, struct job *job, bool all);
uint64_t run_cancel_jobs(struct core *core, struct run *run, bool all);
void run_told_to_end(struct core *core, struct run *run);        /* its jobs were, but for those that run in any case */
/* Not by a person's word: one that is unknown stays so until somebody knows. False: nothing changed. */
bool job_give_up(struct core *core, struct job *job);
void group_fail(struct core *core, const struct job *failed);

/* dead.c: ends that are bad */
void bad_end_enter(struct core *core, struct job *job, enum job_event event);
void bad_end_leave(struct core *core, struct job *job);
uint64_t dead_discard(struct core *core, const struct target *target);  /* how many letters there were */

/* ending.c: what runs in any case, also when its run was told to end */
void ending_order(struct core *core, struct job *job);   /* its time begins, unless it still waits for others */
void ending_waited(struct core *core, struct job *job);  /* it doesn't wait any more */
void ending_returned(struct core *core, struct job *job);        /* it isn't unknown any more */
void ending_clear(struct core *core, struct job *job);

/* hold.c */
uint64_t subrun_hold(struct core *core, const struct job *job);  /* as its job is now */
uint64_t subrun_prioritize(struct core *core, const struct job *job);
uint64_t run_hold(struct core *core, struct run *run, bool hold);
uint64_t job_hold(struct core *core, struct job *job, bool hold);
uint64_t job_prioritize(struct core *core, struct job *job, uint8_t priority);

/* hooks.c: the rows of hooks.def, in their order */
void hooks_leave(struct core *core, struct job *job, enum job_state to);
void hooks_enter(struct core *core, struct job *job, enum job_state from, enum job_event event);
void hooks_settled(struct core *core, const struct job *job);
bool hooks_begin(struct core *core, struct job *job);    /* false: a worker runs jobs of its kind */

/* loop.c */
/* Is this end of an attempt what its loop waits for? Asked before it would be retried. */
bool loop_holds(const struct job *job, const struct rec_job_spec *spec, enum job_state end);
/* An attempt ended like this, and isn't retried: so does its job, or the pass of its loop. */
void attempt_over(struct core *core, struct job *job, enum job_event event, enum job_state end);
/* With what titan adds to its environment; whole: with that of its context, too. */
struct slice attempt_spec(struct core *core, const struct job *job, bool whole);

/* retry.c */
uint64_t retry_cause(enum outcome outcome);              /* bit of enum retry_on; 0: never retried */
bool retry_covers(const struct job *job, const struct rec_job_spec *spec, uint64_t cause);
bool retry_due(const struct job *job, const struct rec_job_spec *spec, uint64_t cause);  /* covered, and one is left */
void job_delay(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec,
	       uint64_t failures);

/* round.c */
enum err round_open(struct core *core, const struct input_act *act, const struct target *target,
		    uint64_t *ret_changed, struct error *error);

/* subrun.c */
#define SUBRUN_CANCELLED 2               /* "exit code" of a sub-run that somebody cancelled */
struct run *subrun_of(const struct core *core, const struct job *job);   /* the run that a job waits for, or NULL */
void subrun_begin(struct core *core, struct job *job);
void subrun_attach(struct core *core, const struct job *job);
void subrun_detach(struct core *core, const struct job *job);
void subrun_stop(struct core *core, const struct job *job);      /* what runs in any case goes on */
/* A person's word: what nobody knows about below is over, too. Did anything change? */
bool subrun_cancel(struct core *core, const struct job *job, bool all);
bool subrun_is_ending(const struct core *core, const struct job *job);   /* it was stopped, and something of it goes on */

/* target.c */
enum err own_run_check(const struct core *core, uint64_t run, struct slice own_only, struct error *error);
/* ERR_TERMINAL if all of it has ended. */
enum err act_check_live(uint64_t number, struct slice name, const struct target *target, struct error *error);

#endif
