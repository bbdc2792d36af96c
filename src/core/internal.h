/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The private structs of core and what its files call of each other. Nothing outside src/core includes
 * this. A job's state is written by job_move and by loading, and by nothing else.
 */
#ifndef TITAN_CORE_INTERNAL_H
#define TITAN_CORE_INTERNAL_H

#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "core/core.h"
#include "proto/limits.h"

#define PAGE_JOBS 1024                   /* serial numbers in a page of the directory */
#define INSTANCE_SIZE 16
#define TRIGGER_BITS 2
#define PRIORITY_MAX 100
#define PRIORITY_DEFAULT 50
#define EWMA_RESULTS 8                   /* results before a worker's run time counts as known */

enum job_flag {
	JOB_TOUCHED = 1,                 /* in core->touched */
	JOB_ROW = 2,                     /* a row is due at the end of the turn */
	JOB_QUEUED = 4,                  /* has an entry in its ready heap, be it stale */
	JOB_TIMED = 8,                   /* has a valid timer */
	JOB_TIMEOUT = 16,                /* its specification has timeout_ms */
	JOB_RECALLED = 32,               /* its attempt was asked back; once an attempt */
	JOB_HELD = 64,                   /* seen in the inventory being read */
	JOB_ON_HOLD = 128,               /* a person holds it back */
	JOB_LOOSE = 256,                 /* a parent began a new round without it: that decides nothing here */
	JOB_MARKED = 512,                /* while a round is opened */
	JOB_STAGED = 1024,               /* its specification has a delay or a gate */
	JOB_PASSED = 2048,               /* its gate is open, in this round */
	JOB_PARKED = 4096,               /* has an entry, be it stale, with its run's bound */
	JOB_PARKED_GROUP = 8192,         /* with its fan-out's */
	JOB_FAIL_FAST = 16384,           /* its failure cancels its fan-out */
};

struct job {
	uint64_t epoch;
	struct run *run;
	const uint8_t *spec;             /* in a blob of its run */
	int64_t started_ms;
	int64_t when_ms;                 /* due while delayed, expiry of a gate, end when terminal */
	uint64_t cpu_us;
	uint64_t out_bytes;
	uint32_t rss_kib;
	uint32_t code;
	uint32_t index;
	uint32_t spec_len;
	uint32_t worker;                 /* number, of the latest attempt */
	uint32_t cause;                  /* index + 1 of the job that settled it */
	union {
		uint32_t pending;        /* waiting: parents that are unsettled */
		uint32_t held_at;        /* holds: its place in the worker's list */
	};
	uint16_t round;
	uint16_t tries;                  /* attempts that may have started, in this round */
	uint8_t crashes;
	uint8_t state;
	uint8_t stop_cause;
	uint8_t outcome;
	uint8_t priority;                /* 0..100 */
	uint8_t mode;                    /* enum exec_mode */
	uint16_t flags;
	uint16_t class_at;               /* its requirements, in core->classes */
	uint32_t group;                  /* its fan-out, place + 1 in run->groups */
};

struct name_index {                      /* open addressing: hash's high half, index + 1 */
	uint64_t *slots;
	size_t mask;
	uint64_t seed;                   /* so that nobody can choose names that collide */
};

struct ready_class {                     /* of jobs with equal requirements; of those that left: stale */
	uint64_t *keys;
	size_t count, cap, stale;
	struct slice_list labels;        /* sorted */
	uint64_t runs;                   /* in memory that have jobs of it */
};

struct bound {                           /* most that may hold attempts at once */
	uint32_t limit;                  /* 0: none */
	uint32_t active;
	uint32_t first;                  /* of a fan-out: what its jobs call it */
	bool fail_fast;
	struct lane *lanes;              /* ready jobs that wait for room */
	size_t lane_count;
};

struct run {
	uint64_t number;
	uint64_t first;                  /* serial number of its first job */
	uint32_t job_count;
	uint32_t settled;                /* terminal jobs */
	uint32_t counts[STATE_COUNT];
	struct job *jobs;
	uint32_t *child_start;           /* job_count + 1 places in children */
	uint32_t *children;              /* index << TRIGGER_BITS | trigger */
	struct blob **parts;
	uint32_t *part_jobs;
	uint32_t part_count;
	char *name, *owner;
	uint16_t *classes;               /* that its jobs are of, but for the first */
	size_t class_count;
	struct bound bound;
	struct bound *groups;
	size_t group_count;
	struct name_index *names;        /* made when a job is first asked for by name */
	int64_t submitted_ms;
	int64_t ended_ms;                /* 0: live */
	uint64_t ended_turn;
	struct run *next_ended;
	bool cancelled;
	bool held;                       /* a person holds back all of it */
	bool touched;
	bool row_due;
};

struct run_entry {                       /* ascending by number; run is NULL once it was swept */
	uint64_t number;
	struct run *run;
};

struct run_list {
	struct run_entry *at;
	size_t head, count, cap, gone;   /* gone: NULL entries from head on */
};

struct page {                            /* runs with serial numbers in it, ascending */
	size_t count, cap;
	struct page_entry {
		uint64_t first;
		struct run *run;
	} *at;
};

struct submit_key {
	uint8_t id[24];                  /* principal, key */
	uint8_t digest[32];
	uint64_t run;
};

struct lane {
	uint16_t class_at;
	struct ready_class jobs;
};

enum timer_kind { TIMER_DUE, TIMER_TIMEOUT, TIMER_WORKER, TIMER_EXPIRY };

struct timer {
	int64_t due_ns;
	uint64_t id;                     /* serial number, or number of a worker */
	uint64_t stamp;                  /* epoch, or the worker's timer_stamp: an older one is stale */
	uint16_t kind;                   /* enum timer_kind */
	uint16_t round;                  /* of the job: an older one is stale */
};

struct timers {
	struct timer *at;
	size_t count, cap, stale;
};

struct held_entry {
	struct job *job;
	uint64_t stamp;                  /* order of assignment */
};

struct worker {
	uint64_t number;
	char *name;
	uint8_t instance[INSTANCE_SIZE];
	size_t instance_len;
	uint32_t slots;
	uint32_t slots_high;             /* most it ever offered: bounds what it can hold */
	uint64_t conn;                   /* 0: none */
	enum worker_state state;
	bool quitting;                   /* was told to: gets nothing more */
	bool touched;
	bool timed;                      /* a timer with timer_stamp is under way */
	struct slice_list labels;        /* sorted */
	struct held_entry *held;
	size_t held_count, held_cap;
	uint64_t timer_stamp;
	int64_t heard_ns;
	int64_t seen_ms;
	uint64_t pid, done;
	uint64_t cpu_permille, mem_permille;
	uint64_t run_us;                 /* moving average of how long its jobs run */
	uint32_t results;
};

struct gate {                            /* of a job that waits for people */
	uint64_t job;
	uint64_t *people;                /* who approved */
	size_t have, cap;
};

struct candidate {                       /* for placement: the lowest key is the best */
	uint64_t key;
	struct worker *worker;
	uint64_t room;
};

struct core {
	char *cluster;
	uint64_t pid;
	int64_t heartbeat_ms, lease_ms, grace_ms;
	bool prefetch_off;

	struct now now;
	struct outbox *outbox;           /* of the turn under way */
	uint64_t turn, generation, boot;
	uint64_t next_run, next_job, next_worker;
	struct rand_state rand;
	uint64_t hash_seed;

	struct run_list runs;
	struct run *ended_first, *ended_last;
	struct map pages;                /* serial / PAGE_JOBS to struct page */
	struct name_map keys;            /* id to struct submit_key */
	uint64_t live_jobs, live_runs;
	uint64_t counts[STATE_COUNT];

	struct worker **workers;         /* ascending by number */
	size_t worker_count, worker_cap;
	struct name_map worker_names;
	struct map worker_conns;

	struct ready_class **classes;    /* the first wants nothing; NULL: gone, to be used again */
	size_t class_count;
	uint64_t parked_ready;           /* ready jobs that wait for room in a bound */
	uint64_t held_ready;             /* ready jobs that are held back, which no heap counts */
	bool rekey_due;                  /* priorities changed: the keys in the heap are old */
	struct candidate *candidates;
	size_t candidate_cap;
	struct timers timers;
	uint64_t assign_stamp;
	uint64_t recalls;                /* attempts asked back and still assigned */
	uint64_t stale_results;

	struct gate *gates;              /* ascending by job */
	size_t gate_count, gate_cap;

	struct job **touched;
	size_t touched_count, touched_cap;
	struct job **settled;            /* terminal, their children not yet told */
	size_t settled_count, settled_cap;
	struct run **touched_runs;
	size_t touched_run_count, touched_run_cap;
	struct worker **touched_workers;
	size_t touched_worker_count, touched_worker_cap;
	struct buf events;
	bool run_counters_due, worker_counter_due;
	struct arena scratch;            /* reset at each use */
	bool loaded;
	bool graphs_built;
};

#define GROW(array, count, cap) \
	do { \
		if ((count) == (cap)) { \
			(cap) = (cap) ? 2 * (cap) : 16; \
			(array) = mem_resize((array), (cap), sizeof(*(array))); \
		} \
	} while (0)

/* job.c */
static inline uint64_t job_serial(const struct job *job)
{
	return job->run->first + job->index;
}

static inline bool state_holds(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

static inline struct slice job_spec_bytes(const struct job *job)
{
	return slice_make(job->spec, job->spec_len);
}

void job_move(struct core *core, struct job *job, enum job_event event, enum job_state to);
void job_touch(struct core *core, struct job *job, bool row);
void job_deps_met(struct core *core, struct job *job);
void job_due(struct core *core, struct job *job);
void jobs_settle(struct core *core);                     /* tell children of what settled, breadth first */
bool trigger_met(enum trigger trigger, enum job_state parent);   /* of a terminal parent */
/* Its lists are in core->scratch, until that is used again. */
void job_spec_decode(struct core *core, const struct job *job, struct rec_job_spec *ret_spec);

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
void attempt_timer_arm(struct core *core, struct job *job, int64_t wait_ms);
void job_delay_arm(struct core *core, struct job *job, int64_t wait_ms);
int64_t backoff_longest_ms(uint64_t base_ms);
void attempt_attach(struct core *core, struct worker *worker, struct job *job);
void attempt_detach(struct core *core, struct job *job);

/* spec.c */
enum err spec_check(const struct rec_job_spec *spec, uint32_t index, uint32_t count, struct error *error);
/* graph.c: builds run->jobs and child lists from run->parts; validates everything */
enum err graph_build(struct core *core, struct run *run, struct error *error);
void run_free(struct run *run);
/* cycle.c: ERR_CYCLE that names one, or ERR_NONE */
enum err graph_check_cycle(struct core *core, const struct run *run, struct error *error);
/* names.c */
void name_index_init(struct name_index *index, size_t names, uint64_t seed);
void name_index_free(struct name_index *index);
/* The job with this name, or UINT32_MAX and the slot where it belongs. */
uint32_t name_index_find(const struct name_index *index, const struct run *run, struct slice name,
			 size_t *ret_slot);
void name_index_put(struct name_index *index, size_t slot, struct slice name, uint32_t job);
struct job *run_job_named(const struct core *core, struct run *run, struct slice name);

/* submit.c */
void submit_step(struct core *core, const struct core_input *input);
void key_id(uint8_t id[24], uint64_t principal, const uint8_t key[16]);
void key_add(struct core *core, const uint8_t id[24], const uint8_t digest[32], uint64_t run);

/* runs.c: the lists of runs, and the directory from serial numbers to jobs */
struct run *run_find(const struct core *core, uint64_t number);
struct job *job_find(const struct core *core, uint64_t serial);
void run_add(struct core *core, struct run *run);
void run_remove(struct core *core, struct run *run);     /* of the lists; not freed */
void run_touch(struct core *core, struct run *run, bool row);

/* cancel.c */
void cancel_step(struct core *core, const struct core_input *input);
bool job_cancel(struct core *core, struct job *job);

/* gate.c */
struct gate *gate_find(const struct core *core, uint64_t serial);        /* NULL if it doesn't wait for people */
void gate_add(struct core *core, const struct job *job);
void gate_remove(struct core *core, const struct job *job);
bool gate_vote(struct gate *gate, uint64_t person);      /* false: it had approved before */
void gate_enter(struct core *core, struct job *job);
void gate_timer_arm(struct core *core, struct job *job, int64_t wait_ms);
void gate_expired(struct core *core, struct job *job);
enum err gate_decide(struct core *core, const struct input_act *act, struct run *run, struct job *job,
		     uint64_t *ret_changed, struct error *error);

/* round.c */
enum err round_open(struct core *core, const struct input_act *act, struct run *run, struct job *job,
		    uint64_t *ret_changed, struct error *error);

/* act.c */
void reopen_step(struct core *core, const struct core_input *input);
void act_step(struct core *core, const struct core_input *input);
/* The run, and the job if it is named; ERR_NOT_FOUND says which of them there isn't. */
enum err act_target(struct core *core, uint64_t number, struct slice name, struct run **ret_run,
		    struct job **ret_job, struct error *error);

static inline bool job_on_hold(const struct job *job)
{
	return job->run->held || (job->flags & JOB_ON_HOLD) != 0;
}

/* label.c */
void classes_init(struct core *core);
void classes_free(struct core *core);
enum err class_of(struct core *core, struct run *run, struct slice_list labels, uint16_t *ret_class,
		  struct error *error);                  /* sorts labels */
void run_release_classes(struct core *core, struct run *run);
bool worker_can(const struct worker *worker, const struct ready_class *class);
void labels_sort(struct slice_list *labels);             /* and drops what is there twice */
struct slice_list labels_copy(struct slice_list labels); /* one allocation, at its at */

/* bound.c */
struct bound *job_group(const struct job *job);          /* NULL if none */
struct bound *job_bound_full(const struct job *job);     /* that has no room for it, or NULL */
struct ready_class *job_lane(const struct job *job);     /* of one that is parked */
void bound_park(struct core *core, struct bound *bound, struct job *job);
void bound_offer(struct core *core, struct bound *bound);
void bounds_offer(struct core *core, const struct job *job);
void run_offer(struct core *core, struct run *run);
void bounds_count(struct core *core, const struct job *job, int change);         /* attempts held */
void run_free_bounds(struct run *run);
enum err group_join(struct run *run, struct job *job, const struct rec_job_spec *spec, struct error *error);
void group_fail(struct core *core, const struct job *failed);

/* place.c */
void ready_insert(struct ready_class *class, const struct job *job);
struct job *ready_top(struct core *core, struct ready_class *class);     /* the best, which stays there; or NULL */
void ready_pop(struct ready_class *class, struct job *job);
void ready_push(struct core *core, struct job *job);
void ready_leave(struct core *core, struct job *job);    /* it stopped being ready without being taken */
void ready_compact(struct core *core);                   /* not within a move: every entry is a ready job's then */
void place_jobs(struct core *core);
uint64_t worker_depth(const struct core *core, const struct worker *worker);

/* worker.c */
struct worker *worker_find(const struct core *core, uint64_t number);
struct worker *worker_new(struct core *core, uint64_t number, struct slice name);
void worker_free(struct worker *worker);
void worker_touch(struct core *core, struct worker *worker);
void worker_hello(struct core *core, const struct core_input *input);
void worker_gone(struct core *core, uint64_t conn);
struct worker *worker_heard(struct core *core, uint64_t conn);   /* NULL if it isn't a worker's */
void worker_timer_fired(struct core *core, struct worker *worker);
void workers_forgive(struct core *core);          /* what silence there was doesn't count */
void worker_wait(struct core *core, struct worker *worker);      /* unreachable, lost after a full grace */
void workers_quit(struct core *core);

/* timers.c */
void timer_add(struct core *core, enum timer_kind kind, uint64_t id, uint64_t stamp, int64_t wait_ms);
void timer_stale(struct core *core);                     /* one that was added won't be needed */
bool timer_valid(const struct core *core, const struct timer *timer);
bool timer_take_due(struct core *core, struct timer *ret_timer);
void timers_tidy(struct core *core);

/* flush.c: the end of a turn */
void run_wait_sweep(struct core *core, struct run *run); /* it ended: it leaves when this turn is durable */
void run_live_again(struct core *core, struct run *run);
void turn_flush(struct core *core);
void meta_put(struct core *core, const char *name, uint64_t value);
void run_row_put(struct core *core, struct run *run);
void error_send(struct core *core, uint64_t conn, uint64_t request, const struct error *error, bool close);

/* load.c, check.c: what the dependencies of each job come to, recomputed from the child lists */
struct standing {
	uint32_t open;                   /* parents unsettled */
	bool against;                    /* one settled against its trigger */
};
struct standing *run_standing(const struct run *run);    /* mem_free it */
bool standing_fits(const struct job *job, struct standing standing);
/* A run that had left memory, from its rows; it is as if it had ended just now. */
enum err run_load_ended(struct core *core, const struct row *rows, size_t count, struct error *error);

#endif
