/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of runs: their jobs, how these need each other, and where to find them. */
#ifndef TITAN_CORE_STATE_RUN_H
#define TITAN_CORE_STATE_RUN_H

#include "core/state_place.h"

#define PAGE_JOBS 1024                   /* serial numbers in a page of the directory */
#define TRIGGER_BITS 2
#define PRIORITY_MAX 100
#define PRIORITY_DEFAULT 50

/* What the dependencies of a job come to. */
enum outlook { OUTLOOK_OPEN, OUTLOOK_GO, OUTLOOK_AGAINST, OUTLOOK_UNTAKEN };

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
	JOB_LOOP = 1 << 25,              /* passes of it follow each other until one is what it waits for (loop.c) */
	JOB_LATER = 1048576,             /* it has children that came later */
	JOB_EXPR = 2097152,              /* an expression decides (decide.c) */
	JOB_UNTAKEN = 4194304,           /* skipped because its condition was false, in this round */
	JOB_LATE = 1073741824,           /* its deadline had passed when this round began: it doesn't count */
	JOB_ALWAYS = 1 << 26,            /* it runs in any case, also when its run was told to end (ending.c) */
	JOB_ENDING = 1 << 27,            /* has a valid timer for the end of the time that it has then */
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
	uint8_t outcome : 4;
	uint8_t kind : 4;                /* enum job_kind */
	uint8_t priority;                /* 0..100 */
	uint8_t mode : 2;                /* enum exec_mode */
	uint8_t interrupted : 6;         /* of its tries, those that their worker ended; up to LIMIT_INTERRUPTED_MAX */
	uint16_t class_at;               /* its requirements, in core->classes */
	uint32_t flags;
	uint32_t lane;                   /* place in run->lanes: what it wants, and what it is bound by */
};

struct name_index {                      /* open addressing: hash's high half, index + 1 */
	uint64_t *slots;
	size_t mask;
	uint64_t seed;                   /* so that nobody can choose names that collide */
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
	int64_t ending_ms;               /* its run was told to end: when its own time is over, or ENDING_WAITS; 0: it wasn't */
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
	struct map extras;               /* index of a sub-run, or a job with JOB_LOOP or JOB_ALWAYS, to struct extra */
	struct decider **deciders;       /* by rising index of their jobs */
	size_t decider_count, decider_cap;
	struct blob **parts;
	uint32_t *part_jobs;
	uint64_t *part_first;            /* serial number of its first job; 0: it goes on with the one before */
	struct blob **part_context;      /* of the first part of those that came together: a run_context record; else NULL */
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

#endif
