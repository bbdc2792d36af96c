/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of core call of each other, file by file; what is about placing is in placing.h. Nothing outside src/core
 * includes this.
 */
#ifndef TITAN_CORE_INTERNAL_H
#define TITAN_CORE_INTERNAL_H

#include <endian.h>
#include "core/place/placing.h"

#include "base/planted.h"
#include "core/state.h"

/* Steps that people and jobs ask for return how much they changed; of a submit: the number of the run. */
#define STEP_REFUSED UINT64_MAX

/* What the dependencies of a job come to. */
enum outlook { OUTLOOK_OPEN, OUTLOOK_GO, OUTLOOK_AGAINST, OUTLOOK_UNTAKEN };

/* job.c */
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

static inline struct slice job_spec_bytes(const struct job *job)
{
	return slice_make(job->spec, job->spec_len);
}

void job_move(struct core *core, struct job *job, enum job_event event, enum job_state to);
void job_touch(struct core *core, struct job *job, bool row);
void job_deps_met(struct core *core, struct job *job);
/* Its dependencies came to this; cause: index + 1 of the job that decided it, or 0. */
void job_judge(struct core *core, struct job *job, enum outlook outlook, uint32_t cause);
void job_due(struct core *core, struct job *job);
void jobs_settle(struct core *core);                     /* tell children of what settled, breadth first */
bool trigger_met(enum trigger trigger, enum job_state parent);   /* job_result of a terminal parent */
/* Its lists are in core->scratch, until that is used again. */
void job_spec_decode(struct core *core, const struct job *job, struct rec_job_spec *ret_spec);

/* hooks.c: the rows of hooks.def, in their order */
void hooks_leave(struct core *core, struct job *job, enum job_state to);
void hooks_enter(struct core *core, struct job *job, enum job_state from, enum job_event event);
void hooks_settled(struct core *core, const struct job *job);
bool hooks_begin(struct core *core, struct job *job);    /* false: a worker runs jobs of its kind */

/* attempt.c */
void attempt_renew(struct core *core, struct job *job);   /* an epoch; nothing is known of it */
/* It ended like this; its children aren't told. */
void attempt_finish(struct core *core, struct job *job, const struct rec_done *done);
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
bool attempt_doom(struct core *core, struct job *job);   /* one that is unknown is to end when it comes back; false: it was */
bool attempt_doomed(const struct job *job);
void attempt_recall(struct core *core, struct job *job);  /* ask it back, if it can still be asked */
void attempt_recall_over(struct core *core, struct job *job);    /* it isn't asked back any more */
void attempt_attach(struct core *core, struct worker *worker, struct job *job);
void attempt_detach(struct core *core, struct job *job);

/* retry.c */
uint64_t retry_failures(const struct job *job);          /* in its round, time-outs included, crashes not */
uint64_t retry_cause(enum outcome outcome);              /* bit of enum retry_on; 0: never retried */
bool retry_covers(const struct job *job, const struct rec_job_spec *spec, uint64_t cause);
bool retry_due(const struct job *job, const struct rec_job_spec *spec, uint64_t cause);  /* covered, and one is left */
uint64_t crash_limit(const struct rec_job_spec *spec);
int64_t backoff_longest_ms(const struct rec_job_spec *spec);
void job_delay(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec,
	       uint64_t failures);

/* spec.c */
#define LATE_SPANS 100                   /* longest spans by which jobs may come after their run */
enum err spec_check(const struct rec_job_spec *spec, uint32_t index, const struct extent *extent, struct error *error);

/*
 * graph.c: the next extent, from the given number of run->parts; validates everything. On failure nothing of
 * it remains. Whoever calls it puts it into the directory.
 */
enum err graph_build(struct core *core, struct run *run, uint64_t first, uint32_t parts, struct error *error);
void parts_room(struct run *run, size_t more);
void extent_drop(struct run *run);                       /* the last one, and its parts */
void later_put(struct run *run, uint32_t parent, uint32_t child);        /* as in struct edge */
void run_free(struct run *run);

/* final.c: what is added to a run comes before its final jobs */
void final_add(struct run *run, struct job *job);
/* Those of a new extent that are behind a final job of it, or of those that were there before, by their edges from them. */
void finals_mark(const struct run *run, const struct extent *extent, const struct edge *outer, size_t outer_count);
enum err finals_check(struct core *core, const struct run *run, const struct extent *extent, struct error *error);
void finals_wait(struct run *run, const struct extent *extent);

/* cycle.c: ERR_CYCLE that names one, or ERR_NONE */
enum err graph_check_cycle(struct core *core, const struct extent *extent, struct error *error);

/* names.c */
void name_index_init(struct name_index *index, size_t names, uint64_t seed);
void name_index_free(struct name_index *index);
/* The job with this name, or UINT32_MAX and the slot where it belongs. */
uint32_t name_index_find(const struct name_index *index, const struct run *run, struct slice name,
			 size_t *ret_slot);
void name_index_put(struct name_index *index, size_t slot, struct slice name, uint32_t job);
void names_added(const struct core *core, struct run *run, const struct extent *extent);
struct job *run_job_named(const struct core *core, struct run *run, struct slice name);
/* The same while jobs are being built from this index on. */
struct job *run_job_named_before(const struct core *core, struct run *run, struct slice name, uint32_t end);

/* submit.c */
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
uint64_t submit_step(struct core *core, const struct core_input *input);
/* How many jobs it has, if a run with so many before may have them. */
enum err submit_count(const struct core *core, const struct input_submit *submit, uint32_t before, uint32_t *ret_count,
		      struct error *error);
void spec_rows(struct core *core, const struct run *run, uint32_t from);  /* of the last extent, whose first part this is */
void key_id(uint8_t id[24], uint64_t principal, const uint8_t key[16]);
void key_add(struct core *core, const uint8_t id[24], const uint8_t digest[32], uint64_t run, uint64_t by_run);   /* run 0: of a schedule */
enum err caller_check(const struct core *core, const struct caller *caller, const struct run **ret_run,
		      struct error *error);
void key_drop(struct core *core, const uint8_t id[24]);
const struct submit_key *key_find(const struct core *core, const struct input_submit *submit);
enum err key_agrees(const struct submit_key *key, const struct input_submit *submit, struct error *error);

/* grow.c: to the run that submit->into says, without a key; the serial number of the first of them */
enum err run_grow(struct core *core, const struct input_submit *submit, struct run **ret_run, uint64_t *ret_first,
		  struct error *error);

/* subrun.c */
#define SUBRUN_CANCELLED 2               /* "exit code" of a sub-run that somebody cancelled */

struct extra *job_extra(const struct job *job);          /* of a sub-run, or a job with JOB_LOOP */
uint64_t job_child(const struct job *job);
void job_child_set(const struct job *job, uint64_t child);
void extra_add(const struct job *job);
void extras_drop(struct run *run, uint32_t from);        /* those of the jobs from this index on */
enum err subrun_check(struct core *core, const struct job *job, const struct rec_job_spec *spec, struct error *error);
struct run *subrun_of(const struct core *core, const struct job *job);   /* the run that a job waits for, or NULL */
/* What its job asks to be submitted; the part's blob is to be released. */
void subrun_submit(const struct core *core, const struct run *run, const struct rec_job_spec *spec, struct graph_part *part,
		   struct input_submit *ret_submit);
void subruns_end(struct core *core);                     /* those whose runs have ended in this turn */
void subrun_begin(struct core *core, struct job *job);
void subrun_attach(struct core *core, const struct job *job);
void subrun_detach(struct core *core, const struct job *job);
void subrun_stop(struct core *core, const struct job *job);      /* what runs in any case goes on */
void subrun_kill(struct core *core, const struct job *job);      /* nothing does */
/* A person's word: what nobody knows about below is over, too. Did anything change? */
bool subrun_cancel(struct core *core, const struct job *job, bool all);
bool subrun_is_ending(const struct core *core, const struct job *job);   /* it was stopped, and something of it goes on */
uint64_t subrun_hold(struct core *core, const struct job *job);  /* as its job is now */
uint64_t subrun_prioritize(struct core *core, const struct job *job);
/* May a job of this run have a new round? Not of a sub-run that no job waits for. */
enum err subrun_reopens(const struct core *core, const struct run *run, struct error *error);
/* Of rows: false if they contradict themselves. */
bool subrun_load(struct run *run, const struct row_run *row);
bool subrun_row_sane(const struct job *job, const struct row_job *row);
enum err subruns_load(const struct core *core, struct error *error);
void subruns_check(const struct core *core);

/* kind.c: what the core does with a job, by its kind */
struct kind_ops {
	bool worker;                     /* a worker runs it; else it begins at the end of a turn, by its row of hooks.def */
	bool in_bounds;                  /* it counts in the bounds of its run and fan-out */
	bool in_share;                   /* and in that of its tenant */
};
extern const struct kind_ops kind_table[KIND_COUNT];
/* begin.c */
bool kinds_begin(struct core *core);                     /* whatever needs no worker; false: nothing did */
void noop_begin(struct core *core, struct job *job);

static inline bool job_is_subrun(const struct job *job)
{
	return job->kind == KIND_SUBRUN;
}

/* loop.c */
uint32_t job_passes(const struct job *job);              /* of its loop that are over, each followed by another */
void job_passes_set(const struct job *job, uint32_t passes);
/* Is this end of an attempt what its loop waits for? Asked before it would be retried. */
bool loop_holds(const struct job *job, const struct rec_job_spec *spec, enum job_state end);
/* An attempt ended like this, and isn't retried: so does its job, or the pass of its loop. */
void attempt_over(struct core *core, struct job *job, enum job_event event, enum job_state end);
struct slice attempt_spec(struct core *core, const struct job *job);     /* with what titan adds to its environment */
bool loop_row_sane(const struct job *job, const struct row_job *row);

/* runs.c: the lists of runs, and the directory from serial numbers to jobs */
struct run *run_find(const struct core *core, uint64_t number);
struct job *job_find(const struct core *core, uint64_t serial);
void run_add(struct core *core, struct run *run);        /* with the extents that it has */
void extent_add(struct core *core, struct extent *extent);       /* to the directory */
bool directory_free(const struct core *core, const struct extent *extent);       /* has no other job these numbers? */
void run_remove(struct core *core, struct run *run);     /* of the lists, after run_release; not freed */
void run_touch(struct core *core, struct run *run, bool row);

/* cancel.c */
uint64_t cancel_step(struct core *core, const struct core_input *input);
/* A person's word, also on one that is unknown. all: of its sub-run also what runs in any case. */
bool job_cancel(struct core *core, struct job *job, bool all);
uint64_t run_cancel_jobs(struct core *core, struct run *run, bool all);
void run_told_to_end(struct core *core, struct run *run);        /* its jobs were, but for those that run in any case */
/* Not by a person's word: one that is unknown stays so until somebody knows. False: nothing changed. */
bool job_give_up(struct core *core, struct job *job);

/* ending.c: what runs in any case, also when its run was told to end */
#define ENDING_WAITS 1                   /* as a time: its deadline came while it waited for others, so its time begins later */

int64_t job_ending_ms(const struct job *job);            /* by the steady clock; 0: its run wasn't told to end */
void job_ending_set(const struct job *job, int64_t ending_ms);
void ending_order(struct core *core, struct job *job);   /* its time begins, unless it still waits for others */
void ending_waited(struct core *core, struct job *job);  /* it doesn't wait any more */
void ending_deadline(struct core *core, struct job *job);        /* of the run, which has come */
void ending_returned(struct core *core, struct job *job);        /* it isn't unknown any more */
void ending_clear(struct core *core, struct job *job);
void ending_fired(struct core *core, struct job *job);   /* its time is over */
bool ending_row_sane(const struct job *job, const struct row_job *row);
void ending_resume(struct core *core, struct job *job);
void ending_check(const struct job *job);

/* act.c: what an act names. A fan-out's jobs are neighbours. */
struct target {
	struct run *run;
	uint32_t first, count;           /* of its jobs */
	bool whole;                      /* no job was named: all of the run */
};

static inline struct job *target_job(const struct target *target, uint32_t at)
{
	return run_job(target->run, target->first + at);
}

/* gates.c: what waits for people; what is found stays where it is until one comes or goes */
struct gate *gate_find(const struct core *core, uint64_t serial);        /* NULL if it doesn't wait for people */
const struct gate *gate_after(const struct core *core, uint64_t serial); /* the next by number, or NULL */
void gate_add(struct core *core, const struct job *job);
void gate_remove(struct core *core, const struct job *job);
void gates_check(const struct core *core);
void gates_free(struct core *core);
/* gate.c */
/* A row of what somebody said, to be completed. */
struct row_decision *decision_put(struct core *core, const struct input_act *act, const struct job *job,
				  enum verdict verdict);
bool gate_vote(struct gate *gate, uint64_t person, const uint8_t digest[SHA256_SIZE]);    /* false: it was there */
uint64_t gate_have(const struct core *core, const struct job *job);      /* votes on what is shown now */
void gate_enter(struct core *core, struct job *job);
void gate_timer_arm(struct core *core, struct job *job, int64_t due_ms);
void gate_hold(struct core *core, struct job *job, bool hold);           /* its time stands still, or begins anew */
void gate_expired(struct core *core, struct job *job);
enum err gate_decide(struct core *core, const struct input_act *act, const struct target *target,
		     uint64_t *ret_changed, struct error *error);

/* dead.c: ends that are bad */
void bad_end_enter(struct core *core, struct job *job, enum job_event event);
void bad_end_leave(struct core *core, struct job *job);
bool bad_end_load(struct core *core, struct run *run);           /* of its jobs' rows; false: they contradict themselves */
bool bad_end_fits(const struct job *job, bool forgives);         /* for checks; forgives: its specification, this end */
uint64_t dead_discard(struct core *core, const struct target *target);  /* how many letters there were */

/* As those see it that depend on it. */
static inline enum job_state job_result(const struct job *job)
{
	return job->flags & JOB_FORGIVEN ? STATE_SUCCEEDED : (enum job_state)job->state;
}

/* digest.c: what people are shown of a gate that waits for them */
const uint8_t *gate_digest(const struct core *core, const struct job *job);
void gate_changed(struct core *core, struct job *job);   /* what is shown of it, and so who has approved of that */

/* settle.c: an unknown job, by a person's word */
enum err settle(struct core *core, const struct input_act *act, const struct target *target, uint64_t *ret_changed,
		struct error *error);

/* pruned.c: the numbers of runs that were removed for good */
const struct pruned *pruned_find(const struct core *core, uint64_t number);      /* NULL: it wasn't */
void pruned_add(struct core *core, uint64_t number);
void pruned_flush(struct core *core);
enum err load_pruned(struct core *core, const struct row_pruned *row, struct error *error);
void pruned_check(const struct core *core);

/* prune.c: removing them */
struct pruning *pruning_find(const struct core *core, uint64_t number);          /* its logs, or what is left of it, are going */
uint64_t prune_step(struct core *core, const struct core_input *input);
enum err load_pruning(struct core *core, const struct row_pruning *row, struct error *error);
void prune_check(const struct core *core);
uint64_t prune_hash(const struct core *core);
void prune_free(struct core *core);

static inline bool pruning_has_rows(const struct pruning *pruning)
{
	return pruning->parts > 0 || pruning->range_at < pruning->range_count;
}

#define DIGEST_LEAST 8                   /* bytes of what was shown that a decision names */

/* pushback.c: why a job is done again, for whoever does it */
void pushback_add(struct core *core, struct job *job, uint64_t person, struct slice digest, struct slice reason);
void pushback_drop(struct core *core, struct job *job);
struct slice pushback_reason(const struct core *core, const struct job *job);
/* Was it sent back by this person, shown this? */
bool pushback_is(const struct core *core, const struct job *job, uint64_t person, struct slice digest);
uint64_t pushbacks_hash(const struct core *core);
void pushbacks_check(const struct core *core);
void pushbacks_free(struct core *core);

/* round.c */
enum err round_open(struct core *core, const struct input_act *act, const struct target *target,
		    uint64_t *ret_changed, struct error *error);
/* index + 1 of the parent that decided it against its needs, 0 if none did; of what an expression makes of several, the first. */
uint32_t job_cause(struct core *core, const struct job *job);
/* A new round of a job before a gate, and of what is between; false: the gate isn't among it. */
bool round_push_back(struct core *core, struct job *job, struct job *gate, uint64_t *ret_changed);
bool round_reaches(struct core *core, struct job *job, const struct job *gate);          /* it is among it */

/* act.c */
uint64_t run_hold(struct core *core, struct run *run, bool hold);
uint64_t job_hold(struct core *core, struct job *job, bool hold);
uint64_t job_prioritize(struct core *core, struct job *job, uint8_t priority);
uint64_t reopen_step(struct core *core, const struct core_input *input);
uint64_t act_step(struct core *core, const struct core_input *input);
/* The run, a job of it, or a fan-out by what its jobs share ("encode", "encode[*]"); or ERR_NOT_FOUND. */
/* ERR_DENIED: it isn't of the owner whose alone may be changed. what: "run 5" */
enum err owner_check(const char *owner, struct slice own_only, struct error *error, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
enum err own_run_check(const struct core *core, uint64_t run, struct slice own_only, struct error *error);
enum err act_target(struct core *core, uint64_t number, struct slice name, struct target *ret_target,
		    struct error *error);
/* ERR_TERMINAL if all of it has ended. */
enum err act_check_live(uint64_t number, struct slice name, const struct target *target, struct error *error);

static inline bool job_on_hold(const struct job *job)
{
	return (job->run->held && !PLANTED(hold_of_a_run_ignored)) || (job->flags & JOB_ON_HOLD) != 0;
}

/* set.c */
uint64_t set_step(struct core *core, const struct core_input *input);

/* due.c: the steady clock, on which intervals are counted also over restarts; deadlines */
struct deadline {                        /* whichever comes first; 0: not given */
	int64_t due_ms;
	int64_t date_ms;
};

#define CLOCK_STEP_MS 100                /* less than this isn't a wall clock that was set */

bool clock_stepped(int64_t step_ms);
int64_t steady_ms(const struct core *core);
int64_t due_after(const struct core *core, int64_t wait_ms);     /* never less than the wait */
int64_t due_wall_ms(const struct core *core, int64_t due_ms);    /* for people */
int64_t run_submitted_ms(const struct core *core, const struct run *run);       /* while it lives by the wall clock of now */
void steady_begin(struct core *core);
void steady_turn(struct core *core);
/* The timer of its state; due_ms by the steady clock, date_ms by the wall clock, whichever comes last. */
void due_arm(struct core *core, struct job *job, enum timer_kind kind, int64_t due_ms, int64_t date_ms);
void due_disarm(struct core *core, struct job *job, enum job_state to);  /* it leaves its state for this one */
int64_t deadline_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec);
/* Of what waits in its state, on the wall clock as it is now; 0: nothing does. */
int64_t job_due_wall_ms(const struct core *core, const struct job *job, const struct rec_job_spec *spec);
void deadline_arm(struct core *core, struct job *job);
void deadline_disarm(struct core *core, struct job *job);
void deadline_reopen(struct core *core, struct job *job);
void deadline_fired(struct core *core, struct job *job);
void job_out_of_time(struct core *core, struct job *job);
void dispatch_arm(struct core *core, struct job *job);
void dispatch_released(struct core *core, struct job *job);
void dispatch_late(struct core *core, struct job *job);
void run_resume_clock(struct core *core, struct run *run);

/* schedule.c */
void schedule_fired(struct core *core, struct schedule *schedule, uint64_t stamp);
void schedule_run_counts(struct core *core, const struct run *run, bool live);   /* it has ended, or lives again */
void schedules_stepped(struct core *core);               /* the wall clock was set */

/* schedule_list.c */
struct schedule *schedule_find(const struct core *core, struct slice name);
struct schedule *schedule_by_stamp(const struct core *core, uint64_t stamp);
struct schedule *schedule_new(struct core *core, struct slice name, struct slice owner);
void schedules_free(struct core *core);
enum err schedule_take_spec(struct core *core, struct schedule *schedule, struct slice bytes, struct error *error);
uint64_t schedule_count_live(const struct core *core, const struct schedule *schedule);
void schedules_resume(struct core *core);
void schedules_check(const struct core *core);
uint64_t schedules_hash(const struct core *core);

/* schedule_set.c */
uint64_t schedule_step(struct core *core, const struct core_input *input);
void schedule_keep_key(struct core *core, struct schedule *schedule, const uint8_t id[24], const uint8_t digest[32]);
enum err schedule_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);

/* timers.c */
void timer_add_date(struct core *core, enum timer_kind kind, uint64_t id, int64_t date_ms);
void timer_add_steady(struct core *core, enum timer_kind kind, uint64_t id, int64_t due_ms);
/* On the monotonic clock alone: for what isn't durable. */
void timer_add(struct core *core, enum timer_kind kind, uint64_t id, uint64_t stamp, int64_t wait_ms);
void timer_add_due(struct core *core, enum timer_kind kind, const struct job *job, int64_t due_ms, int64_t date_ms);
void timers_rekey(struct core *core);                    /* a clock was set */
void timer_stale(struct core *core);                     /* one that was added won't be needed */
bool timer_valid(const struct core *core, const struct timer *timer);
bool timer_take_due(struct core *core, struct timer *ret_timer);
void timers_drop_lost(struct core *core);                /* before a job comes back that nobody knew about */
void timers_tidy(struct core *core);

/* flush.c: the end of a turn */
void run_wait_sweep(struct core *core, struct run *run); /* it ended: it leaves when this turn is durable */
void run_live_again(struct core *core, struct run *run);
void run_stay(struct core *core, struct run *run);       /* it has ended; not before this turn is durable does it leave */
void turn_flush(struct core *core);
void meta_put(struct core *core, const char *name, uint64_t value);
void error_send(struct core *core, uint64_t conn, uint64_t request, const struct error *error, bool close);

/* load.c: what is read is believed only if it fits */
#define TRUST(error, ...) error_set(error, ERR_STORE_TRUST, __VA_ARGS__)
#define NUMBER_MAX (INT64_MAX / 2)       /* of what a row says */

static inline bool number_sane(int64_t value, int64_t low)
{
	return value >= low && value <= NUMBER_MAX;
}

static inline void number_put(uint8_t *out, uint64_t value)      /* eight bytes, little-endian */
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
}


/* load_run.c: before the rows of jobs come, the graphs of all runs are built */
enum err load_run(struct core *core, const struct row_run *row, struct error *error);
enum err load_run_row(struct core *core, const struct row_run *row, struct error *error); /* live or not */
enum err load_spec(struct core *core, const struct row_spec *row, struct error *error);
enum err load_job(struct core *core, const struct row_job *row, struct error *error);
enum err run_build(struct core *core, struct run *run, struct error *error);             /* of all its parts */

/* resume.c: what the dependencies of each job come to, recomputed from the child lists */
enum err run_resume(struct core *core, struct run *run, struct error *error);
/* A run that had left memory, from its rows; it is as if it had ended just now. */
enum err run_load_ended(struct core *core, const struct row *rows, size_t count, struct error *error);
struct standing {
	uint32_t open;                   /* parents unsettled */
	uint32_t asked;                  /* of these, those that may still decide; expressions count as one */
	bool against;                    /* what it needs can't be any more */
	bool untaken;                    /* its condition is false */
};
struct standing *run_standing(const struct run *run);    /* mem_free it */
bool standing_fits(const struct job *job, struct standing standing);

/* decide.c: of jobs with JOB_EXPR */
void decider_add(struct run *run, const struct job *job, const struct rec_job_spec *spec);
void deciders_drop(struct run *run, uint32_t from);      /* those of the jobs from this index on */
void decider_wait(const struct job *job, uint32_t parent);       /* besides, for one that was added */
enum outlook job_outlook(const struct job *job);
enum outlook job_answered(const struct job *job, const struct job *parent);      /* which has just settled */
void job_ask_again(const struct job *job);               /* of all its parents, as they are now */
void job_stand(const struct job *job, struct standing *standing);
/* The same of a pass that ended like this. */
bool pass_meets(const struct job *job, enum job_state end, struct slice code);
enum outlook standing_outlook(struct standing standing);
void decider_check(const struct job *job);

/* check_bound.c */
void check_ready(const struct core *core);

#endif
