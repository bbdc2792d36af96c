/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the checks share: what is known of each job, and when a check is asked. A check knows what happened
 * and what became durable, never how the core decides: it calls nothing of core and reads nothing of it.
 */
#ifndef TITAN_SIM_ORACLE_H
#define TITAN_SIM_ORACLE_H

#include "sim.h"

/* Decided: by the latest turn, durable or not. Durable: by the rows. Topics keep what they need in a part of their own. */
struct oracle_job {
	uint64_t job;
	uint64_t run;
	struct row_job row;              /* durable */
	enum job_state durable, decided;
	bool terminal;                   /* durable */
	uint32_t round, round_decided;
	uint32_t event_round;            /* as of the latest durable event */
	uint64_t epoch_durable;
	uint64_t round_epoch;            /* of the last attempt before this round */
	bool loose_decided;
	bool moved;                      /* it has a row, be it decided only */
	unsigned priority_decided;

	/* life */
	uint32_t live, starts;           /* processes now; starts in this round */
	uint64_t last_started;           /* epoch */
	bool on_paused;                  /* a stopped machine ran it: the honest exception of I5 */

	/* facts */
	uint64_t epoch_before;           /* the one that its round began with */

	/* retries */
	uint32_t fails, lost;            /* in this round; time-outs are failures */

	/* loops */
	uint32_t passes;                 /* in this round, each followed by another; durable */

	/* letters */
	uint32_t discarded;              /* round + 1 whose letter a person discarded */

	/* choice */
	uint64_t worker_before;          /* before the turn */
	uint32_t given;                  /* in this turn: which of its frames, from 1; 0: not */

	/* queued */
	uint64_t moved_turn;             /* the latest that said something of it */

	/* place */
	uint64_t worker_decided;         /* number */
	uint64_t asks[SIM_KINDS];        /* once it was given out */
	bool carried;                    /* given when its worker offered more, and not started since */
	uint32_t asked_back;             /* turns in a row that gave it out and asked it back */

	/* cancel */
	uint32_t cancelled;              /* round + 1 whose cancel was acknowledged */

	/* ending; by the world's own clock */
	int64_t ending_ns;               /* its time after the end of its run began, in this round; 0: it didn't */
	uint64_t told;                   /* its latest sub-run that was told to end, and not by a cancel */

	/* holds */
	bool held_decided;
	bool held_before;                /* by the row before the latest durable one */

	/* gates */
	uint32_t opened;                 /* round + 1 whose gate is open */

	/* times; by the world's own clock */
	int64_t since_ns;                /* its state was decided */
	enum job_event since_by;
	uint64_t wait_least_ms, wait_most_ms;    /* of a retry, as I12 wants it */
	bool was_held;                   /* since then, for a while: what waits for its state stood still */
	bool late, late_unsure;          /* its deadline had passed when its round began */
};

struct oracle_start {
	const struct sim_worker *worker;
	struct oracle_job *job;
	uint64_t epoch;
	const struct row_job *row;       /* durable */
	const struct sim_graph *graph;
	const struct rec_job_spec *spec;
	uint64_t first;                  /* serial of the graph's first job */
	bool own_round;                  /* the attempt is of the job's present round */
};

/* Each may be NULL. The rows of a turn are on the simulated disk when row, event and start are asked. */
struct oracle_check {
	void (*turn)(struct sim_world *world, const struct outbox *outbox);      /* before its rows are noted as decided */
	void (*given)(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job);
	void (*decided)(struct sim_world *world, const struct outbox *outbox);   /* and they are */
	void (*row)(struct sim_world *world, const struct row *row, struct oracle_job *job,
		    const struct outbox *outbox);        /* durable, before it is noted; job is NULL but for jobs */
	void (*event)(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
		      const struct rec_job_spec *spec, int64_t wall_ms);
	void (*committed)(struct sim_world *world, const struct outbox *outbox);         /* all of it is noted */
	void (*start)(struct sim_world *world, const struct oracle_start *start);
	void (*crash)(struct sim_world *world);                  /* what was decided and not durable never was */
	void (*quiet)(struct sim_world *world, const struct sim_worker *worker);
	void (*rest)(struct sim_world *world);
};

static inline bool event_opens_round(const struct rec_event *event)
{
	return event->event == EVENT_REOPENED || event->event == EVENT_PUSHED_BACK;
}

static inline bool state_has_attempt(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

struct oracle_job *oracle_job(struct sim_world *world, uint64_t serial);
/* By its specification: does this end count as a good one? And the state that those see who need it. */
bool oracle_forgiven(struct sim_world *world, uint64_t serial, enum job_state state);
enum job_state oracle_result(struct sim_world *world, uint64_t serial, enum job_state state);
/* By its specification: does it run when its run was told to end? */
bool oracle_always(const struct rec_job_spec *spec);
/* By its specification and the row: is this end of a pass what its loop waits for? */
bool oracle_pass_holds(const struct rec_job_spec *spec, const struct row_job *row, enum job_state end);
/* The specification of a durable job, with the directory and environment that it shares. */
void oracle_spec_encode(struct sim_world *world, uint64_t serial, struct buf *out);
/* What it needs, by its specification's number. */
uint64_t oracle_need(const struct sim_graph *graph, uint64_t need);
/* Is it a final job of its run, or behind one? All others that are added come before those. */
bool oracle_final(const struct sim_graph *graph, uint32_t index);
/* The run that a graph is, or is added to. */
static inline const struct sim_graph *oracle_root(const struct sim_graph *graph)
{
	return graph->into ? graph->into : graph;
}

/* for (walk = {0}; (serial = oracle_run_next(world, run, &walk));) over all jobs of it that are durable */
struct oracle_walk {
	size_t graph;
	uint32_t index;
};

uint64_t oracle_run_next(struct sim_world *world, uint64_t run, struct oracle_walk *walk);
/* By what it is, offers at most and is said to be: may that worker ever have the job as things stand? */
bool oracle_worker_could(const struct sim_world *world, uint32_t index, const struct rec_job_spec *spec);
struct oracle_worker *oracle_worker(struct sim_world *world, uint64_t number);   /* NULL: there is none, or none any more */
/* By what is decided: does it wait for a worker, or may it? Nothing may have been said of it since its parents ended. */
bool oracle_may_wait(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
const struct sim_graph *oracle_graph(struct sim_world *world, uint64_t serial, uint64_t *ret_first);

#define ORACLE(name, what) extern const struct oracle_check oracle_##name;
#include "topics.def"
#undef ORACLE

#endif
