/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The private state of core; structs of runs and of placement are in headers of their own. No file outside src/core
 * includes these headers. A job's state is written only by job_move and by loading.
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
		  TIMER_REST, TIMER_ENDING, TIMER_VALUE, TIMER_STABLE };

struct timer {
	int64_t due_ns;
	/* what the timer is for: a job's serial number, a worker's number, or the stamp of something else */
	uint64_t id;
	uint64_t stamp;                  /* the job's epoch or a stamp; the timer is stale if the current one differs */
	/* Due on the steady and wall clock; 0: not on that clock; both 0: only on the monotonic clock. */
	int64_t steady_ms, date_ms;
	uint16_t kind;                   /* kind of the timer, as enum timer_kind */
	uint16_t round;                  /* round of the job; the timer is stale if the job's round differs */
};

struct steady {                          /* the steady clock: boot time + base_ms */
	uint64_t boot_id;                /* boot of the machine in which base_ms was chosen */
	int64_t base_ms;
	int64_t skew_ms;                 /* durable: wall clock minus steady clock */
	int64_t slept_ns;                /* difference of boot time and monotonic time, in which the machine slept */
	bool put_due;
};

struct timers {
	struct timer *at;
	size_t count, cap, stale;
	bool lost;                       /* some stale timers are of unknown jobs that may return with their epoch */
};

struct schedule {
	char *name, *owner;
	char *tenant;                    /* tenant as given; empty: the owner is the tenant */
	char *concurrency;               /* concurrency group as given; empty: no group */
	uint64_t principal;
	struct blob *spec;
	/* the schedule's specification, decoded; its texts point into the field spec */
	struct rec_schedule_spec said;
	struct cron cron;
	struct graph_part *parts;
	struct blob *context;            /* run_context record for the schedule's jobs, or NULL */
	size_t part_count;
	uint32_t max_jobs;
	bool paused;
	int64_t next_ms;                 /* when the next run is due (UTC); 0: never */
	int64_t last_ms;
	uint64_t last_run;
	uint64_t live;                   /* number of the schedule's live runs */
	uint32_t queued;
	uint64_t fired, skipped;
	uint8_t skip_why;                /* enum skip_why of the last skip */
	int64_t skip_ms;
	bool keyed;                      /* the schedule has a submit key: the one that set it last */
	uint8_t key[24], digest[32];
	uint64_t stamp, queue_stamp;     /* stamps of the timers that are armed; 0: none */
};

struct vote {
	uint64_t person;
	uint8_t digest[SHA256_SIZE];     /* hash of what the gate showed to the person who decided */
	struct blob *given;              /* job_output records: values for the fields of the gate; NULL: it has none */
};

struct gate {                            /* a job that waits for people: a gate, or unknown */
	uint64_t job;
	uint64_t stamp;                  /* stamp of the timer that is armed; 0: none */
	struct vote *votes;
	size_t vote_count, vote_cap;
	/* hash of what the gate shows to people; valid while the run has digest_jobs jobs */
	uint8_t digest[SHA256_SIZE];
	uint32_t digest_jobs;            /* number of jobs of the run when the digest was computed; 0: not computed */
};

struct pushback {                        /* a person at a gate sent this job back to run again; kept until the job ends */
	uint64_t job;
	uint64_t person;
	uint8_t digest[SHA256_SIZE];     /* hash of what the gate showed to the person who pushed the job back */
	char *reason;
};

struct pruned {                          /* a range of pruned runs: one row for neighbours pruned on one day */
	uint64_t first, last;
	int64_t wall_ms;
	bool row_due;
};

struct serials {                         /* a range of jobs' serial numbers; end is excluded */
	uint64_t first, end;
};

struct pruning {                         /* the remains of a run whose removal, or whose logs' removal, has begun */
	uint64_t run;
	bool logs_only;
	bool logs_gone;                  /* the logs are removed, as the master reported */
	uint64_t parts;
	uint64_t part_cost;              /* cost of deleting a part, in rows */
	struct serials *ranges;          /* serial numbers of the run's job rows that remain */
	size_t range_at, range_count, range_cap;
};

struct ended_sums {                      /* sums over the ended runs in the store: rows/ended_sums.c */
	uint64_t all;                    /* number of ended runs */
	uint64_t runs[RUN_STATE_COUNT];  /* number of them in each state */
	uint64_t jobs[STATE_COUNT];      /* number of their jobs in each state */
	uint32_t runs_due, jobs_due;     /* one bit for each sum that changed in this turn */
	bool due;                        /* a sum changed in this turn */
	bool known;                      /* the store has the sums */
};

struct acts {                            /* the latest act, with which the chain of acts continues */
	uint64_t count;
	uint8_t head[SHA256_SIZE];       /* hash of the latest act */
	uint64_t loaded;                 /* number of the latest act whose row was read */
	bool due;                        /* the count must be put at the turn's end */
	struct buf before, after, text;  /* texts of the act that is being recorded */
};

struct core {
	struct topic *topics;            /* in the order of their patterns */
	size_t topic_count, topic_cap;
	char *cluster;
	char *owner;                     /* the person who runs the master; empty: not known, so nobody is a stranger */
	uint64_t pid;
	int64_t heartbeat_ms, lease_ms, grace_ms, ending_ms;
	bool prefetch_off;
	bool of_then;

	struct now now;
	struct outbox *outbox;           /* outbox of the turn that is being decided */
	uint64_t turn, generation, boot;
	uint64_t next_run, next_job, next_worker;
	struct rand_state rand;
	uint64_t hash_seed;

	struct run_list runs;
	struct run *ended_first, *ended_last;
	struct map pages;                /* map from serial number / PAGE_JOBS to struct page */
	struct name_map keys;            /* map from the id of a submit key to struct submit_key */
	struct map begun;                /* map from a run that a job submitted to its struct submit_key */
	struct map keys_of;              /* map from a run to its latest struct submit_key, linked to older ones */
	struct pruned *pruned;           /* ranges of pruned runs, ascending; neighbours only if of different days */
	size_t pruned_count, pruned_cap;
	uint64_t pruned_total;           /* number of pruned runs */
	bool pruned_due;                 /* some range has a row due */
	struct pruning *pruning;         /* runs whose removal has begun, by rising run number */
	size_t pruning_count, pruning_cap;
	struct acts acts;
	struct ended_sums ended_sums;
	uint64_t revived_turn;           /* latest turn in which an ended run was changed */
	uint64_t live_jobs, live_runs;
	uint64_t subruns;                /* active jobs that are sub-runs */
	uint64_t counts[STATE_COUNT];
	uint64_t entered[STATE_COUNT];   /* how often a job moved into each state; for display */

	struct worker **workers;         /* all workers, by rising number */
	size_t worker_count, worker_cap;
	struct name_map worker_names;
	struct map worker_conns;
	uint64_t tallies[TALLIES];       /* how many workers have each tally bit, as of the last turn's end */
	uint64_t serving;                /* a number that changes whenever a worker may serve other classes */
	uint64_t locks_offered;          /* the value of core->serving when locks were last offered */

	struct ready_class **classes;    /* classes of jobs; the first has no requirements; NULL: a free index */
	size_t class_count;
	struct tenant **tenants;         /* tenants by tenant->at; NULL: a free index */
	size_t tenant_count;
	struct name_map tenant_names;
	struct name_map wishes;          /* map from encoded requirements to struct ready_class */
	struct name_map groups;          /* named concurrency groups */
	struct name_map locks;
	struct map lock_stamps;          /* map from timer stamp to struct lock_hold */
	uint64_t lock_stamp, lock_holds;
	uint64_t fences;                 /* fencing numbers given so far */
	struct asset **assets;           /* in the order of their names */
	size_t asset_count, asset_cap;
	struct name_map value_spaces;    /* map from run number and definition to struct value_space */
	struct map value_stamps;         /* map from timer stamp to struct value */
	uint64_t value_stamp, value_bytes;
	uint64_t revision;               /* number of the latest change of values, with the generation in its upper bits */
	bool revision_due;               /* the revision must be put at the turn's end */
	struct name_map value_requests;  /* map from principal and request key to struct value_request */
	struct value_request *value_request_oldest, *value_request_newest;
	uint64_t virtual_time;           /* clock of the fair share: virtual time of the latest attempt */
	uint64_t parked_ready;           /* ready jobs that wait for room at a bound */
	struct class_order *order;       /* order of classes during placement; else NULL */
	uint64_t held_ready;             /* number of ready jobs on hold, which are in no heap */
	bool rekey_due;                  /* priorities changed: keys in heaps are outdated */
	struct candidate *candidates;
	size_t candidate_cap;
	uint64_t boot_id;                /* the machine's present boot */
	struct steady steady;
	struct arena placing;            /* memory for placement in one turn */
	bool reserved;                   /* some worker is reserved for a large job */
	bool drain_due;                  /* some workers' attempts may need a recall */
	struct pool **pools;             /* all pools, sorted by name */
	size_t pool_count, pool_cap;
	struct timers timers;
	uint64_t assign_stamp;
	uint64_t recalls;                /* number of recalled attempts that are still assigned */
	uint64_t stale_results;

	struct schedule **schedules;
	size_t schedule_count, schedule_cap;
	struct name_map schedule_names;
	struct map schedule_stamps;      /* map from timer stamp to struct schedule */
	uint64_t schedule_stamp;
	uint64_t schedule_turn, schedule_work;   /* turn in which schedule_work was counted, and work done in it */
	struct gate_page **gate_pages;   /* pages of the gates that wait, by rising job number */
	size_t gate_page_count, gate_page_cap;
	uint64_t gate_count;
	uint64_t gate_stamp;
	struct core_person *people;      /* people who may connect without a token */
	size_t people_count;
	struct core_team *teams;         /* the teams of the configuration */
	size_t team_count;
	bool admitting;                  /* a graph is being submitted; graphs that come later were admitted already */
	const struct input_submit *submit;       /* that graph; its jobs may name only its contents */
	struct name_map tokens;          /* map from id to struct token */
	uint64_t tokens_changed;         /* how often a token was added, replaced or removed since the start */
	struct map pushbacks;            /* map from a job's serial number to struct pushback */
	struct map progress; /* map from a job's serial number to struct progress, for jobs that reported progress */

	struct job **touched;
	size_t touched_count, touched_cap;
	struct job **ended;              /* jobs that have ended and whose children haven't been updated yet */
	size_t ended_count, ended_cap;
	struct run **touched_runs;
	size_t touched_run_count, touched_run_cap;
	struct worker **touched_workers;
	size_t touched_worker_count, touched_worker_cap;
	struct buf events;
	bool run_counters_due, worker_counter_due;
	struct arena scratch;            /* scratch memory, reset at each use */
	struct arena end_scratch;        /* scratch memory for bad ends (dead.c), reset at each use */
	bool loaded;
	bool graphs_built;
	int64_t report_ms; /* the end time, by the worker's clock, of the attempt that is being reported; 0: none */
};

static inline bool state_holds(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

/* Steps of people and jobs return how many things they changed (a submit: the run's number), or STEP_REFUSED. */
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
