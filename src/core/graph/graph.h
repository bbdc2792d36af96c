/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run is: its jobs and their needs, how they come in, where to find them. */
#ifndef TITAN_CORE_GRAPH_GRAPH_H
#define TITAN_CORE_GRAPH_GRAPH_H

#include "base/planted.h"
#include "core/state.h"

struct standing;

/* admit.c */
struct run_origin {                      /* what begins a run, if no person does */
	const char *schedule;
	const struct job *job;           /* whose sub-run it is, and the name of that */
	struct slice name;
};

/* Would it be taken? */
enum err submit_check(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		      struct error *error);
/* Begins it, without a key. */
enum err submit_run(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		    struct run **ret_run, struct error *error);

/* context.c: the directory and the environment that jobs share */
const char *env_fault(const struct slice_list *env);     /* what is wrong with it, or NULL */
enum err context_check(struct slice bytes, struct error *error);         /* a run_context record, or nothing */
/* The specification of a job of this kind, with what it shares. */
void context_complete(struct slice bytes, enum job_kind kind, struct arena *arena, struct rec_job_spec *spec);
void contexts_begin(struct worker *worker, uint64_t slots);      /* a connection of it begins: it has been told of none */
/*
 * What an ASSIGN of a job says that shares this with those from the given serial number on; a CONTEXT goes before it if the
 * worker lacks it. 0: the specification has to be whole.
 */
uint64_t context_tell(struct outbox *outbox, struct worker *worker, uint64_t first, struct blob *context);

/* decide.c: of jobs with JOB_EXPR */
enum outlook job_outlook(const struct job *job);
enum outlook job_answered(const struct job *job, const struct job *parent);      /* which has just settled */
void job_ask_again(const struct job *job);               /* of all its parents, as they are now */
/* The same of a pass that ended like this. */
bool pass_meets(const struct job *job, enum job_state end, struct slice code);
enum outlook standing_outlook(struct standing standing);
void decider_check(const struct job *job);

/* ended.c */
void run_wait_sweep(struct core *core, struct run *run); /* it ended: it leaves when this turn is durable */
void run_live_again(struct core *core, struct run *run);
void run_stay(struct core *core, struct run *run);       /* it has ended; not before this turn is durable does it leave */

/* extra.c */
struct extra *job_extra(const struct job *job);          /* of a sub-run, or a job with JOB_LOOP */
uint64_t job_child(const struct job *job);
void job_child_set(const struct job *job, uint64_t child);
uint32_t job_passes(const struct job *job);              /* of its loop that are over, each followed by another */
void job_passes_set(const struct job *job, uint32_t passes);
#define ENDING_WAITS 1                   /* as a time: its deadline came while it waited for others, so its time begins later */
int64_t job_ending_ms(const struct job *job);            /* by the steady clock; 0: its run wasn't told to end */
void job_ending_set(const struct job *job, int64_t ending_ms);

/*
 * graph.c: the next extent, from the given number of run->parts; validates everything. On failure nothing of it
 * remains. Whoever calls it puts it into the directory.
 */
enum err graph_build(struct core *core, struct run *run, uint64_t first, uint32_t parts, struct error *error);
void parts_room(struct run *run, size_t more);
void part_drop(struct run *run);                         /* the last one */
void extent_drop(struct run *run);                       /* the last one, and its parts */
void run_free(struct run *run);

/* jobs.c */
static inline struct slice job_spec_bytes(const struct job *job)
{
	return slice_make(job->spec, job->spec_len);
}

void job_touch(struct core *core, struct job *job, bool row);
bool trigger_met(enum trigger trigger, enum job_state parent);   /* job_result of a terminal parent */
/* Its lists are in core->scratch, until that is used again. */
void job_spec_decode(struct core *core, const struct job *job, struct rec_job_spec *ret_spec);

static inline bool job_is_subrun(const struct job *job)
{
	return job->kind == KIND_SUBRUN;
}

/* As those see it that depend on it. */
static inline enum job_state job_result(const struct job *job)
{
	return job->flags & JOB_FORGIVEN ? STATE_SUCCEEDED : (enum job_state)job->state;
}

static inline bool job_on_hold(const struct job *job)
{
	return (job->run->held && !PLANTED(hold_of_a_run_ignored)) || (job->flags & JOB_ON_HOLD) != 0;
}

/* names.c */
struct job *run_job_named(const struct core *core, struct run *run, struct slice name);

/* nest.c */
/* What its job asks to be submitted; the part's blob is to be released. */
void subrun_submit(const struct core *core, const struct job *job, const struct rec_job_spec *spec, struct graph_part *part,
		   struct input_submit *ret_submit);

/* runs.c: the lists of runs, and the directory from serial numbers to jobs */
struct extent *extent_find(const struct run *run, uint32_t index);     /* runs.c */

static inline struct extent *run_extent(const struct run *run, uint32_t index)
{
	return index < run->extents[0]->count ? run->extents[0] : extent_find(run, index);
}

/* Jobs of a run aren't neighbours in memory, nor by serial number: some may have come later. */
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

/* What it shares with those that came together with it: a run_context record, or NULL. */
static inline struct blob *job_context(const struct job *job)
{
	return job->run->part_context[PLANTED(context_of_the_run) ? 0 : run_extent(job->run, job->index)->part];
}

/* for (job = run_job(run, 0); job; job = job_next(job)) */
static inline struct job *job_next(const struct job *job)
{
	return job->index + 1 < job->run->job_count ? run_job(job->run, job->index + 1) : NULL;
}

/* The children of a job: index << TRIGGER_BITS | trigger. */
struct child_walk {
	const uint32_t *at, *end;
	const struct job *parent;        /* NULL: those that came later were begun */
};

struct child_walk children_of(const struct job *job);    /* runs.c */
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
void run_add(struct core *core, struct run *run);        /* with the extents that it has */
void extent_add(struct core *core, struct extent *extent);       /* to the directory */
bool directory_free(const struct core *core, const struct extent *extent);       /* has no other job these numbers? */
void run_remove(struct core *core, struct run *run);     /* of the lists, after run_release; not freed */
void run_touch(struct core *core, struct run *run, bool row);

/* standing.c */
struct standing {
	uint32_t open;                   /* parents unsettled */
	uint32_t asked;                  /* of these, those that may still decide; expressions count as one */
	bool against;                    /* what it needs can't be any more */
	bool untaken;                    /* its condition is false */
};

struct standing *run_standing(const struct run *run);    /* mem_free it */
bool standing_fits(const struct job *job, struct standing standing);

/* submit.c */
uint64_t submit_step(struct core *core, const struct core_input *input);
void key_id(uint8_t id[24], uint64_t principal, const uint8_t key[16]);
void key_add(struct core *core, const uint8_t id[24], const uint8_t digest[32], uint64_t run, uint64_t by_run);   /* run 0: of a schedule */
enum err caller_check(const struct core *core, const struct caller *caller, const struct run **ret_run,
		      struct error *error);
void key_drop(struct core *core, const uint8_t id[24]);
const struct submit_key *key_find(const struct core *core, const struct input_submit *submit);
enum err key_agrees(const struct submit_key *key, const struct input_submit *submit, struct error *error);

#endif
