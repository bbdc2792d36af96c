/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of placement: classes of jobs, bounds and lanes, groups, locks, tenants, pools and workers. */
#ifndef TITAN_CORE_STATE_PLACE_H
#define TITAN_CORE_STATE_PLACE_H

#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/core.h"
#include "proto/limits.h"
#include "proto/resource.h"
#include "proto/spec.h"

#define INSTANCE_SIZE 16
#define EWMA_RESULTS 8                   /* results before a worker's run time counts as known */

struct job;
struct run;

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

struct queue {                           /* a tenant's ready jobs in a class; there while a lane leads to it */
	struct tenant *tenant;
	uint64_t lanes;
	uint16_t class_at;
	struct key_heap jobs;
	uint64_t key, pass;              /* of its best job and of its tenant, when it got its place */
	size_t place;                    /* in class->order, if it has entries */
};

struct ready_class {                     /* of jobs with equal requirements */
	size_t count, stale;             /* in all its queues */
	struct map queues;               /* tenant->at to struct queue */
	struct queue **order;            /* a heap of those with entries */
	size_t order_count, order_cap;
	struct wants *wants;             /* NULL: nothing but a slot */
	uint16_t at;                     /* in core->classes */
	uint8_t kind;                    /* enum job_kind, where no worker has such jobs; else KIND_UNSAID */
	uint64_t runs;                   /* in memory that have jobs of it */
	uint64_t newest_run;             /* the number of the one that came last; 0: it has gone */
	uint64_t served_as_of;           /* core->serving, when served was found */
	bool served;
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
	struct queue *queue;             /* of those that are ready and have room */
	struct key_heap jobs;            /* those that are ready and have no room */
	struct bound *at;                /* which stand here; NULL: nowhere */
	size_t place;
	uint64_t key;                    /* of its best job, when it got that place */
	uint32_t group;                  /* fan-out, place + 1 in run->groups */
	uint16_t class_at;
	uint16_t claim_count;
	bool in_bounds, in_share;        /* as their kind has it (kind.c) */
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
	uint32_t wishes;                 /* classes with a queue of it, but for the first of them */
	bool set;                        /* by a person: it has a row */
	uint64_t pass;                   /* virtual time of its next attempt */
	uint64_t runs;                   /* in memory */
	uint64_t open;                   /* jobs of them that haven't ended */
};

struct held_entry {
	struct job *job;
	uint64_t stamp;                  /* order of assignment */
};

/* THERE: not lost. FEW_AHEAD: there, with few jobs ahead of its slots. BUSY: there, with a slot in use. */
enum tally { TALLY_THERE, TALLY_FEW_AHEAD, TALLY_BUSY, TALLIES };

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
	uint8_t tally;                   /* bits of enum tally: as it was counted last */
	bool timed;                      /* a timer with timer_stamp is under way */
	uint64_t contexts[LIMIT_WORKER_CONTEXTS];        /* what its slots hold: serial number of a first job; 0: nothing */
	uint32_t context_slots;          /* that it has */
	uint32_t context_at;             /* the slot that is filled next */
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
	bool resting;                    /* it couldn't start a job, and gets none until refused_until_ns has passed */
	uint32_t refused_code;           /* the errno of that; 0: none since it last started one */
	uint32_t refusals;               /* rests in a row, with no start between them */
	int64_t refused_until_ns;
	uint64_t rest_stamp;             /* of the timer that ends the rest */
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

struct order_entry {
	uint64_t key;                    /* of the best job there, or one before it */
	struct queue *queue;
};

struct tenant_order {                    /* the classes in which a tenant has jobs: a heap */
	const struct tenant *tenant;
	struct order_entry *at;
	size_t count, cap;
	size_t place;                    /* among the tenants */
};

struct class_order {                     /* for placement */
	struct tenant_order *tenants;    /* by tenant->at */
	struct tenant_order **at;        /* a heap of those with jobs */
	size_t count;
	bool *passed;                    /* by class: nobody takes any more of it in this turn */
	bool added;                      /* something was, since it was last looked at */
};

struct candidate {                       /* for placement: the lowest key is the best */
	uint64_t key;
	struct worker *worker;
	uint64_t room;
};

#endif
