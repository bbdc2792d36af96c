/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job: moves between states, attempts, ends, and acts of people. */
#ifndef TITAN_CORE_LIFE_LIFE_H
#define TITAN_CORE_LIFE_LIFE_H

#include "core/graph/graph.h"
#include "core/state.h"
#include "proto/job_output.h"

/* act.c */
/* Load the run that the request is about from the rows in the request. False: an error was sent to the sender instead. */
bool reopen_load(struct core *core, const struct core_input *input);
uint64_t reopen_step(struct core *core, const struct core_input *input);
uint64_t act_step(struct core *core, const struct core_input *input);

/* attempt.c */
void attempt_assign(struct core *core, struct worker *worker, struct job *job);
void attempts_started(struct core *core, struct worker *worker, const struct rec_started *at, size_t n);
void attempts_done(struct core *core, struct worker *worker, const struct core_input *input);
/* Check that a worker's report is about the job's latest attempt, and that this worker has that attempt. */
bool attempt_current(const struct worker *worker, const struct job *job, uint64_t epoch);
bool attempt_unknown(const struct worker *worker, const struct job *job, uint64_t epoch);
void attempt_run(struct core *core, struct job *job, enum job_event event, int64_t started_ms);
/* An attempt was lost. never_started: it certainly didn't start; false: it may have. */
void attempt_lost(struct core *core, struct job *job, enum outcome outcome, bool never_started);
void attempt_stop(struct core *core, struct job *job, enum job_event cause);
void attempt_stop_send(struct core *core, const struct job *job);
bool attempt_cancels_when_returned(const struct job *job);
/* Ask the worker for the job, once, if the worker is connected. */
void attempt_recall(struct core *core, struct job *job);
void attempt_attach(struct core *core, struct worker *worker, struct job *job);

/* begin.c */
bool kinds_begin(struct core *core); /* begin ready jobs that need no worker; false: there were none */

/* cancel.c */
uint64_t cancel_step(struct core *core, const struct core_input *input);

/* dead.c: jobs that end badly: which failures are forgiven, and dead letters */
/* Set up forgiven failures and dead letters after loading a run; false: rows contradict each other. */
bool bad_end_load(struct core *core, struct run *run);
/* For core_check: check the flags of a job that ended badly. forgives: by its specification the failure is forgiven. */
bool bad_end_fits(const struct job *job, bool forgives);

/* ending.c: final and `always` jobs of runs that were told to end */
/* An `always` job's deadline has come: start its time to end. */
void ending_deadline(struct core *core, struct job *job);
bool ending_row_sane(const struct job *job, const struct row_job *row);
void ending_resume(struct core *core, struct job *job);
void ending_check(const struct job *job);

/* outputs.c */
/* Add variables with the outputs of other jobs that the job uses. env has room for all of them. */
void outputs_add(struct core *core, const struct job *job, const struct rec_job_spec *spec, struct arena *arena, struct slice_list *env);
/*
 * Return what the job put out with this result. If something is wrong with it, that is returned, and *done becomes the failure.
 */
struct slice outputs_judge(struct core *core, const struct job *job, const struct core_input *input, struct rec_done *done);
/* Let the condition of a loop see what the pass that ends now put out. */
void outputs_offer(const struct job *job, struct slice outputs);
/* Keep the outputs, if the result has ended the job. */
void outputs_keep(const struct job *job, struct slice outputs);
bool outputs_row_sane(const struct job *job, const struct row_job *row);
/*
 * Write a text with the outputs of jobs that it names, seen from this run. missing: stands for an output that isn't there; NULL:
 * then the result is false.
 */
bool outputs_expand(const struct core *core, struct run *run, struct slice text, const char *missing, struct arena *arena, struct buf *out);
/*
 * Compute the outputs of a noop, or of a job with a sub-run, from those of the jobs of this run. An output that uses one that isn't
 * there isn't there either. *ret_fault becomes what is wrong with one, and then the result is the record of that.
 */
struct slice outputs_compute(struct core *core, const struct job *job, struct run *run, enum output_fault *ret_fault);
void outputs_check(const struct job *job);

/* artifacts.c */
/* A running job names the files that it leaves. */
void artifacts_step(struct core *core, const struct core_input *input);
/* An attempt that exits with 0 without the files that its job declares failed: *done becomes that failure. */
void artifacts_judge(struct core *core, const struct job *job, struct rec_done *done);
/* The files that the job gets from other jobs in its next or present attempt, as input records. */
struct slice artifacts_inputs(const struct core *core, const struct job *job, struct arena *arena);
bool artifacts_row_sane(const struct job *job, const struct row_job *row);
void artifacts_check(const struct job *job);

/* job.c */
void job_move(struct core *core, struct job *job, enum job_event event, enum job_state to);
void job_deps_met(struct core *core, struct job *job);
/* Decide a waiting job by the state of its dependencies. cause: index + 1 of the parent that decided, or 0. */
void job_judge(struct core *core, struct job *job, enum outlook outlook, uint32_t cause);
void job_due(struct core *core, struct job *job);
void jobs_tell_children(struct core *core);              /* tell children of the jobs that ended, breadth first */

/* kind.c: one struct for each kind of job, which says what core does with such a job */
struct kind_ops {
	bool worker; /* workers run jobs of this kind; false: they begin at the end of a turn (hooks.def) */
	bool in_bounds;                  /* jobs of this kind count in the bounds of run and fan-out */
	bool in_share;                   /* jobs of this kind count in the tenant's bound */
};

extern const struct kind_ops kind_table[KIND_COUNT];

/* loop.c */
bool loop_row_sane(const struct job *job, const struct row_job *row);

/* retry.c */
/* Number of failed and timed-out tries in this round, without crashes. */
uint64_t retry_failures(const struct job *job);
uint64_t crash_limit(const struct rec_job_spec *spec);
int64_t backoff_longest_ms(const struct rec_job_spec *spec);

/* round.c */
/*
 * Return index + 1 of the first parent whose end contradicts the job's needs; else of the first ended parent that an
 * expression asks about; else 0.
 */
uint32_t job_cause(struct core *core, const struct job *job);
/*
 * Open a new round of a job above a gate and of all its descendants. Return false, with no change, if the gate isn't
 * among them.
 */
bool round_push_back(struct core *core, struct job *job, struct job *gate, uint64_t *ret_changed);
/* Would a new round of the job reach the gate? */
bool round_reaches(struct core *core, struct job *job, const struct job *gate);

/* service_run.c */
/* Stop the services of runs whose other jobs have ended in this turn. Return whether there were any. */
bool services_over(struct core *core);

/* service.c */
void service_stable(struct core *core, struct job *job);         /* the service was up for its stable time */
int64_t service_stable_ms(const struct rec_job_spec *spec);
int64_t service_longest_ms(const struct rec_job_spec *spec);     /* the longest wait before a restart */
bool service_row_sane(const struct job *job, const struct row_job *row);
void service_check(const struct job *job);

/* subrun.c */
void subruns_end(struct core *core);                     /* end each job whose sub-run ended in this turn */
/* end the job's whole sub-run, including its `always` jobs */
void subrun_kill(struct core *core, const struct job *job);
/* Check that jobs of this run may have a new round. A sub-run must have a parent job that waits for it. */
enum err subrun_reopens(const struct core *core, const struct run *run, struct error *error);
/* Load sub-run fields from rows. The checks return false if rows contradict each other. */
bool subrun_load(struct run *run, const struct row_run *row);
bool subrun_row_sane(const struct job *job, const struct row_job *row);
enum err subruns_load(const struct core *core, struct error *error);
void subruns_check(const struct core *core);

/* tries.c */
/* Keep the facts about an attempt in a row of its own, because the job's row is about to describe the next one. */
void attempt_keep(struct core *core, const struct job *job, int64_t ended_ms);

/* target.c: the run, job or fan-out that an act names. A fan-out's jobs are neighbours. */
struct target {
	struct run *run;
	uint32_t first, count;           /* index of the first named job, and number of jobs */
	bool whole;                      /* no job was named, so the target is the whole run */
};

static inline struct job *target_job(const struct target *target, uint32_t at)
{
	return run_job(target->run, target->first + at);
}

/* Return ERR_DENIED if only own_only's objects may be changed and this isn't one. what: for example "run 5". */
enum err owner_check(const char *owner, struct slice own_only, struct error *error, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* Find the run, a job of it, or a fan-out by its common name ("encode", "encode[*]"); else ERR_NOT_FOUND. */
enum err act_target(struct core *core, uint64_t number, struct slice name, struct target *ret_target,
		    struct error *error);

/* progress.c: progress that running jobs report */
void progress_step(struct core *core, const struct core_input *input);
void progress_drop(struct core *core, const struct job *job);
void progress_view(const struct core *core, const struct job *job, struct rec_job_row *row);
void progress_free_all(struct core *core);

#endif
