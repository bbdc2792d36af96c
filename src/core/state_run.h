/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private state of runs: jobs, their dependencies, and the directories to find them. */
#ifndef TITAN_CORE_STATE_RUN_H
#define TITAN_CORE_STATE_RUN_H

#include "core/state_place.h"

#define PAGE_JOBS 1024                   /* serial numbers in one page of the directory */
#define TRIGGER_BITS 2
#define PRIORITY_MAX 100
#define PRIORITY_DEFAULT 50

/* What the ends of a job's parents mean for the job. */
enum outlook { OUTLOOK_OPEN, OUTLOOK_GO, OUTLOOK_AGAINST, OUTLOOK_CONDITION_FALSE };

enum job_flag {
	JOB_TOUCHED = 1,                 /* the job is in core->touched */
	JOB_ROW = 2,                     /* the job's row must be put at the end of the turn */
	JOB_QUEUED = 4,                  /* the job has an entry in its class's queue, perhaps a stale one */
	JOB_TIMED = 8,                   /* the job's state has a valid timer */
	JOB_TIMEOUT = 16,                /* the job's specification has timeout_ms */
	JOB_RECALLED = 32,               /* the job's attempt was recalled; happens once per attempt */
	JOB_HELD = 64,                   /* the job was seen in the worker's inventory that is being read */
	JOB_ON_HOLD = 128,               /* a person put the job on hold */
	/* a parent opened a new round without this job; the job doesn't depend on that parent any longer */
	JOB_LOOSE = 256,
	JOB_MARKED = 512,                /* temporary mark while a round is opened */
	JOB_STAGED = 1024,               /* the job has a delay, a gate or a dispatch time-out */
	JOB_PASSED = 2048,               /* the job's gate is open in this round */
	JOB_PARKED = 4096,               /* the job has an entry in its lane, perhaps a stale one */
	JOB_FINAL = 8192,                /* a final job, or a job behind one */
	JOB_FAIL_FAST = 16384,           /* the job's failure cancels its fan-out */
	JOB_FORGIVEN = 65536,            /* the job ended badly, but that is forgiven (continue_on) */
	JOB_DEAD = 131072,               /* the job has a dead letter */
	JOB_DUE_BY = 262144,             /* the job's specification has a deadline */
	JOB_DEADLINE = 524288,           /* the job's deadline has a valid timer */
	JOB_PUSHED = 32768,              /* the job is in core->pushbacks */
	JOB_LOOP = 1 << 25,              /* a loop: passes follow each other until one meets its condition (loop.c) */
	JOB_LATER = 1048576,             /* the job has children that were added later */
	JOB_EXPR = 2097152,              /* the job's needs or its condition is an expression (condition.c) */
	JOB_CONDITION_FALSE = 4194304,           /* the job was skipped because its condition was false */
	JOB_LATE = 1073741824,           /* the job's deadline had passed before this round began and is ignored */
	JOB_ALWAYS = 1 << 26,            /* the job also runs when its run was told to end (ending.c) */
	JOB_ENDING = 1 << 27,            /* the job's time to end has a valid timer */
	JOB_TAKES = 1 << 29,             /* the job finds outputs of other jobs in its environment, or their files */
	JOB_OUTPUTS = 1 << 28,           /* the job declares outputs or artifacts (outputs.c, artifacts.c) */
	JOB_CRASH_LOOP = 1 << 24,        /* a service that ended too often lately (service.c) */
	JOB_UNRESERVED = 1 << 23,            /* the job has an attempt, but not yet its resources */
};

struct job {
	uint64_t epoch;
	struct run *run;
	const uint8_t *spec;             /* specification; points into a blob of the job's run */
	int64_t started_ms;
	int64_t when_ms;                 /* end of an ended job (UTC); else when its state's timer is due (steady) */
	uint64_t cpu_us;
	uint64_t out_bytes;
	uint32_t rss_kib;
	uint32_t code;
	uint32_t index;
	uint32_t spec_len;
	uint32_t worker;                 /* number of the worker that has or had the latest attempt */
	uint32_t cause;                  /* index + 1 of the job because of which this job ended; 0: none */
	union {
		uint32_t pending;        /* of a waiting job: how many of its parents haven't ended */
		uint32_t held_at;        /* of a job with an attempt: index of the job in worker->held */
	};
	uint16_t round;
	uint16_t tries;                  /* attempts in this round that may have started; of a loop, in this pass */
	uint8_t crashes;
	uint8_t state;
	uint8_t stop_cause;
	uint8_t outcome : 4;
	uint8_t kind : 4;                /* kind of the job, as enum job_kind */
	uint8_t priority;                /* priority of the job, 0 to 100 */
	uint8_t mode : 2;                /* mode of the job, as enum exec_mode */
	uint8_t interrupted : 6;         /* tries that their worker interrupted; at most LIMIT_INTERRUPTED_MAX */
	uint16_t class_at;               /* index of the job's class in core->classes */
	uint32_t flags;
	uint32_t lane;                   /* index of the job's lane in run->lanes */
};

struct name_index {                      /* open addressing; slot: upper half of the hash, and index + 1 */
	uint64_t *slots;
	size_t mask;
	uint64_t seed;                   /* random, so that nobody can choose names of jobs that collide in the index */
};

struct extent {                          /* jobs of one submit; never moves in memory */
	uint64_t first;                  /* serial number of the extent's first job; the others follow */
	uint32_t start;                  /* index in the run of the extent's first job */
	uint32_t count;
	uint32_t part, part_count;       /* first part and number of parts, in run->parts */
	struct run *run;
	struct job *jobs;
	uint32_t *child_start;           /* count + 1 offsets into children, one per job and the end */
	uint32_t *children;              /* index << TRIGGER_BITS | trigger; only children of the same extent */
};

struct later {                           /* children that were added after their parent */
	uint32_t *at;                    /* children as in struct extent: index << TRIGGER_BITS | trigger */
	size_t count, cap;
};

struct edge {                            /* an edge from a job of an earlier extent */
	uint32_t parent;
	uint32_t child;                  /* the child as index << TRIGGER_BITS | trigger */
};

struct extra {                           /* fields that only some kinds of jobs have */
	uint64_t child;                  /* number of the latest sub-run in this round; 0: none */
	uint32_t passes;                 /* finished passes of the loop in this round, each followed by another */
	/* its run was told to end: when the job's own time is over, or ENDING_WAITS; 0: the run wasn't told */
	int64_t ending_ms;
	struct blob *outputs;            /* job_output records of the attempt that ended the job; NULL: none */
	int64_t *ends;                   /* a ring: when a service last ended (steady clock); NULL: it never did */
	uint64_t end_count;              /* number of ends that were put into the ring */
	struct blob *artifacts;          /* job_artifacts record of the latest attempt that named some; NULL: none */
};

struct run {
	uint64_t number;
	uint64_t first;                  /* serial number of the run's first job */
	uint32_t job_count;
	uint32_t ended;                  /* number of jobs that have ended */
	uint32_t forgiven;               /* number of jobs whose failure is forgiven */
	uint32_t dead;                   /* number of jobs with a dead letter */
	uint32_t counts[STATE_COUNT];
	struct extent **extents;         /* the run's extents, by rising index and rising serial number */
	uint32_t extent_count;
	struct map laters;               /* map from a parent's index to struct later */
	uint32_t *finals;                /* indices of the final jobs submitted with the run */
	size_t final_count;
	struct map extras;               /* map from job index to struct extra (sub-runs, services, JOB_LOOP, JOB_ALWAYS, JOB_OUTPUTS) */
	uint32_t *services;              /* indices of the run's services */
	size_t service_count;
	uint32_t work, work_open;        /* number of jobs that are neither services nor final, and of those that haven't ended */
	uint64_t output_bytes;           /* bytes of all outputs of its jobs */
	struct condition **conditions;       /* conditions of jobs with JOB_EXPR, by rising job index */
	size_t condition_count, condition_cap;
	struct blob **parts;
	uint32_t *part_jobs;
	uint64_t *part_first;            /* serial number of the part's first job; 0: continues the part before */
	/* the context of a submit, stored at its first part; NULL: it has none, or this is a later part */
	struct blob **part_context;
	uint32_t part_count;
	uint32_t missing;                /* while loading: jobs of the present submit whose parts are still to come */
	bool said;                       /* while loading: the rows say how many jobs the submit has */
	size_t part_cap;
	char *name, *owner;
	char *schedule;                  /* name of the schedule that began the run, or NULL */
	uint64_t parent;                 /* of a sub-run: serial number of the parent job; else 0 */
	uint64_t parent_run;             /* number of the parent job's run */
	char *parent_name;
	uint8_t depth;                   /* how many runs the sub-run is nested in */
	uint8_t priority;                /* default priority of the run's jobs + 1; 0: the general default */
	uint16_t *classes;               /* indices of the classes of the run's jobs, without the first class */
	size_t class_count;
	struct tenant *tenant;
	struct bound bound;
	struct bound **groups;           /* the fan-outs of the run */
	size_t group_count;
	struct group *concurrency;       /* concurrency group of the run as a whole; NULL: none */
	uint32_t stated;                 /* limit that the run states for its concurrency group; 0: none */
	bool seated;                     /* the run has a place in its concurrency group */
	bool counted; /* the limits that the run and its jobs state are counted, because the run hasn't ended */
	struct lane **lanes;
	size_t lane_count, lane_cap;
	struct name_index *names;        /* index of jobs by name, built at the first search */
	int64_t submitted_ms;
	int64_t steady_ms;               /* submit time on the steady clock */
	int64_t ended_ms;                /* when the run ended (UTC); 0: it is live */
	int64_t logs_gone_ms;            /* logs up to this time were pruned; 0: none */
	uint64_t ended_turn;
	struct run *next_ended;
	bool cancelled;
	bool held;                       /* a person put the whole run on hold */
	bool touched;
	bool row_due;
};

struct run_entry {                       /* entry of the run list; run is NULL after the run left memory */
	uint64_t number;
	struct run *run;
};

struct run_list {
	struct run_entry *at;
	size_t head, count, cap, gone;   /* gone: number of empty entries from head on */
};

struct page {                            /* extents with serial numbers in this page, ascending */
	size_t count, cap;
	struct page_entry {
		uint64_t first;
		struct extent *extent;
	} *at;
};

struct submit_key {
	uint8_t id[24];                  /* number of the principal, followed by the submit key */
	uint8_t digest[32];
	uint64_t run;
	uint64_t by_run;                 /* number of the run whose job submitted this; 0: a person submitted it */
	struct submit_key *next;         /* the next older key of the same run; additions have keys of their own */
};

#endif
