/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run is: its jobs and their needs, how jobs are admitted, and how to find them. */
#ifndef TITAN_CORE_GRAPH_GRAPH_H
#define TITAN_CORE_GRAPH_GRAPH_H

#include "base/planted.h"
#include "core/state.h"

struct standing;

/* admit.c */
struct run_origin {                      /* the schedule or job that began a run, if no person submitted it */
	const char *schedule;
	const struct job *job;           /* the job whose sub-run the new run is */
	struct slice name;
};

/* Check that a submit would be admitted; nothing is kept. */
enum err submit_check(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		      struct error *error);
/* Begin a run without a submit key. */
enum err submit_run(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		    struct run **ret_run, struct error *error);

/* context.c: directory and environment that jobs share */
const char *env_fault(const struct slice_list *env); /* the fault of a job's environment, or NULL */
/* checks an encoded run_context record; empty bytes are fine */
enum err context_check(struct slice bytes, struct error *error);
/* Merge a context into the specification of a job of this kind. */
void context_complete(struct slice bytes, enum job_kind kind, struct arena *arena, struct rec_job_spec *spec);
/*
 * Write what a context says of the submitter's directory, as a run_context record; nothing if its jobs don't run there. A worker
 * must share that directory.
 */
void context_here(struct slice bytes, struct buf *out);
/* Forget which contexts the worker was sent, because it has connected anew. */
void contexts_begin(struct worker *worker, uint64_t slots);
/*
 * Return the context number to put into an ASSIGN; 0 means that the specification must be whole. first: serial number
 * of the first job that shares this context. If the worker lacks the context, a CONTEXT frame is sent before.
 */
uint64_t context_tell(struct outbox *outbox, struct worker *worker, uint64_t first, struct blob *context);

/* condition.c: jobs whose needs or condition is an expression (JOB_EXPR) */
enum outlook job_outlook(const struct job *job);
/* the outlook after this parent ended; called once for each parent */
enum outlook job_answered(const struct job *job, const struct job *parent);
void job_ask_again(const struct job *job);               /* counts all answers of the job's condition anew */
/* Check whether a loop's condition holds for a pass that ended in state end. */
bool pass_meets(const struct job *job, enum job_state end, struct slice code);
enum outlook standing_outlook(struct standing standing);
void condition_check(const struct job *job);

/* ended.c */
/* Note that the run has ended: it leaves memory when this turn is durable. */
void run_wait_sweep(struct core *core, struct run *run);
void run_live_again(struct core *core, struct run *run);
void run_stay(struct core *core, struct run *run);       /* keep an ended run in memory until this turn is durable */

/* extra.c */
/* the extra fields of a sub-run, a service, or a job with JOB_LOOP, JOB_ALWAYS or JOB_OUTPUTS */
struct extra *job_extra(const struct job *job);
uint64_t job_child(const struct job *job);
void job_child_set(const struct job *job, uint64_t child);
uint32_t job_passes(const struct job *job);              /* finished passes of a loop that were followed by another */
void job_passes_set(const struct job *job, uint32_t passes);
/* value of ending_ms: the deadline came while the job waited for parents; its time to end begins later */
#define ENDING_WAITS 1
/* When the job's time to end is over (steady clock); 0: its run wasn't told to end. */
int64_t job_ending_ms(const struct job *job);
void job_ending_set(const struct job *job, int64_t ending_ms);
/* What the job put out, as job_output records; empty: nothing, or the job declares no outputs. */
struct slice job_outputs(const struct job *job);
void job_outputs_set(const struct job *job, struct slice outputs);
/* The files that the job's latest attempt to name some left, as a job_artifacts record; empty: none. */
struct slice job_artifacts(const struct job *job);
void job_artifacts_set(const struct job *job, struct slice artifacts);

/*
 * graph.c: build and check the next extent from the given number of run->parts. On failure no trace of it remains.
 * The caller adds the extent to the directory.
 */
enum err graph_build(struct core *core, struct run *run, uint64_t first, uint32_t parts, struct error *error);
void parts_room(struct run *run, size_t more);
void part_drop(struct run *run);                         /* drop the last part of the run's specification */
void extent_drop(struct run *run);                       /* drop the run's last extent, with its parts */
void run_free(struct run *run);

/* jobs.c */
static inline struct slice job_spec_bytes(const struct job *job)
{
	return slice_make(job->spec, job->spec_len);
}

void job_touch(struct core *core, struct job *job, bool row);
bool trigger_met(enum trigger trigger, enum job_state parent);   /* parent: the job_result of a parent that has ended */
/* The lists in *ret_spec live in core->scratch until its next use. */
void job_spec_decode(struct core *core, const struct job *job, struct rec_job_spec *ret_spec);

static inline bool job_is_subrun(const struct job *job)
{
	return job->kind == KIND_SUBRUN;
}

static inline bool job_is_service(const struct job *job)
{
	return job->kind == KIND_SERVICE;
}

/* Do the services of the run stay up until this job has ended? */
static inline bool job_is_work(const struct job *job)
{
	return !job_is_service(job) && !(job->flags & JOB_FINAL);
}

/* Return the job's state as its children see it: a bad end that counts as good is SUCCEEDED. */
static inline enum job_state job_result(const struct job *job)
{
	return job->flags & JOB_FORGIVEN ? STATE_SUCCEEDED : (enum job_state)job->state;
}

static inline bool job_on_hold(const struct job *job)
{
	return (job->run->held && !PLANTED(hold_of_a_run_ignored)) || (job->flags & JOB_ON_HOLD) != 0;
}

/* name_index.c */
struct job *run_job_named(const struct core *core, struct run *run, struct slice name);

/* nest.c */
/* Describe the submit that a sub-run's job makes. The caller must release part->body. */
void subrun_submit(const struct core *core, const struct job *job, const struct rec_job_spec *spec, struct graph_part *part,
		   struct input_submit *ret_submit);

/* runs.c: the lists of runs, and the directory from serial numbers to jobs */
struct extent *extent_find(const struct run *run, uint32_t index);
/* May this attempt ask for something? ERR_STALE: it isn't its job's latest, or has ended. */
enum err caller_check(const struct core *core, const struct caller *caller, const struct run **ret_run,
		      struct error *error);

static inline struct extent *run_extent(const struct run *run, uint32_t index)
{
	return index < run->extents[0]->count ? run->extents[0] : extent_find(run, index);
}

/* A run's jobs need not be neighbours in memory or serial numbers, since some may have been added later. */
static inline struct job *run_job(const struct run *run, uint32_t index)
{
	const struct extent *extent = run_extent(run, index);

	return &extent->jobs[index - extent->start];
}

static inline uint64_t run_serial(const struct run *run, uint32_t index)
{
	const struct extent *extent = run_extent(run, index);

	return extent->first + (index - extent->start);
}

static inline uint64_t job_serial(const struct job *job)
{
	return run_serial(job->run, job->index);
}

/* The run_context record that a job shares with the jobs of its submit, or NULL. */
static inline struct blob *job_context(const struct job *job)
{
	return job->run->part_context[PLANTED(context_of_the_run) ? 0 : run_extent(job->run, job->index)->part];
}

/* Usage: for (job = run_job(run, 0); job; job = job_next(job)) */
static inline struct job *job_next(const struct job *job)
{
	return job->index + 1 < job->run->job_count ? run_job(job->run, job->index + 1) : NULL;
}

/* A walk over a job's children; each edge is index << TRIGGER_BITS | trigger. */
struct child_walk {
	const uint32_t *at, *end;
	const struct job *parent;        /* parent whose later children follow; NULL: none, or they are being walked */
};

struct child_walk children_of(const struct job *job);
bool children_later(struct child_walk *walk);

static inline bool child_next(struct child_walk *walk, uint32_t *ret_edge)
{
	if (walk->at == walk->end && !children_later(walk))
		return false;
	*ret_edge = *walk->at++;
	return true;
}

struct run *run_find(const struct core *core, uint64_t number);
struct job *job_find(const struct core *core, uint64_t serial);
void run_add(struct core *core, struct run *run);        /* add a run with all its extents to the core's lists */
void extent_add(struct core *core, struct extent *extent);       /* add an extent to the directory */
/* Does no other job have the extent's serial numbers? */
bool directory_free(const struct core *core, const struct extent *extent);
/* Take a run out of the lists, after run_release; doesn't free it. */
void run_remove(struct core *core, struct run *run);
void run_touch(struct core *core, struct run *run, bool row);

/* standing.c */
struct standing {
	uint32_t open;                   /* number of parents that haven't ended */
	uint32_t asked;                  /* open parents whose end still matters; an expression counts as one */
	bool against;                    /* the job's needs can't be met any longer */
	bool condition_false;                    /* the job's condition is false */
};

struct standing *run_standing(const struct run *run);    /* the caller frees the result with mem_free */
bool standing_fits(const struct job *job, struct standing standing);

/* submit_once.c */
uint64_t submit_step(struct core *core, const struct core_input *input);
void key_id(uint8_t id[24], uint64_t principal, const uint8_t key[16]);
/* Remember the submit key of a run; run 0: the key belongs to a schedule. */
void key_add(struct core *core, const uint8_t id[24], const uint8_t digest[32], uint64_t run, uint64_t by_run);
void key_drop(struct core *core, const uint8_t id[24]);
const struct submit_key *key_find(const struct core *core, const struct input_submit *submit);
enum err key_agrees(const struct submit_key *key, const struct input_submit *submit, struct error *error);

#endif
