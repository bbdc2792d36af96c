/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state itself: the private structs of core, those of runs and of placement in headers of their own. Nothing
 * outside src/core includes these. A job's state is written by job_move and by loading, and by nothing else.
 */
#ifndef TITAN_CORE_STATE_H
#define TITAN_CORE_STATE_H

#include "base/buf.h"
#include "base/cron.h"
#include "base/planted.h"
#include "base/rand.h"
#include "base/sha256.h"
#include "core/state_run.h"
#include "proto/expr.h"

enum timer_kind { TIMER_DUE, TIMER_TIMEOUT, TIMER_WORKER, TIMER_EXPIRY, TIMER_DISPATCH, TIMER_DEADLINE, TIMER_SCHEDULE, TIMER_LOCK,
		  TIMER_REST, TIMER_ENDING };

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

struct schedule {
	char *name, *owner;
	char *tenant;                    /* as given; empty: the owner */
	char *concurrency;               /* as given; empty: none */
	uint64_t principal;
	struct blob *spec;
	struct rec_schedule_spec said;   /* its texts are in spec */
	struct cron cron;
	struct graph_part *parts;
	struct blob *context;            /* a run_context record, or NULL */
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

struct acts {                            /* the chain of acts: its end */
	uint64_t count;
	uint8_t head[SHA256_SIZE];       /* hash of the latest */
	uint64_t loaded;                 /* the latest whose row was read */
	bool due;                        /* the count is to be put */
	struct buf before, after, text;  /* of the act under way */
};

struct core {
	char *cluster;
	uint64_t pid;
	int64_t heartbeat_ms, lease_ms, grace_ms, ending_ms;
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
	struct acts acts;
	uint64_t revived_turn;           /* the latest in which a run that had ended was changed */
	uint64_t live_jobs, live_runs;
	uint64_t subruns;                /* jobs that have one and wait for its end */
	uint64_t counts[STATE_COUNT];
	uint64_t entered[STATE_COUNT];   /* moves into it; for people */

	struct worker **workers;         /* ascending by number */
	size_t worker_count, worker_cap;
	struct name_map worker_names;
	struct map worker_conns;
	uint64_t tallies[TALLIES];       /* workers of each, as of the last turn's end */
	uint64_t serving;                /* another number whenever a worker may serve other classes than before */
	uint64_t locks_offered;          /* that number when locks were last offered for it */

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
	struct class_order *order;       /* of the classes, while jobs are placed; or NULL */
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

/* Steps that people and jobs ask for return how much they changed; of a submit: the number of the run. */
#define STEP_REFUSED UINT64_MAX

static inline bool state_claims(enum job_state state)
{
	return state_holds(state) || (state == STATE_UNKNOWN && !PLANTED(unknown_leaves_its_group));
}

#define GROW(array, count, cap) \
	do { \
		if ((count) == (cap)) { \
			(cap) = (cap) ? 2 * (cap) : 16; \
			(array) = mem_resize((array), (cap), sizeof(*(array))); \
		} \
	} while (0)

#endif
