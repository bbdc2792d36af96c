/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core: all state of a cluster, and every decision about it. It is pure: inputs and the time go in, rows and
 * frames come out, and the same inputs give the same outputs. It never blocks, uses no file descriptor, and checks
 * its invariants in production, too.
 *
 * One turn: core_turn_begin(now, outbox), core_step(input) any number of times, core_turn_end(). The end fires due
 * timers, places ready jobs on workers, and puts one row for each thing that changed.
 */
#ifndef TITAN_CORE_CORE_H
#define TITAN_CORE_CORE_H

#include "base/clock.h"
#include "core/rows/outbox.h"
#include "core/rows/row.h"
#include "proto/message.h"
#include "proto/states.h"

struct core;

struct core_person {                     /* a person who may connect without a token */
	struct slice name;
	role_set roles;
};

struct core_team {                       /* a team of people, whom gates name as @NAME */
	struct slice name;
	struct slice_list members;
};

struct core_config {
	struct slice cluster;            /* name of the cluster; core makes a copy */
	uint64_t pid;                    /* process id of the master, sent in WELCOME */
	uint64_t seed;
	/* Time limits of workers and endings; 0: the default in limits.def. */
	int64_t heartbeat_ms, lease_ms, grace_ms, ending_ms;
	bool prefetch_off;               /* don't prefetch: assign no more jobs than slots */
	bool of_then; /* the rows are of an earlier time, for which it isn't known which peers were connected */
	/* the person who runs the master: workers with owners_only get no jobs of other people's runs; empty: not known */
	struct slice owner;
	const struct core_person *people;        /* copied; tokens are known from their rows */
	size_t people_count;
	const struct core_team *teams;   /* copied */
	size_t team_count;
	uint64_t boot_id;                /* identifies this boot of the machine; 0: counts as a new boot */
};

enum input_kind {
	INPUT_SUBMIT,
	INPUT_CANCEL,
	INPUT_ACT,                       /* a person's act on a run or its jobs, other than cancel */
	INPUT_SET,                       /* change another object, such as a worker, pool or lock */
	INPUT_REOPEN,                    /* an act on a run that has left memory; brings the run's rows */
	INPUT_PRUNE,                     /* remove ended runs, a number of rows in each turn; not answered */
	INPUT_SHUTDOWN,
	INPUT_VALUES,                    /* read or change values */
	INPUT_PROGRESS,                  /* a job reports its progress; nothing is stored, and no act is recorded */
	INPUT_ARTIFACTS,                 /* a job names the files that it leaves; no act is recorded */
	INPUT_WORKER_HELLO,
	INPUT_WORKER_GONE,               /* the worker's connection closed */
	INPUT_HEARTBEAT,
	INPUT_STARTED,
	INPUT_DONE,
	INPUT_TOKEN_USED,                /* a connection was opened with a token; not answered */
};

struct graph_part {
	/* the part's encoded job_spec records; core takes its own references to the blob */
	struct blob *body;
	uint32_t count;
};

struct caller {                          /* the attempt that a request comes from; job 0: a person */
	uint64_t job, epoch;
};

struct actor {                           /* the person or job that asked; recorded in the act */
	uint64_t principal;
	struct slice name;
	struct slice key;                /* id of the key that the connection showed; empty: none */
	struct slice origin;             /* how the connection came in: "unix" */
	struct caller caller;
};

struct input_submit {
	uint64_t principal;
	struct slice owner;              /* name of the principal that submits */
	uint8_t key[16];
	uint8_t digest[32];              /* hash of name and parts, computed when the submit was received */
	struct slice name;
	const struct graph_part *parts;
	size_t part_count;
	uint32_t max_jobs;               /* most active jobs at once; 0: no limit */
	struct slice tenant;             /* tenant charged for the run; empty: the owner's name */
	struct slice concurrency;        /* the run's concurrency group, NAME or NAME=LIMIT; empty: none */
	struct slice context;            /* a run_context record for all jobs; or empty */
	struct slice schedule;           /* a schedule_spec record: set a schedule, begin no run; or empty */
	struct slice revision;           /* revision that the schedule must have now; empty: any, or none yet */
	struct slice own_only; /* owner to whom the run or schedule that is changed must belong; empty: any owner */
	uint64_t into;                   /* number of the live run that gets the jobs; 0: begin a new run */
	/* parents in run `into`, by name: need (number of added jobs + i) means parents[i] */
	struct slice_list parents;
	struct slice contents;           /* input records: the contents that the jobs may name, which the submitter may read */
	bool contents_known;             /* the graph was submitted before, so its contents were checked */
	struct caller caller;            /* the attempt that submits; a stale attempt is refused */
};

struct input_cancel {
	uint64_t run;
	struct slice job;                /* name of the job to cancel; empty: the whole run */
	uint64_t scope;                  /* which jobs of the run to cancel, as enum cancel_scope */
	struct slice own_only;           /* owner to whom the run must belong; empty: any owner */
};

struct input_act {
	enum act_verb verb;
	uint64_t run;
	struct slice job;                /* name of the job that the act is about; empty: the whole run */
	uint64_t value;
	struct slice text;
	struct slice digest, target;
	uint64_t principal;
	struct slice person;             /* name of the principal that acts */
	struct slice expect;             /* words of the state that the target must have (acts_expected); empty: any */
	struct u64_list each;            /* one value for each job of the target; empty: `value` is for all */
	struct slice_list given;         /* values for the fields of a gate, NAME=VALUE each */
	struct slice own_only;           /* owner to whom the run must belong; empty: any owner */
};

struct input_set {
	struct msg_set set;
	uint64_t principal;
	struct slice person;             /* name of the principal that sent the SET request */
	struct slice token;              /* of SET_JOIN: id of the token of the connection */
	struct slice own_only;           /* owner to whom the schedule must belong; empty: any owner */
};

struct input_reopen {
	struct input_act act;            /* the act; for a run that left memory: RETRY, REQUEUE, DISCARD or REINSTATE */
	/* rows of one ended run: its own, then those of its specification, then those of its jobs, each in order */
	const struct row *rows;
	size_t row_count;
	/* the caller's pointer that keeps the rows alive; core ignores the pointer */
	void *owner;
};

struct prune_rule {
	uint64_t as_of;                  /* turn as of which the rows were read; the rows themselves may be newer */
	bool dead;                       /* prune also runs with dead letters */
	bool logs_only;                  /* remove only the logs and keep the runs */
};

/*
 * Remove some rows in this turn: first those of runs whose removal has begun, then those of these runs. view_pruned
 * tells which removals have begun.
 */
struct input_prune {
	struct prune_rule rule;
	const struct row *rows;          /* rows of ended runs, each followed by its specification (bodies may lack) */
	size_t row_count;
	const uint64_t *gone;            /* numbers of runs whose logs are removed */
	size_t gone_count;
	uint64_t room;                   /* most rows to remove in this turn; 0: LIMIT_PRUNE_ROWS */
	/* range of turns whose events are removed, without turns_until; equal: none */
	uint64_t turns_from, turns_until;
	uint64_t past_from, past_until; /* range of turns whose rows of `change` are removed, without past_until */
	/* range of acts that are removed, without acts_until; the latest act always stays */
	uint64_t acts_from, acts_until;
	uint64_t facts_from, facts_until; /* range of pruned runs that are forgotten altogether, without facts_until */
	struct slice person;             /* the person who prunes these runs; empty: a rule of the master */
	struct slice asked; /* the person's request in words; empty: this is a further step of an earlier request */
};

struct input_progress {
	struct caller caller;            /* the attempt that reports its progress */
	uint64_t done, total;            /* total 0: done is in thousandths of the whole */
	struct slice text;
};

struct input_artifacts {
	struct caller caller;            /* the attempt that leaves the files */
	struct slice hash;               /* of their manifest, which the master has with all contents; empty: there are none */
	uint64_t size, files, manifest_size;
	struct slice fault;              /* why there are none */
};

struct input_values {
	struct msg_values msg;
	struct slice own_only;           /* owner to whom the run must belong whose values are changed; empty: any owner */
};

struct input_shutdown {
	bool workers;                    /* end the workers, too: send QUIT to each */
};

struct input_hello {
	struct slice name;
	struct slice instance;
	struct slice before;             /* earlier instances that ended in order, INSTANCE_SIZE bytes each */
	uint64_t slots;
	uint64_t pid;
	struct slice_list labels;
	struct slice_list offers;        /* resources that the worker offers, each as NAME=N */
	struct slice pool;               /* pool of the worker; empty: the default pool */
	struct slice machine;            /* identity of the worker's machine; empty: not known */
	uint64_t version;                /* version of the protocol on this connection */
	uint64_t contexts;               /* number of context slots that the worker has */
	bool owners_only;                /* the worker's jobs could act as the owner, so it takes only the owner's jobs */
	const struct rec_held *held;     /* the worker's attempts, from HELLO and all INVENTORY frames */
	size_t held_count;
};

struct core_input {
	enum input_kind kind;
	uint64_t conn;                   /* connection number from the master: never 0, each larger than all before */
	uint64_t request;                /* the peer's request id, for the reply */
	struct actor by;                 /* the person or job that sent the request, if the input is a request */
	union {
		struct input_submit submit;
		struct input_cancel cancel;
		struct input_act act;
		struct input_set set;
		struct input_reopen reopen;
		struct input_prune prune;
		struct input_shutdown shutdown;
		struct input_values values;
		struct input_progress progress;
		struct input_artifacts artifacts;
		struct input_hello hello;
		struct msg_heartbeat heartbeat;
		struct { const struct rec_started *at; size_t n; } started;
		struct {
			const struct rec_done *at;
			size_t n;
			/* what some of these attempts put out */
			const struct rec_attempt_outputs *outputs;
			size_t output_count;
		} done;
		struct { struct slice id; } token_used;
	};
};

struct core *core_new(const struct core_config *config);
void core_free(struct core *core);       /* frees core, which may be NULL */

/*
 * Loading: rows come in the order of the tables in rows.def. Of runs, specifications, jobs and decisions, only the
 * rows of live runs are loaded. core_load_end raises the boot count and is a turn of its own: its outbox must be
 * committed before anything else. No timer fires in that turn, so the state is exactly what the rows say. An error
 * means that the store can't be trusted.
 */
enum err core_load_row(struct core *core, const struct row *row, struct error *error);
enum err core_load_end(struct core *core, struct now now, struct outbox *outbox, struct error *error);

void core_turn_begin(struct core *core, struct now now, struct outbox *outbox);
/*
 * Call it first in a turn after the master could receive nothing for a while: the silence of all workers counts from
 * now.
 */
void core_was_deaf(struct core *core);
void core_step(struct core *core, const struct core_input *input);
void core_turn_end(struct core *core);
int64_t core_next_due(const struct core *core);          /* mono_ns of the next turn needed, or TIME_NEVER */
/* Remove runs that ended in a durable turn from memory; from then on only the store has them. */
uint64_t core_sweep(struct core *core, uint64_t durable_turn);   /* returns how many jobs left memory */
/* Free the spare room that a peak left in arrays and tables. Call between turns; visits all live runs. */
void core_shrink(struct core *core);

/* For tests and the simulator: a hash of the durable state (I17), and a check of every invariant. */
uint64_t core_hash(const struct core *core);
void core_check(const struct core *core);

#endif
