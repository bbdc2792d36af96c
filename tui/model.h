/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the dashboard knows: runs, workers, and the jobs of one run. Filled from SNAPSHOT and DELTA; everything is found
 * by its number, never by its place on the screen. Names are copies of raw bytes, and are escaped when they are drawn.
 * Times are in UTC ms and come from the caller.
 */
#ifndef TITAN_TUI_MODEL_H
#define TITAN_TUI_MODEL_H

#include "base/map.h"
#include "proto/message.h"
#include "proto/spec.h"
#include "proto/states.h"

#define MODEL_RUNS_MAX 32768
#define MODEL_LETTERS_MAX 10000          /* most dead letters that are read */
#define MODEL_EVENTS   64
#define MODEL_SAMPLES  240               /* samples of the load, by the second and by the quarter of a minute */

struct tui_run {
	uint64_t run;
	struct slice name, owner;        /* name and owner of the run; copies owned by this struct */
	enum run_state state;
	uint64_t jobs;
	uint32_t counts[STATE_COUNT];
	uint32_t forgiven;               /* number of the run's jobs whose failure is forgiven */
	struct slice crash_loop;         /* name of a service that ended too often lately, owned by this struct; empty: none */
	bool held;
	uint64_t parent_run;             /* for a sub-run: the run that contains its parent job; 0: none */
	uint32_t dead;                   /* number of the run's jobs that have a dead letter */
	int64_t submitted_ms, ended_ms;
	uint64_t seen;                   /* number of the last snapshot that had this run */
};

struct worker_load {                     /* load of a worker in each quarter of a minute, the oldest first */
	uint8_t cpu[MODEL_SAMPLES], memory[MODEL_SAMPLES];      /* percent + 1; 0: the worker wasn't connected, or nothing is known */
	int64_t until[2];                /* number of the first sample that isn't complete, of cpu and memory */
};

struct tui_worker {
	uint64_t worker;
	struct slice name;               /* name of the worker; a copy owned by this struct */
	enum worker_state state;
	uint64_t slots, busy, prefetched, cpu_permille, mem_permille, pid, done;
	uint64_t stuck;                  /* number of attempts whose processes can't be killed */
	enum worker_standing standing;
	bool pool_stopped, rests;        /* its pool gets no jobs; it gets none, because it lost its connection too often */
	uint64_t refused_code;           /* errno of the reason why the worker can't start jobs; 0: it can */
	int64_t seen_ms;
	uint64_t seen;
	struct worker_load *load;        /* NULL: not known yet */
};

struct job_more {                        /* what few jobs have */
	bool held;
	uint16_t pass, loop_max;         /* of a loop; pass 0: the job is none */
	uint32_t votes, votes_wanted;    /* of a gate */
	uint64_t child, child_jobs;      /* run and size of its sub-run; child 0: it hasn't begun one */
	int64_t deadline_ms;
};

struct tui_job {                         /* a job of the graph; kept small, because there may be 100,000 */
	uint64_t job;                    /* serial number of the job; 0: not known yet */
	uint64_t epoch, cause;
	struct slice name;               /* in the graph's arena */
	const struct slice *worker;      /* name of the job's worker, owned by the model; NULL: no worker */
	uint32_t *needs;                 /* indices of the job's parents, in the graph's arena */
	struct job_more *more;           /* in the graph's arena; NULL: it has nothing of that */
	struct rec_job_settings *settings;       /* settings of the job, in the graph's arena; NULL: not known */
	int64_t due_ms, started_ms, ended_ms;
	uint32_t need_count, code;
	uint16_t tries, crashes, interrupted, retry_max;
	uint8_t outcome;                 /* enum outcome */
	bool dead;                       /* the job has a dead letter */
	bool forgiven;                   /* the job's failure is forgiven */
};

static inline struct slice job_worker(const struct tui_job *job)
{
	return job->worker ? *job->worker : slice_make(NULL, 0);
}

struct tui_graph {                       /* the jobs of one run, by index */
	uint64_t run;                    /* 0: none */
	struct tui_job *jobs;
	uint8_t *states; /* enum job_state of each job, in an array of their own so that counting is fast */
	size_t count, cap;
	uint32_t counts[STATE_COUNT];
	bool complete;                   /* the whole snapshot of the graph has arrived */
	uint64_t mark;                   /* the mark from which the graph's subscription can be resumed; 0: none */
	uint64_t structure;              /* number that grows when jobs or edges are added */
	uint64_t failures;               /* number that grows when a job begins or ceases to need attention */
	struct arena arena;
};

struct tui_gate {                        /* a gate that waits for people; its texts are in the model's arena of gates */
	uint64_t run, have, count;       /* how many people have approved, and how many must */
	struct slice name, question;
	struct slice who;                /* people and teams who may decide; empty: anybody */
	struct slice_list unblocks, will;        /* the jobs that start after its approval, and their commands */
	uint32_t index;                  /* its place in the graph */
	int64_t due_ms;                  /* when it expires; 0: never */
};

struct tui_letter {                      /* the dead letters of one run */
	uint64_t run, count;
	struct slice name, job;          /* names of the run and of one of the jobs; copies owned by this struct */
	uint32_t index;                  /* the place of that job in the graph */
	enum job_state state;            /* state, outcome and code of that job */
	enum outcome outcome;
	uint64_t code;
	int64_t died_ms;
};

struct letters {
	struct tui_letter **at;          /* runs with the newest jobs first */
	size_t count, cap, all;          /* all: number of dead letters */
	struct map by_run;
	bool more;                       /* the master has further dead letters */
};

struct tui_event {
	int64_t at_ms;
	struct state_info const *look;
	char text[96];                   /* escaped */
};

struct totals {
	uint64_t runs;                   /* runs that the master has: those of the model and older ones */
	uint64_t live_runs, wait, queue, running, ok, failed;
	uint64_t old_failures;           /* runs with dead letters that are older than those of the model */
	bool more_failures;              /* there are more of them than were read */
	uint64_t workers, workers_up, workers_silent, workers_lost, workers_stuck, workers_refusing, slots, busy;
};

enum { LOAD_SHORT, LOAD_LONG, LOAD_STEPS };      /* samples of a second, and of a quarter of a minute */

struct load {                            /* the load of the cluster over time */
	uint32_t at[LOAD_STEPS][SERIES_CPU][MODEL_SAMPLES];     /* the oldest first */
	size_t known[LOAD_STEPS];        /* number of samples that are known: the newest */
	int64_t second;                  /* the second that isn't complete yet */
	int64_t ahead_s;                 /* by how much the master's clock is ahead */
	int64_t since_ms;                /* since when the master takes samples; 0: it hasn't said */
	int64_t workers_ms;              /* end of the newest sample of workers, by the master's clock */
	uint64_t counted[SERIES_FAILED + 1];     /* the model's counters when the last sample was complete */
};

struct model {
	struct tui_run **runs;           /* ascending by number */
	size_t run_count, run_cap;
	struct map run_by_id;
	struct tui_worker **workers;     /* ascending by number */
	size_t worker_count, worker_cap;
	struct map worker_by_id;
	struct tui_graph graph;
	struct name_map names;           /* names of workers, as they appear in job rows */
	struct arena name_arena;
	struct totals totals;
	/* the master's sums: live jobs in each state, runs that have ended, and their jobs */
	uint64_t live_jobs[STATE_COUNT], ended_runs, ended_jobs[STATE_COUNT];
	bool sums_known;                 /* false: the person may not see all runs, so the model adds up the rows that it has */
	uint64_t turn, snapshot;
	bool runs_open, graph_open;      /* a snapshot in several frames is arriving */
	bool runs_known;                 /* whether a whole snapshot of the runs has arrived */
	/* The model has all runs from this number on, and live ones below it; 0: it has all runs. */
	uint64_t runs_floor;
	struct letters letters, letters_next;    /* letters_next: pages of it are arriving */
	struct tui_gate **gate_rows;     /* in the order in which the master lists them */
	size_t gate_count;
	struct arena gate_arena;
	bool gates_stale;                /* gates have begun or ceased to wait since they were asked for */
	bool letters_stale;              /* dead letters have come or gone since letters was asked for */
	uint64_t runs_mark;              /* the mark from which the subscription to runs can be resumed */
	struct tui_event events[MODEL_EVENTS];
	/* Number of events so far; the latest is at (event_count - 1) % MODEL_EVENTS. */
	uint64_t event_count;
	uint64_t ended, failed;          /* number of jobs seen to end so far, and of those that failed */
	struct load load;
};

void model_init(struct model *model);
void model_free(struct model *model);

/* Apply a message. what: the subscription that it belongs to, QUERY_RUNS or QUERY_JOBS (of the graph's run). */
void model_apply_snapshot(
	struct model *model, enum query_what what, const struct msg_snapshot *msg, int64_t now_ms);
void model_apply_delta(
	struct model *model, enum query_what what, const struct msg_delta *msg, int64_t now_ms);
/* Add a page of runs that are older than those of the model: the answer to a QUERY with runs_floor as its cursor. */
void model_apply_older(struct model *model, const struct msg_snapshot *msg, int64_t now_ms);
/* Take an answer about dead letters; true: it was the last page that is wanted. begin: before the first page is asked for. */
void model_begin_letters(struct model *model);
bool model_apply_letters(struct model *model, const struct msg_snapshot *msg);
/* Change to another run, whose jobs come with the next snapshot; 0: none. */
void model_look_at(struct model *model, uint64_t run);
/* Take the master's samples of the load. */
void model_apply_series(struct model *model, const struct msg_snapshot *msg, int64_t now_ms);
/*
 * Make at most count values of per samples each, the newest last: sums of what was counted, or the largest. Return how
 * many are known.
 */
size_t load_cells(const struct load *load, size_t step, enum series which, size_t per, size_t count, uint32_t *out);
/* Add samples for the seconds up to now to the load; true: the picture has changed. */
bool model_tick(struct model *model, int64_t now_ms);
bool model_history_moves(const struct model *model);     /* will a later tick change the picture? */

struct tui_run *model_run(const struct model *model, uint64_t run);
struct tui_worker *model_worker(const struct model *model, uint64_t worker);
void model_apply_gates(struct model *model, const struct msg_snapshot *msg);
const struct tui_gate *model_gate(const struct model *model, uint64_t run);     /* the run's first gate; NULL: none is known */
uint64_t model_gates_waiting(const struct model *model);         /* number of all gates that wait */
const struct tui_letter *model_letter(const struct model *model, uint64_t run); /* NULL: the run has no dead letter */
/* Return an event; back 0 is the latest. NULL: there is none so far back. */
const struct tui_event *model_event(const struct model *model, size_t back);

/* Numbers of jobs in the groups that people ask for. */
struct tally {
	uint32_t wait, queue, run, ok, fail, other;
};

struct tally tally_of(const uint32_t counts[STATE_COUNT]);

#endif
