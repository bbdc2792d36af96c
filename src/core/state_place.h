/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private state of placement: classes of jobs, bounds, lanes, groups, locks, tenants, pools and workers. */
#ifndef TITAN_CORE_STATE_PLACE_H
#define TITAN_CORE_STATE_PLACE_H

#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/core.h"
#include "proto/label.h"
#include "proto/limits.h"
#include "proto/resource.h"
#include "proto/spec.h"

#define INSTANCE_SIZE 16
/* a worker must have reported this many results before its average run time counts */
#define EWMA_RESULTS 8

struct job;
struct run;

struct wants {                           /* requirements of a class for its worker */
	uint8_t *bytes;                  /* encoded as a job_spec; equal requirements have equal bytes */
	size_t len;
	struct rec_job_spec spec;        /* decoded from bytes; lists are sorted */
	bool stranger;                   /* the jobs belong to another person than the master's owner */
	/* the submitter's directory in which the jobs run, and which the worker must share; no here_dir: they run elsewhere */
	struct rec_run_context here;
	uint64_t *lacking;               /* numbers of workers of that machine that said that they don't have the directory */
	size_t lacking_count, lacking_cap;
	const char *topic_pool;          /* the pool to which spec.topic is mapped; NULL: none */
	struct label_want *labels, *prefer;      /* read from spec.labels and spec.prefer */
	struct resource *asks;
	size_t ask_count;
	struct arena arena;
};

struct pool {                            /* a pool: a named set of workers; exists since a worker or a person named it */
	char *name;
	enum pool_state state;
	struct slice_list provides;      /* the pool's capabilities, sorted */
	bool durable;                    /* a person set the pool's state, so the pool has a row */
};

struct topic {                           /* a mapping of a topic, or of a pattern of topics, to a pool */
	char *pattern, *pool;
};

struct key_heap {                        /* heap of ready jobs' keys; stale counts entries of jobs that left */
	uint64_t *keys;
	size_t count, cap, stale;
};

struct queue {                           /* a tenant's ready jobs in a class; exists while a lane feeds it */
	struct tenant *tenant;
	uint64_t lanes;
	uint16_t class_at;
	struct key_heap jobs;
	/* key of the best job, and virtual time of the tenant, when the queue got its place */
	uint64_t key, virtual_time;
	size_t place;                    /* the queue's place in the heap class->order, if the queue has entries */
};

struct ready_class {                     /* a class: jobs with equal requirements for a worker */
	size_t count, stale;             /* number of entries, and of stale entries, in all queues of the class */
	struct map queues;               /* map from tenant->at to struct queue */
	struct queue **order;            /* heap of the class's queues that have entries */
	size_t order_count, order_cap;
	struct wants *wants;             /* the requirements of the class; NULL: only a slot is required */
	uint16_t at;                     /* index of the class in core->classes */
	uint8_t kind;                    /* enum job_kind if no worker runs the class; else KIND_UNSAID */
	uint64_t runs;                   /* number of runs in memory that have jobs of the class */
	uint64_t newest_run;             /* number of the last run that joined the class; 0: that run has gone */
	uint64_t served_as_of;           /* value of core->serving when `served` was computed */
	bool served;
};

/* BOUND_RUNS limits the runs of a concurrency group: jobs of a run without a place there wait at it. */
enum bound_kind { BOUND_FANOUT, BOUND_RUN, BOUND_TENANT, BOUND_RUNS, BOUND_GROUP, BOUND_LOCK };

struct bound {                           /* a limit on active jobs */
	enum bound_kind kind;
	uint32_t limit;                  /* most active jobs; 0: no limit */
	uint32_t active;
	uint32_t first, jobs;            /* of a fan-out's bound: index of its first job, and number of jobs */
	bool fail_fast;
	struct stand *stands;            /* lanes that wait for room, by class */
	size_t stand_count, stand_cap;
};

struct stand {
	uint16_t class_at;
	bool shared;                     /* at a lock: the lanes here want to share the lock */
	struct lane **at;                /* heap of the lanes that wait */
	size_t count, cap;
};

struct claim {                           /* a group or lock that a job holds while active or unknown */
	struct bound *bound;             /* the bound of a struct group or struct lock */
	uint32_t stated;                 /* limit that the job's specification states for the group; 0: none */
	bool shared;                     /* the job shares the lock */
};

struct lane {                            /* jobs of a run with the same class and the same bounds */
	struct run *run;
	struct queue *queue;             /* queue of the lane's ready jobs that have room */
	struct key_heap jobs;            /* the lane's ready jobs without room (parked) */
	struct bound *at;                /* the bound at which the lane waits; NULL: none */
	size_t place;
	/* key of the lane's best parked job when the lane took its place at the bound */
	uint64_t key;
	uint32_t group;                  /* fan-out: index + 1 in run->groups; 0: none */
	uint16_t class_at;
	uint16_t claim_count;
	bool in_bounds, in_share;        /* copies of the fields of kind_table for the lane's jobs */
	struct claim claims[];           /* groups and locks, besides the bounds of fan-out, run and tenant */
};

struct group { /* a named concurrency group; exists while a run in memory names it or a person set it */
	struct bound jobs;               /* must be the first member; counts jobs that name the group */
	/* counts runs that name the group, from their first attempt to the end of their last job */
	struct bound runs;
	char *name;
	uint32_t set;                    /* limit that a person set for the group; 0: none */
	uint64_t users;                  /* number of lanes and runs that name the group */
	struct stated {                  /* limits that live runs state, each with the number of users */
		uint32_t limit;
		uint32_t count;
	} *stated;
	size_t stated_count;
};

struct lock {                            /* a lock; exists while it is held, or a run in memory names it */
	struct bound bound;              /* must be the first member; active counts the jobs that hold the lock */
	uint32_t alone;                  /* jobs that hold the lock exclusively: 0 or 1 */
	char *name;
	uint64_t users;                  /* number of lanes that claim the lock */
	struct lock_hold **holds;        /* holds of this lock by people */
	size_t hold_count;
};

struct lock_hold {                       /* a lock held by a person */
	struct lock *lock;
	char *owner;                     /* name of the owner, as given or the person's */
	char *person, *reason;
	bool shared;
	uint64_t fence;                  /* fencing number of the hold, larger than all before */
	int64_t taken_ms;                /* when the person took the lock (UTC) */
	/* how long the person may hold the lock, and until when (steady clock); 0: until dropped */
	int64_t ttl_ms, due_ms;
	uint64_t stamp;                  /* stamp of the timer that is armed; 0: none */
};

struct tenant {
	struct bound bound;              /* the limit of active jobs; must be the first member */
	char *name;
	uint32_t at;                     /* index of the tenant in core->tenants */
	uint32_t weight;
	uint32_t max_queued;             /* most queued jobs of the tenant; 0: no limit */
	uint32_t wishes;                 /* number of classes in which the tenant has queues, without the first class */
	bool set;                        /* a person set the tenant, so it has a row */
	uint64_t virtual_time;           /* virtual time of the tenant's next attempt */
	uint64_t runs;                   /* number of the tenant's runs in memory */
	uint64_t open;                   /* jobs in the tenant's runs that haven't ended */
};

struct held_entry {
	struct job *job;
	uint64_t stamp;                  /* rises with each assignment and so gives their order */
};

/*
 * TALLY_THERE: not lost. TALLY_FEW_PREFETCHED: not lost, few jobs prefetched for its slots. TALLY_BUSY: not lost, a slot
 * in use.
 */
enum tally { TALLY_THERE, TALLY_FEW_PREFETCHED, TALLY_BUSY, TALLIES };

struct worker {
	uint64_t number;
	char *name, *machine;            /* machine: its identity; empty: the worker doesn't say */
	uint8_t instance[INSTANCE_SIZE];
	size_t instance_len;
	uint32_t slots;
	uint32_t slots_high;             /* most slots that the worker ever offered; limits its attempts */
	uint64_t conn;                   /* number of the worker's connection; 0: not connected */
	uint64_t newest_conn;            /* highest number of any connection of the worker; numbers only grow */
	enum worker_state state;
	bool owners_only;                /* the worker takes only jobs of the master's owner */
	bool quitting;                   /* the worker was told to quit: it gets no more jobs */
	bool ended;                      /* the worker ended in order, and hasn't connected since */
	bool touched;
	uint8_t tally;                   /* bits of enum tally for which the worker is counted */
	bool timed;                      /* a timer with stamp timer_stamp is armed for the worker */
	/* Contexts that the worker has, each by the serial number of its first job; 0: a free slot. */
	uint64_t contexts[LIMIT_WORKER_CONTEXTS];
	uint32_t context_slots;          /* number of context slots that the worker has */
	uint32_t context_at;             /* the context slot to fill next */
	struct slice_list labels;        /* the worker's labels, in order of their keys */
	struct resource *offers;         /* resources that the worker offers, sorted by name, with the amounts in use */
	size_t offer_count;
	uint64_t unreserved;                 /* number of the worker's attempts with JOB_UNRESERVED */
	uint64_t asking;                 /* attempts that ask for resources: all of asking_class unless asking_mixed */
	uint16_t asking_class;
	bool asking_mixed;
	bool reading;                    /* the worker's inventory is being read: nothing is reserved meanwhile */
	struct pool *pool;
	enum worker_standing standing;
	int64_t drops_ns[LIMIT_FLAP_DROPS];      /* times of the worker's latest disconnects, in a ring */
	uint32_t drop_at;
	int64_t rest_until_ns;           /* the worker flapped: placement passes over it until this time */
	bool resting;                    /* the worker couldn't start a job: it gets none until refused_until_ns */
	uint32_t refused_code;           /* errno of the refused start; 0: none since its last start */
	uint32_t refusals;               /* number of rests without a started job between them */
	int64_t refused_until_ns;
	uint64_t rest_stamp;             /* stamp of the timer that ends the rest */
	uint64_t reserved;               /* job for which the worker is reserved in this turn; 0: none */
	uint16_t reserved_class;
	uint32_t lot;                    /* random number of this turn, to choose between equal workers */
	struct held_entry *held;
	size_t held_count, held_cap;
	uint64_t timer_stamp;
	int64_t heard_ns;
	int64_t seen_ms;
	uint64_t pid, done;
	uint64_t protocol;               /* version of the protocol on the worker's latest connection */
	uint64_t cpu_permille, mem_permille, gpu_permille, load_permille, start_us;
	uint64_t *stuck;                 /* jobs with a killed process that still lives, as the worker reported */
	size_t stuck_count;
	uint64_t run_us;                 /* moving average of the run time of the worker's jobs */
	uint32_t results;
};

struct order_entry {
	uint64_t key;                    /* key of the queue's best job, or a lower key */
	struct queue *queue;
};

struct tenant_order {                    /* heap of the classes in which a tenant has jobs */
	const struct tenant *tenant;
	struct order_entry *at;
	size_t count, cap;
	size_t place;                    /* the tenant's place in the heap class_order->at */
};

struct class_order {                     /* the order of classes while jobs are placed */
	struct tenant_order *tenants;    /* one entry for each tenant, indexed by tenant->at */
	struct tenant_order **at;        /* heap of the tenants that have jobs */
	size_t count;
	bool *passed;                    /* indexed by class: no worker takes more of the class in this turn */
	bool added;                      /* an entry was added since order_best cleared this flag */
};

struct candidate {                       /* a worker with room during placement; the lowest key is best */
	uint64_t key;
	struct worker *worker;
	uint64_t room;
};

#endif
