/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the oracle's checks: what is known of each job, and when a check is called. A check knows what happened and
 * what became durable, not how the core decides: it calls no function of the core and reads none of its state.
 */
#ifndef TITAN_SIM_ORACLE_H
#define TITAN_SIM_ORACLE_H

#include "sim.h"

/*
 * A job as the checks know it. "Decided" is the state after the latest turn, durable or not; "durable" is the state by
 * the rows on disk. Below the common fields each check has fields of its own, under the check's name.
 */
struct oracle_job {
	uint64_t job;
	uint64_t run;
	struct row_job row;              /* the job's durable row */
	enum job_state durable, decided;
	bool terminal;                   /* the durable state is terminal */
	uint32_t round, round_decided;
	uint32_t event_round;            /* the round by the latest durable event */
	uint64_t epoch_durable;
	uint64_t round_epoch;            /* epoch of the last attempt before this round */
	bool loose_decided;
	bool moved;                      /* the job has a row, which may not be durable yet */
	unsigned priority_decided;

	/* fields of the oracle's check `life` */
	uint32_t live, starts;           /* processes that exist now; processes started in this round */
	uint64_t last_started;           /* epoch of the latest start */
	/* the job's machine was paused while it ran: I5 allows a second process then */
	bool on_paused;

	/* fields of the oracle's check `facts` */
	uint64_t epoch_before;           /* epoch of the job when its present round (a retry begins one) began */

	/* fields of the oracle's check `artifacts` */
	uint64_t named;                  /* epoch of the attempt whose files the durable row names; 0: none */

	/* fields of the oracle's check `retries` */
	uint32_t fails, lost;            /* failures (time-outs included) and lost attempts in this round */

	/* fields of the oracle's check `loops` */
	uint32_t passes;                 /* durable count of passes in this round that another pass followed */

	/* fields of the oracle's check `letters` */
	uint32_t discarded;              /* round + 1 of the dead letter that a person discarded; 0: none */

	/* fields of the oracle's check `choice` */
	uint64_t worker_before;          /* number of the worker that had the job before this turn */
	/* index + 1 of the frame of this turn that assigns the job; 0: not assigned in this turn */
	uint32_t given;

	/* fields of the oracle's check `queued` */
	uint64_t moved_turn;             /* the latest turn that wrote a row of the job */

	/* fields of the oracle's check `place` */
	uint64_t lacks_instance;         /* instance of the latest worker that gave the job back because it lacks its directory */
	uint32_t lacks;                  /* how often this instance did, since the latest crash of the master */
	uint64_t worker_decided;         /* number of the job's worker by the latest turn */
	uint64_t asks[SIM_KINDS];        /* the resources that the job asks for, known from its first assignment on */
	/* assigned when its worker offered more than now, and not yet started since */
	bool carried;
	uint32_t asked_back;             /* number of consecutive turns that assigned the job and recalled it at once */

	/* fields of the oracle's check `cancel` */
	uint32_t cancelled;              /* round + 1 of the latest acknowledged cancel */

	/* fields of the oracle's check `ending`; times are on the world's own clock, which no fault changes */
	/*
	 * when the limited time of an `always` job began, after its run was told to end, in this round; 0: it didn't
	 * begin
	 */
	int64_t ending_ns;
	/* number of its latest sub-run that was told to end by something else than a cancel */
	uint64_t told;

	/* fields of the oracle's check `holds` */
	bool held_decided;
	bool held_before;                /* whether the job was held by the row before the latest durable one */

	/* fields of the oracle's check `gates` */
	uint32_t opened;                 /* round + 1 in which the job's gate is open */

	/* fields of the oracle's check `times`; times are on the world's own clock, which no fault changes */
	int64_t since_ns;                /* when the job's present state was decided */
	enum job_event since_by;
	uint64_t wait_least_ms, wait_most_ms;    /* bounds of the delay before the job's retry, as I12 demands */
	/* held at some time after since_ns, so the timer of its state stood still for a while */
	bool was_held;
	/* late: its deadline had passed when its round began; late_unsure: that can't be told */
	bool late, late_unsure;
};

struct oracle_start {
	const struct sim_worker *worker;
	struct oracle_job *job;
	uint64_t epoch;
	const struct row_job *row;       /* the durable row of the job that starts */
	const struct sim_graph *graph;
	const struct rec_job_spec *spec;
	uint64_t first;                  /* serial number of the graph's first job */
	bool own_round;                  /* the attempt belongs to the job's present round */
};

/*
 * The functions of a check; each may be NULL. When row, event and start are called, the rows of the turn are
 * already on the simulated disk.
 */
struct oracle_check {
	/* a turn was decided; struct oracle_job doesn't have its rows yet */
	void (*turn)(struct sim_world *world, const struct outbox *outbox);
	void (*given)(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job);
	/* as `turn`, but struct oracle_job has the rows of the turn */
	void (*decided)(struct sim_world *world, const struct outbox *outbox);
	void (*row)(struct sim_world *world, const struct row *row, struct oracle_job *job,
		    /* a row became durable; job (NULL if the row isn't a job's) doesn't have it yet */
		    const struct outbox *outbox);
	void (*event)(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
		      const struct rec_job_spec *spec, int64_t wall_ms);
	/* called when all rows of the turn are durable and noted by the oracle */
	void (*committed)(struct sim_world *world, const struct outbox *outbox);
	void (*start)(struct sim_world *world, const struct oracle_start *start);
	/* the master was killed: turns that weren't durable never happened */
	void (*crash)(struct sim_world *world);
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
/* By its specification, is this end of the job forgiven? Return the state that its children see. */
bool oracle_forgiven(struct sim_world *world, uint64_t serial, enum job_state state);
enum job_state oracle_result(struct sim_world *world, uint64_t serial, enum job_state state);
/* By its specification, does the job run even if its run was told to end? */
bool oracle_always(const struct rec_job_spec *spec);
/* By specification and row, does this end of a pass meet the loop's condition? */
bool oracle_pass_holds(const struct rec_job_spec *spec, const struct row_job *row, enum job_state end);
/* Encode the specification of a durable job, with the directory and environment that it shares with its run. */
void oracle_spec_encode(struct sim_world *world, uint64_t serial, struct buf *out);
/* Return the serial number of a need, given as the number in the job's specification. */
uint64_t oracle_need(const struct sim_graph *graph, uint64_t need);
/* Is the job a final job of its run, or a descendant of one? All other added jobs come before the final ones. */
bool oracle_final(const struct sim_graph *graph, uint32_t index);
/* Return the graph of the run itself, also for a graph that was added to it. */
static inline const struct sim_graph *oracle_root(const struct sim_graph *graph)
{
	return graph->into ? graph->into : graph;
}

/*
 * Iterates over all durable jobs of a run:
 * for (walk = {0}; (serial = oracle_run_next(world, run, &walk)) != 0;)
 */
struct oracle_walk {
	size_t graph;
	uint32_t index;
};

/* oracle_service.c */
bool oracle_service(struct sim_world *world, uint64_t serial);
uint64_t oracle_run_next(struct sim_world *world, uint64_t run, struct oracle_walk *walk);
/*
 * Could this worker have the job at present, by its labels and pool, its offers, and whether it is cordoned or drained?
 */
bool oracle_worker_could(const struct sim_world *world, uint32_t index, const struct sim_graph *graph, const struct rec_job_spec *spec);
/* NULL: the worker never connected, or was forgotten */
struct oracle_worker *oracle_worker(struct sim_world *world, uint64_t number);
/*
 * Does the job wait for a worker, or may it wait for one without having a row, because its parents ended since its last
 * row?
 */
bool oracle_may_wait(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
const struct sim_graph *oracle_graph(struct sim_world *world, uint64_t serial, uint64_t *ret_first);

#define ORACLE(name, what) extern const struct oracle_check oracle_##name;
#include "topics.def"
#undef ORACLE

#endif
