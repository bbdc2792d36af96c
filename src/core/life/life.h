/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of a job: its moves, attempts and ends, and what people do to it. */
#ifndef TITAN_CORE_LIFE_LIFE_H
#define TITAN_CORE_LIFE_LIFE_H

#include "core/graph/graph.h"
#include "core/state.h"

/* act.c */
uint64_t reopen_step(struct core *core, const struct core_input *input);
uint64_t act_step(struct core *core, const struct core_input *input);

/* attempt.c */
void attempt_assign(struct core *core, struct worker *worker, struct job *job);
void attempts_started(struct core *core, struct worker *worker, const struct rec_started *at, size_t n);
void attempts_done(struct core *core, struct worker *worker, const struct rec_done *at, size_t n);
/* Is this word of the worker about the latest attempt, and is that attempt its own? */
bool attempt_current(const struct worker *worker, const struct job *job, uint64_t epoch);
bool attempt_unknown(const struct worker *worker, const struct job *job, uint64_t epoch);
void attempt_run(struct core *core, struct job *job, enum job_event event, int64_t started_ms);
/* never_started: this is certain, not only what was last heard. */
void attempt_lost(struct core *core, struct job *job, enum outcome outcome, bool never_started);
void attempt_stop(struct core *core, struct job *job, enum job_event cause);
void attempt_stop_send(struct core *core, const struct job *job);
bool attempt_doomed(const struct job *job);
void attempt_recall(struct core *core, struct job *job);  /* ask it back, if it can still be asked */
void attempt_attach(struct core *core, struct worker *worker, struct job *job);

/* begin.c */
bool kinds_begin(struct core *core);                     /* whatever needs no worker; false: nothing did */

/* cancel.c */
uint64_t cancel_step(struct core *core, const struct core_input *input);

/* dead.c: ends that are bad */
bool bad_end_load(struct core *core, struct run *run);           /* of its jobs' rows; false: they contradict themselves */
bool bad_end_fits(const struct job *job, bool forgives);         /* for checks; forgives: its specification, this end */

/* ending.c: what runs in any case, also when its run was told to end */
void ending_deadline(struct core *core, struct job *job);        /* of the run, which has come */
bool ending_row_sane(const struct job *job, const struct row_job *row);
void ending_resume(struct core *core, struct job *job);
void ending_check(const struct job *job);

/* job.c */
void job_move(struct core *core, struct job *job, enum job_event event, enum job_state to);
void job_deps_met(struct core *core, struct job *job);
/* Its dependencies came to this; cause: index + 1 of the job that decided it, or 0. */
void job_judge(struct core *core, struct job *job, enum outlook outlook, uint32_t cause);
void job_due(struct core *core, struct job *job);
void jobs_settle(struct core *core);                     /* tell children of what settled, breadth first */

/* kind.c: what the core does with a job, by its kind */
struct kind_ops {
	bool worker;                     /* a worker runs it; else it begins at the end of a turn, by its row of hooks.def */
	bool in_bounds;                  /* it counts in the bounds of its run and fan-out */
	bool in_share;                   /* and in that of its tenant */
};

extern const struct kind_ops kind_table[KIND_COUNT];

/* loop.c */
bool loop_row_sane(const struct job *job, const struct row_job *row);

/* retry.c */
uint64_t retry_failures(const struct job *job);          /* in its round, time-outs included, crashes not */
uint64_t crash_limit(const struct rec_job_spec *spec);
int64_t backoff_longest_ms(const struct rec_job_spec *spec);

/* round.c */
/* index + 1 of the parent that decided it against its needs, 0 if none did; of what an expression makes of several, the first. */
uint32_t job_cause(struct core *core, const struct job *job);
/* A new round of a job before a gate, and of what is between; false: the gate isn't among it. */
bool round_push_back(struct core *core, struct job *job, struct job *gate, uint64_t *ret_changed);
bool round_reaches(struct core *core, struct job *job, const struct job *gate);          /* it is among it */

/* subrun.c */
void subruns_end(struct core *core);                     /* those whose runs have ended in this turn */
void subrun_kill(struct core *core, const struct job *job);      /* also what runs in any case */
/* May a job of this run have a new round? Not of a sub-run that no job waits for. */
enum err subrun_reopens(const struct core *core, const struct run *run, struct error *error);
/* Of rows: false if they contradict themselves. */
bool subrun_load(struct run *run, const struct row_run *row);
bool subrun_row_sane(const struct job *job, const struct row_job *row);
enum err subruns_load(const struct core *core, struct error *error);
void subruns_check(const struct core *core);

/* target.c: what an act names. A fan-out's jobs are neighbours. */
struct target {
	struct run *run;
	uint32_t first, count;           /* of its jobs */
	bool whole;                      /* no job was named: all of the run */
};

static inline struct job *target_job(const struct target *target, uint32_t at)
{
	return run_job(target->run, target->first + at);
}

/* ERR_DENIED: it isn't of the owner whose alone may be changed. what: "run 5" */
enum err owner_check(const char *owner, struct slice own_only, struct error *error, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* The run, a job of it, or a fan-out by what its jobs share ("encode", "encode[*]"); or ERR_NOT_FOUND. */
enum err act_target(struct core *core, uint64_t number, struct slice name, struct target *ret_target,
		    struct error *error);

#endif
