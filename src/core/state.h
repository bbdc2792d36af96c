/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state itself: the private structs of core. Nothing outside src/core includes this. A job's state is
 * written by job_move and by loading, and by nothing else.
 */
#ifndef TITAN_CORE_STATE_H
#define TITAN_CORE_STATE_H

#include "base/check.h"
#include "base/cron.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/sha256.h"
#include "core/core.h"
#include "proto/expr.h"
#include "proto/limits.h"
#include "proto/resource.h"

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
	JOB_STAGED = 1024,               /* its specification has a delay, a gate or a dispatch time-out */
	JOB_PASSED = 2048,               /* its gate is open, in this round */
	JOB_PARKED = 4096,               /* has an entry, be it stale, in its lane */
	JOB_FINAL = 8192,                /* a final job, or behind one */
	JOB_FAIL_FAST = 16384,           /* its failure cancels its fan-out */
	JOB_FORGIVEN = 65536,            /* it ended badly, and its specification says that it counts as a good end */
	JOB_DEAD = 131072,               /* it has a dead letter */
	JOB_DUE_BY = 262144,             /* its specification has a deadline */
	JOB_DEADLINE = 524288,           /* has a valid timer for it */
	JOB_PUSHED = 32768,              /* in core->pushbacks */
	JOB_SUBRUN = 1 << 24,            /* it runs no command: a run of its own begins for it (subrun.c) */
	JOB_LOOP = 1 << 25,              /* passes of it follow each other until one is what it waits for (loop.c) */
	JOB_LATER = 1048576,             /* it has children that came later */
	JOB_EXPR = 2097152,              /* an expression decides (decide.c) */
	JOB_UNTAKEN = 4194304,           /* skipped because its condition was false, in this round */
	JOB_LATE = 1073741824,           /* its deadline had passed when this round began: it doesn't count */
	JOB_UNPAID = 1 << 23,            /* holds an attempt, and nothing yet of what it asks for */
};

struct job {
	uint64_t epoch;
	struct run *run;
	const uint8_t *spec;             /* in a blob of its run */
	int64_t started_ms;
	int64_t when_ms;                 /* terminal: its end (UTC); else when its state's timer is due, steady */
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
	uint16_t tries;                  /* attempts that may have started, in this round; of a loop, in this pass */
	uint8_t crashes;
	uint8_t state;
	uint8_t stop_cause;
	uint8_t outcome;
	uint8_t priority;                /* 0..100 */
	uint8_t mode;                    /* enum exec_mode */
	uint16_t class_at;               /* its requirements, in core->classes */
	uint32_t flags;
	uint32_t lane;                   /* place in run->lanes: what it wants, and what it is bound by */
};

struct name_index {                      /* open addressing: hash's high half, index + 1 */
	uint64_t *slots;
	size_t mask;
	uint64_t seed;                   /* so that nobody can choose names that collide */
};

struct wants {                           /* what jobs of a class want of their worker */
	uint8_t *bytes;                  /* the same as a job_spec with nothing else in it: equal ones are equal */
	size_t len;
	struct rec_job_spec spec;        /* that, decoded; its lists are sorted */
	struct resource *asks;
	size_t ask_count;
	struct arena arena;
};

struct pool {                            /* a named set of workers; known since somebody named it */
	char *name;
	enum pool_state state;
	bool durable;                    /* somebody set its state: it has a row */
};
struct key_heap {                        /* of ready jobs, the best first; of those that left: stale */
	uint64_t *keys;
	size_t count, cap, stale;
};

struct queue {                           /* a tenant's ready jobs in a class */
	struct tenant *tenant;
	struct key_heap jobs;
	uint64_t key, pass;              /* of its best job and of its tenant, when it got its place */
	size_t place;                    /* in class->order, if it has entries */
};

struct ready_class {                     /* of jobs with equal requirements */
	size_t count, stale;             /* in all its queues */
	struct queue **queues;           /* by tenant->at; NULL: none yet */
	size_t queue_cap;
	struct queue **order;            /* a heap of those with entries */
	size_t order_count, order_cap;
	struct wants *wants;             /* NULL: nothing but a slot */
	uint16_t at;                     /* in core->classes */
	uint64_t runs;                   /* in memory that have jobs of it */
	uint64_t newest_run;             /* the number of the one that came last; 0: it has gone */
};

/* RUNS: the runs of a concurrency group; the jobs of those stand there whose run has no place. */
enum bound_kind { BOUND_FANOUT, BOUND_RUN, BOUND_TENANT, BOUND_RUNS, BOUND_GROUP, BOUND_LOCK };

struct bound {                           /* most that may hold attempts at once */
	enum bound_kind kind;
	uint32_t limit;                  /* 0: none */
	uint32_t active;
	uint32_t first, jobs;            /* of a fan-out: the first of its jobs, and how many there are */
	bool fail_fast;
	struct stand *stands;            /* lanes that wait for room, by class */
	size_t stand_count, stand_cap;
};

struct stand {
	uint16_t class_at;
	bool shared;                     /* at a lock: those that would share it */
	struct lane **at;                /* a heap */
	size_t count, cap;
};

struct claim {                           /* what a job holds while it has an attempt, or is unknown */
	struct bound *bound;             /* of a struct group or lock */
	uint32_t stated;                 /* the limit that its specification gives the group; 0: none */
	bool shared;                     /* the lock */
};

struct lane {                            /* jobs of a run that want the same and are bound by the same */
	struct run *run;
	struct key_heap jobs;            /* those that are ready and have no room */
	struct bound *at;                /* which stand here; NULL: nowhere */
	size_t place;
	uint64_t key;                    /* of its best job, when it got that place */
	uint32_t group;                  /* fan-out, place + 1 in run->groups */
	uint16_t class_at;
	uint16_t claim_count;
	bool subruns;                    /* they take no slot, so nothing of their tenant's bound */
	struct claim claims[];           /* beside fan-out, run and tenant */
};

struct group {                           /* a named concurrency group: known while a run in memory names it, or it was set */
	struct bound jobs;               /* first: jobs that name it themselves */
	struct bound runs;               /* runs that do, from their first attempt until all their jobs have ended */
	char *name;
	uint32_t set;                    /* limit that a person set; 0: nobody has */
	uint64_t users;                  /* lanes and runs */
	struct stated {                  /* limits that live runs state, each with how many of them */
		uint32_t limit;
		uint32_t count;
	} *stated;
	size_t stated_count;
};

struct lock {                            /* known while somebody has it, or a run in memory names it */
	struct bound bound;              /* first; active: jobs that have it */
	uint32_t alone;                  /* of them, those that don't share it: one at most */
	char *name;
	uint64_t users;                  /* lanes */
	struct lock_hold **holds;        /* people */
	size_t hold_count;
};

struct lock_hold {                       /* of a person */
	struct lock *lock;
	char *owner;                     /* as given, or the person */
	char *person, *reason;
	bool shared;
	uint64_t fence;                  /* larger than any before */
	int64_t taken_ms;                /* UTC */
	int64_t ttl_ms, due_ms;          /* 0: until it is dropped; due on the steady clock */
	uint64_t stamp;                  /* of its timer; 0: none */
};

struct tenant {
	struct bound bound;              /* first */
	char *name;
	uint32_t at;                     /* in core->tenants */
	uint32_t weight;
	uint32_t max_queued;             /* 0: no bound */
	bool set;                        /* by a person: it has a row */
	uint64_t pass;                   /* virtual time of its next attempt */
	uint64_t runs;                   /* in memory */
	uint64_t open;                   /* jobs of them that haven't ended */
};

struct extent {                          /* jobs that came together; it never moves */
	uint64_t first;                  /* serial number of its first job; the others follow */
	uint32_t start;                  /* index of that in the run */
	uint32_t count;
	uint32_t part, part_count;       /* of the run's parts */
	struct run *run;
	struct job *jobs;
	uint32_t *child_start;           /* count + 1 places in children */
	uint32_t *children;              /* index << TRIGGER_BITS | trigger; of children that came with them */
};

struct later {                           /* children that came later than their parent */
	uint32_t *at;                    /* as in struct extent */
	size_t count, cap;
};

struct edge {                            /* from a job that was there before */
	uint32_t parent;
	uint32_t child;                  /* index << TRIGGER_BITS | trigger */
};

struct extra {                           /* what only some kinds of jobs have */
	uint64_t child;                  /* number of the sub-run of the latest attempt in this round; 0: none */
	uint32_t passes;                 /* of its loop that are over in this round, each followed by another */
};

struct run {
	uint64_t number;
	uint64_t first;                  /* serial number of its first job */
	uint32_t job_count;
	uint32_t settled;                /* terminal jobs */
	uint32_t forgiven;               /* of them, bad ends that count as good ones */
	uint32_t dead;                   /* of them, those with a dead letter */
	uint32_t counts[STATE_COUNT];
	struct extent **extents;         /* by rising index, and by rising serial number */
	uint32_t extent_count;
	struct map laters;               /* index of a parent to struct later */
	uint32_t *finals;                /* indices of those that were submitted with it */
	size_t final_count;
	struct map extras;               /* index of a job with JOB_SUBRUN or JOB_LOOP to struct extra */
	struct decider **deciders;       /* by rising index of their jobs */
	size_t decider_count, decider_cap;
	struct blob **parts;
	uint32_t *part_jobs;
	uint64_t *part_first;            /* serial number of its first job; 0: it goes on with the one before */
	uint32_t part_count;
	uint32_t missing;                /* while it is loaded: of the jobs that came together */
	bool said;                       /* how many those are */
	size_t part_cap;
	char *name, *owner;
	char *schedule;                  /* that began it, or NULL */
	uint64_t parent;                 /* serial number of the job whose sub-run it is; 0: none */
	uint64_t parent_run;             /* the run of that, and its name */
	char *parent_name;
	uint8_t depth;                   /* how many runs it is within */
	uint8_t priority;                /* + 1, of its jobs that say none; 0: the default */
	uint16_t *classes;               /* that its jobs are of, but for the first */
	size_t class_count;
	struct tenant *tenant;
	struct bound bound;
	struct bound **groups;           /* fan-outs */
	size_t group_count;
	struct group *concurrency;       /* of the run as a whole; NULL: none */
	uint32_t stated;                 /* the limit that the run gives it; 0: none */
	bool seated;                     /* it has a place there */
	bool counted;                    /* the limits that it states, itself or in its jobs, count: not all of it has ended */
	struct lane **lanes;
	size_t lane_count, lane_cap;
	struct name_index *names;        /* made when a job is first asked for by name */
	int64_t submitted_ms;
	int64_t steady_ms;               /* the same on the steady clock */
	int64_t ended_ms;                /* 0: live */
	int64_t logs_gone_ms;            /* its logs up to then were pruned; 0: they weren't */
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

struct page {                            /* extents with serial numbers in it, ascending */
	size_t count, cap;
	struct page_entry {
		uint64_t first;
		struct extent *extent;
	} *at;
};

struct submit_key {
	uint8_t id[24];                  /* principal, key */
	uint8_t digest[32];
	uint64_t run;
	uint64_t by_run;                 /* whose job submitted it; 0: a person did */
	struct submit_key *next;         /* of the same run: it was added to */
};

enum timer_kind { TIMER_DUE, TIMER_TIMEOUT, TIMER_WORKER, TIMER_EXPIRY, TIMER_DISPATCH, TIMER_DEADLINE, TIMER_SCHEDULE, TIMER_LOCK };

struct timer {
	int64_t due_ns;
	uint64_t id;                     /* serial number, or number of a worker */
	uint64_t stamp;                  /* epoch, or the worker's timer_stamp: an older one is stale */
	int64_t steady_ms, date_ms;      /* by these clocks; 0: not, and both 0: on the monotonic one alone */
	uint16_t kind;                   /* enum timer_kind */
	uint16_t round;                  /* of the job: an older one is stale */
};

struct steady {                          /* the clock of intervals: boot time + base */
	uint64_t boot_id;                /* of the machine, when base was chosen */
	int64_t base_ms;
	int64_t skew_ms;                 /* the wall clock is ahead of it by this, as far as is durable */
	int64_t slept_ns;                /* boot time is ahead of the monotonic clock by this */
	bool put_due;
};

struct timers {
	struct timer *at;
	size_t count, cap, stale;
	bool lost;                       /* stale ones are of jobs that may come back with the same epoch */
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
	uint64_t newest_conn;            /* that it ever had: numbers only grow */
	enum worker_state state;
	bool quitting;                   /* was told to: gets nothing more */
	bool touched;
	bool timed;                      /* a timer with timer_stamp is under way */
	struct slice_list labels;        /* sorted */
	struct resource *offers;         /* sorted by name, with what is in use */
	size_t offer_count;
	uint64_t unpaid;                 /* attempts with JOB_UNPAID */
	uint64_t asking;                 /* attempts that ask for resources; all of one class, or mixed */
	uint16_t asking_class;
	bool asking_mixed;
	bool reading;                    /* its inventory: nothing is paid before it is read */
	struct pool *pool;
	enum worker_standing standing;
	int64_t drops_ns[LIMIT_FLAP_DROPS];      /* when it lost its latest connections, in a ring */
	uint32_t drop_at;
	int64_t rest_until_ns;           /* it lost too many: passed over until then */
	uint64_t reserved;               /* serial number of the job that it is kept free for, in this turn; 0 none */
	uint16_t reserved_class;
	uint32_t lot;                    /* between equals, in this turn */
	struct held_entry *held;
	size_t held_count, held_cap;
	uint64_t timer_stamp;
	int64_t heard_ns;
	int64_t seen_ms;
	uint64_t pid, done;
	uint64_t cpu_permille, mem_permille, gpu_permille, load_permille, start_us;
	uint64_t *stuck;                 /* jobs of which a process was killed and lives on, it says */
	size_t stuck_count;
	uint64_t run_us;                 /* moving average of how long its jobs run */
	uint32_t results;
};

struct schedule {
	char *name, *owner;
	char *tenant;                    /* as given; empty: the owner */
	char *concurrency;               /* as given; empty: none */
	uint64_t principal;
	struct blob *spec;
	struct rec_schedule_spec said;   /* its texts are in spec */
	struct cron cron;
	struct graph_part *parts;
	size_t part_count;
	uint32_t max_jobs;
	bool paused;
	int64_t next_ms;                 /* 0: never */
	int64_t last_ms;
	uint64_t last_run;
	uint64_t live;                   /* runs of it that haven't ended */
	uint32_t queued;
	uint64_t fired, skipped;
	uint8_t skip_why;                /* enum skip_why */
	int64_t skip_ms;
	bool keyed;                      /* with the submit key that set it last */
	uint8_t key[24], digest[32];
	uint64_t stamp, queue_stamp;     /* of their timers; 0: none */
};

struct vote {
	uint64_t person;
	uint8_t digest[SHA256_SIZE];     /* of what they were shown */
};

struct gate {                            /* of a job that waits for people, be it unknown */
	uint64_t job;
	uint64_t stamp;                  /* of its timer; 0: none */
	struct vote *votes;
	size_t vote_count, vote_cap;
	uint8_t digest[SHA256_SIZE];     /* of what is shown, while its run has this many jobs */
	uint32_t digest_jobs;            /* 0: not known */
};

struct pushback {                        /* of a job that a person sent back, until it has ended */
	uint64_t job;
	uint64_t person;
	uint8_t digest[SHA256_SIZE];     /* of what they were shown */
	char *reason;
};

struct pruned {                          /* runs that were pruned; rows of their own, a day's neighbours in one */
	uint64_t first, last;
	int64_t wall_ms;
	bool row_due;
};

struct serials {                         /* of jobs */
	uint64_t first, end;
};

struct pruning {                         /* what is left of a run that was pruned, or whose logs were */
	uint64_t run;
	bool logs_only;
	bool logs_gone;                  /* as was said in this life */
	uint64_t parts;
	uint64_t part_cost;              /* in rows */
	struct serials *ranges;          /* of its jobs' rows */
	size_t range_at, range_count, range_cap;
};

struct class_order {                     /* for placement, while nothing changes in the queues: the class with the best job first */
	uint16_t *at;                    /* a heap */
	size_t count;
	bool *passed;                    /* by class: nobody takes any more of it in this turn */
	bool changed;
	uint64_t parkings;               /* when it was made */
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
	struct map begun;                /* a run that a job submitted to its struct submit_key */
	struct map keys_of;              /* number of a run to the latest of its keys, the others behind it */
	struct pruned *pruned;           /* ascending, apart from each other or of different days */
	size_t pruned_count, pruned_cap;
	uint64_t pruned_total;           /* runs */
	bool pruned_due;                 /* some have a row due */
	struct pruning *pruning;         /* ascending by run */
	size_t pruning_count, pruning_cap;
	uint64_t revived_turn;           /* the latest in which a run that had ended was changed */
	uint64_t live_jobs, live_runs;
	uint64_t subruns;                /* jobs that have one and wait for its end */
	uint64_t counts[STATE_COUNT];
	uint64_t entered[STATE_COUNT];   /* moves into it; for people */

	struct worker **workers;         /* ascending by number */
	size_t worker_count, worker_cap;
	struct name_map worker_names;
	struct map worker_conns;

	struct ready_class **classes;    /* the first wants nothing; NULL: gone, to be used again */
	size_t class_count;
	struct tenant **tenants;         /* by tenant->at; NULL: gone, to be used again */
	size_t tenant_count;
	struct name_map tenant_names;
	struct name_map wishes;          /* what a class wants, encoded, to the class */
	struct name_map groups;          /* named concurrency groups */
	struct name_map locks;
	struct map lock_stamps;          /* stamp of a timer to struct lock_hold */
	uint64_t lock_stamp, lock_holds;
	uint64_t fences;                 /* fencing numbers that were given */
	uint64_t virtual_time;           /* of the fair share: where the latest attempt was given */
	uint64_t parked_ready;           /* ready jobs that wait for room in a bound */
	uint64_t parkings;               /* ever */
	uint64_t held_ready;             /* ready jobs that are held back, which no heap counts */
	bool rekey_due;                  /* priorities changed: the keys in the heap are old */
	struct candidate *candidates;
	size_t candidate_cap;
	uint64_t boot_id;                /* of the machine, now */
	struct steady steady;
	struct arena placing;            /* of the turn's heaps of candidates, a class each */
	bool reserved;                   /* some worker is kept free for a job */
	bool drain_due;                  /* some worker's attempts may have to be asked back */
	struct pool **pools;             /* by name */
	size_t pool_count, pool_cap;
	struct timers timers;
	uint64_t assign_stamp;
	uint64_t recalls;                /* attempts asked back and still assigned */
	uint64_t stale_results;

	struct schedule **schedules;
	size_t schedule_count, schedule_cap;
	struct name_map schedule_names;
	struct map schedule_stamps;      /* of their timers, to struct schedule */
	uint64_t schedule_stamp;
	uint64_t schedule_turn, schedule_work;   /* what they cost in this turn */
	struct gate_page **gate_pages;   /* ascending by job */
	size_t gate_page_count, gate_page_cap;
	uint64_t gate_count;
	uint64_t gate_stamp;
	struct map pushbacks;            /* serial number to struct pushback */

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
	struct arena end_scratch;        /* the same, of bad ends */
	bool loaded;
	bool graphs_built;
};

static inline bool state_holds(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

#define GROW(array, count, cap) \
	do { \
		if ((count) == (cap)) { \
			(cap) = (cap) ? 2 * (cap) : 16; \
			(array) = mem_resize((array), (cap), sizeof(*(array))); \
		} \
	} while (0)

#endif
