/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The brain: all state of a cluster, and every decision. Pure: inputs and the time in, rows and frames
 * out, nothing else; the same inputs give the same outputs. It never blocks, knows no descriptor, and
 * checks its invariants in production.
 *
 * A turn:  core_turn_begin(now, outbox), core_step(input) any number of times, core_turn_end().
 * The end fires what is due, places ready jobs on workers, and puts one row for each thing that changed.
 */
#ifndef TITAN_CORE_CORE_H
#define TITAN_CORE_CORE_H

#include "base/clock.h"
#include "core/rows/outbox.h"
#include "core/rows/rows.h"
#include "proto/message.h"
#include "proto/states.h"

struct core;

struct core_config {
	struct slice cluster;            /* name; copied */
	uint64_t pid;                    /* of the master, for WELCOME */
	uint64_t seed;
	int64_t heartbeat_ms, lease_ms, grace_ms, ending_ms;     /* 0: the defaults of limits.def */
	bool prefetch_off;               /* send nothing ahead of need */
	uint64_t boot_id;                /* of this boot of the machine; 0: unlike any other */
};

enum input_kind {
	INPUT_SUBMIT,
	INPUT_CANCEL,
	INPUT_ACT,                       /* any other act of a person */
	INPUT_SET,                       /* change an object that is no run */
	INPUT_REOPEN,                    /* an act on a run that has left memory, with its rows */
	INPUT_PRUNE,                     /* remove runs that have ended, some rows of them; from nobody: no answer */
	INPUT_SHUTDOWN,
	INPUT_WORKER_HELLO,
	INPUT_WORKER_GONE,               /* its connection closed */
	INPUT_HEARTBEAT,
	INPUT_STARTED,
	INPUT_DONE,
};

struct graph_part {
	struct blob *body;               /* job_spec records; the core takes holds of its own */
	uint32_t count;
};

struct caller {                          /* the attempt that a request comes from; job 0: a person's */
	uint64_t job, epoch;
};

struct actor {                           /* who asks, for the acts */
	uint64_t principal;
	struct slice name;
	struct slice key;                /* id of the key that the connection showed; empty: none */
	struct slice origin;             /* how they came here: "unix" */
	struct caller caller;
};

struct input_submit {
	uint64_t principal;
	struct slice owner;              /* its name */
	uint8_t key[16];
	uint8_t digest[32];              /* of name and parts, made by whoever received them */
	struct slice name;
	const struct graph_part *parts;
	size_t part_count;
	uint32_t max_jobs;               /* that hold attempts at once; 0: no bound */
	struct slice tenant;             /* empty: the owner is it */
	struct slice concurrency;        /* NAME or NAME=LIMIT of the group that it is in as a whole; empty: none */
	struct slice context;            /* a run_context record, of all jobs; or empty */
	struct slice schedule;           /* a schedule_spec record: no run, but a schedule; or empty */
	struct slice own_only;           /* as in input_cancel, of the run that it is added to, or a schedule it replaces */
	uint64_t into;                   /* the live run that the jobs are added to; 0: a run begins */
	struct slice_list parents;       /* names of jobs of it: a need of (how many are added) + i is parents[i] */
	struct caller caller;            /* that the run is begun by; refused unless it is its job's current attempt */
};

struct input_cancel {
	uint64_t run;
	struct slice job;                /* empty: the whole run */
	uint64_t scope;                  /* enum cancel_scope */
	struct slice own_only;           /* it may be done to runs of this owner alone; empty: to anybody's */
};

struct input_act {
	enum act_verb verb;
	uint64_t run;
	struct slice job;                /* empty: the whole run */
	uint64_t value;
	struct slice text;
	struct slice digest, target;
	uint64_t principal;
	struct slice person;             /* its name */
	struct slice own_only;           /* as in input_cancel */
};

struct input_set {
	struct msg_set set;
	uint64_t principal;
	struct slice person;             /* its name */
	struct slice own_only;           /* as in input_cancel, of schedules */
};

struct input_reopen {
	struct input_act act;            /* RETRY */
	const struct row *rows;          /* the run's, its specification's in order, its jobs' in order */
	size_t row_count;
	void *owner;                     /* of the rows: the caller's, untouched */
};

struct prune_rule {
	uint64_t as_of;                  /* the rows are at least as new as this turn */
	bool dead;                       /* runs with dead letters, too */
	bool logs_only;                  /* their logs go, they stay */
};

/* Some rows go in this turn: first of those that are going, then of these runs. Which have begun, view_pruned says. */
struct input_prune {
	struct prune_rule rule;
	const struct row *rows;          /* of runs that have ended, each with its specification's behind it, whose bodies may lack */
	size_t row_count;
	const uint64_t *gone;            /* numbers of runs whose logs are no more */
	size_t gone_count;
	uint64_t room;                   /* rows that may go; 0: as many as in any turn */
	uint64_t turns_from, turns_until;        /* history that goes, below until; equal: none */
	struct slice asked;              /* a person asks for this, in words; empty: it is a step of what was asked for */
};

struct input_shutdown {
	bool workers;                    /* QUIT goes to every worker */
};

struct input_hello {
	struct slice name;
	struct slice instance;
	uint64_t slots;
	uint64_t pid;
	struct slice_list labels;
	struct slice_list offers;        /* resources, NAME=N each */
	struct slice pool;               /* empty: default */
	uint64_t contexts;               /* slots for CONTEXTs */
	const struct rec_held *held;     /* all of them, INVENTORY frames included */
	size_t held_count;
};

struct core_input {
	enum input_kind kind;
	uint64_t conn;                   /* of the master's choosing: never 0, and larger than any before */
	uint64_t request;                /* its id of the request, for the reply */
	struct actor by;                 /* of what people and jobs ask for */
	union {
		struct input_submit submit;
		struct input_cancel cancel;
		struct input_act act;
		struct input_set set;
		struct input_reopen reopen;
		struct input_prune prune;
		struct input_shutdown shutdown;
		struct input_hello hello;
		struct msg_heartbeat heartbeat;
		struct { const struct rec_started *at; size_t n; } started;
		struct { const struct rec_done *at; size_t n; } done;
	};
};

struct core *core_new(const struct core_config *config);
void core_free(struct core *core);       /* NULL is fine */

/*
 * Loading: rows in the order of rows.def's tables; of runs, specs, jobs and decisions only those of live runs. core_load_end raises the boot count, and is itself a turn:
 * its outbox must be committed before anything else. Nothing fires in it: the state is what the rows say.
 * An error means that the store can't be trusted.
 */
enum err core_load_row(struct core *core, const struct row *row, struct error *error);
enum err core_load_end(struct core *core, struct now now, struct outbox *outbox, struct error *error);

void core_turn_begin(struct core *core, struct now now, struct outbox *outbox);
/* First in a turn, when nobody could be heard for a while through no fault of theirs: silences begin anew. */
void core_was_deaf(struct core *core);
void core_step(struct core *core, const struct core_input *input);
void core_turn_end(struct core *core);
int64_t core_next_due(const struct core *core);          /* mono_ns of the next turn needed; TIME_NEVER if none */
/* Runs that ended in a durable turn leave memory; from then on the store has them. */
uint64_t core_sweep(struct core *core, uint64_t durable_turn);   /* returns how many jobs they had */
/* Room that a peak left in arrays and tables is freed. Between turns; it costs a look at all live runs. */
void core_shrink(struct core *core);

/* For tests and the simulator: a hash of the durable part of the state (I17); every invariant checked. */
uint64_t core_hash(const struct core *core);
void core_check(const struct core *core);

#endif
