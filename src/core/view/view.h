/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state as people see it: wire rows of what is in memory. Read-only. Slices point into core and are valid until
 * the next turn; lists are in the arena. Runs that have left memory aren't found here.
 */
#ifndef TITAN_CORE_VIEW_H
#define TITAN_CORE_VIEW_H

#include "core/core.h"
#include "proto/limits.h"

struct core_totals {
	uint64_t turn, generation, boot;
	uint64_t next_run;
	uint64_t live_runs, live_jobs;
	uint64_t counts[STATE_COUNT];    /* number of live jobs in each state */
	uint64_t entered[STATE_COUNT];   /* moves into each state since the master's start */
	uint64_t workers, slots, busy;
	uint64_t ended_runs[RUN_STATE_COUNT];    /* number of runs in each state that have ended and aren't pruned */
	uint64_t ended_jobs[STATE_COUNT];        /* number of their jobs in each state */
	uint64_t stale_results;          /* results that were acknowledged and ignored as stale */
};

void view_totals(const struct core *core, struct core_totals *ret_totals);
/* Find the run of a calling job. Return ERR_STALE unless the caller's attempt is current. */
enum err view_caller(const struct core *core, const struct caller *caller, uint64_t *ret_run, struct error *error);
/* Return the run whose job submitted this one, ended or not; 0 if a person did or the run doesn't exist. */
uint64_t view_begun_by(const struct core *core, uint64_t run);
bool view_run(const struct core *core, uint64_t run, struct arena *arena, struct rec_run_row *ret_row);
/* Return the run in memory with the largest number below the given one (UINT64_MAX: start); 0 if none. */
uint64_t view_run_before(const struct core *core, uint64_t run);

enum view_detail { VIEW_BRIEF, VIEW_GRAPH, VIEW_FULL };          /* GRAPH adds needs; FULL adds command, mode */

bool view_job(const struct core *core, uint64_t job, enum view_detail detail, struct arena *arena,
	      struct rec_job_row *ret_row);
/* Set why_code and why in a row: why the job is in its state. */
bool view_explain(const struct core *core, uint64_t job, struct arena *arena, struct rec_job_row *row);
/* Like view_explain, for rows of a list: shorter, and only for jobs that wait. */
void view_why_job(const struct core *core, uint64_t job, struct arena *arena, struct rec_job_row *row);
/* Say what a live run waits for, by its first job that waits. steps: at most so many jobs are looked at; it is lowered. */
void view_why_run(const struct core *core, uint64_t run, struct arena *arena, size_t *steps, struct rec_run_row *row);
/* Return the serial number of a run's job by index or name; 0 if none (serial numbers start at 1). */
uint64_t view_job_at(const struct core *core, uint64_t run, uint64_t index);
uint64_t view_job_named(const struct core *core, uint64_t run, struct slice name);

/*
 * Find the run's first job from index on, and before end, whose name begins with the prefix. Return its index + 1, or 0
 * if there is none. The row has only the job's numbers, name and state.
 */
uint64_t view_name_next(const struct core *core, uint64_t run, struct slice prefix, uint64_t index, uint64_t end,
			struct arena *arena, struct rec_job_row *ret_row);

/* Pruned runs, and whether a run may be pruned. */
enum prune_word { PRUNE_GOES, PRUNE_LIVE, PRUNE_GONE, PRUNE_OLD_NEWS, PRUNE_LETTERS, PRUNE_NEEDED };

/* true: the run was pruned; ret_wall_ms, which may be NULL, gets when */
bool view_pruned(const struct core *core, uint64_t run, int64_t *ret_wall_ms);
uint64_t view_ended_runs(const struct core *core);       /* number of runs that have ended and aren't pruned */
/* The next run whose rows or logs are being removed; pass 0 to start; 0: no more. */
uint64_t view_pruning_after(const struct core *core, uint64_t run, bool *ret_rows);
/* May this run be pruned? OLD_NEWS: its row may have changed since it was read. NEEDED: something else names it. */
enum prune_word view_prunable(const struct core *core, const struct row_run *row, const struct prune_rule *rule);

/* The next job that waits for people; pass 0 to start; 0: no more. */
uint64_t view_gate_after(const struct core *core, uint64_t job);

/* Return the number of the worker with this connection; 0 if none. */
uint64_t view_worker_on(const struct core *core, uint64_t conn);
/* The files of an attempt that this worker has, as input records; false: it hasn't this attempt. */
bool view_attempt_inputs(const struct core *core, uint64_t worker, uint64_t job, uint64_t epoch, struct arena *arena, struct slice *ret);
/*
 * May this worker report about that attempt? If the job has left memory, only the numbers are checked. run 0: any
 * run.
 */
bool view_may_report(const struct core *core, uint64_t worker, uint64_t run, uint64_t job, uint64_t epoch);
#define VIEW_PREFETCHED_ENOUGH 8              /* prefetched jobs per slot that are enough */
/* Check that there is a worker, and that each one that isn't lost has VIEW_PREFETCHED_ENOUGH jobs prefetched per slot. */
bool view_workers_full(const struct core *core);
bool view_workers_idle(const struct core *core);         /* true: no slot of any worker is in use */
/* With arena NULL the row lacks resources and names of stuck jobs. */
bool view_worker(const struct core *core, uint64_t worker, struct arena *arena, struct rec_worker_row *ret_row);
/* Pools in order of names, from at = 0; false: no more. */
/* Versions of assets by name and version, after the one at the cursor (0: the first). Returns the cursor of this one; 0: no more. */
uint64_t view_asset(const struct core *core, struct slice name, uint64_t cursor, struct rec_asset_row *ret_row);
bool view_asset_owner(const struct core *core, struct slice name, struct slice *ret_owner);
bool view_topic(const struct core *core, size_t at, struct rec_topic_row *ret_row);
bool view_pool(const struct core *core, size_t at, struct rec_pool_row *ret_row);
/* The next worker by number; pass 0 to start; 0: no more. */
uint64_t view_worker_after(const struct core *core, uint64_t worker);

/* Schedules in no particular order; count `at` from 0 until false. The row has at most `most` next times. */
bool view_schedule(const struct core *core, size_t at, size_t most, struct arena *arena, struct rec_schedule_row *ret_row);

struct view_schedule_graph {             /* the graph that a schedule submits, and the settings of its runs */
	struct slice owner, tenant, concurrency, context;
	struct slice revision;           /* changes when the graph or times of the schedule are replaced */
	struct rec_schedule_spec spec;
	uint64_t max_jobs;
	const struct graph_part *parts;
	size_t part_count;
};

bool view_schedule_graph(const struct core *core, struct slice name, struct view_schedule_graph *ret);

/* Return when a job's output was pruned, or 0. ended_ms: 0 while the job hasn't ended. */
static inline int64_t view_log_gone(int64_t run_gone_ms, int64_t ended_ms)
{
	return ended_ms > 0 && ended_ms <= run_gone_ms ? run_gone_ms : 0;
}

/* Check whether the specification counts this end as good. */
bool view_forgiven(const struct rec_job_spec *spec, enum job_state state);
/* Fill the row of the first entry at or after the cursor and return the next cursor; 0 if there is none. */
uint64_t view_tenant(const struct core *core, uint64_t cursor, struct rec_tenant_row *ret_row);
uint64_t view_lock(const struct core *core, uint64_t cursor, struct arena *arena, struct rec_lock_row *ret_row);
uint64_t view_group(const struct core *core, uint64_t cursor, struct rec_group_row *ret_row);

uint64_t view_token(const struct core *core, uint64_t cursor, struct rec_token_row *ret_row);

#define TOKEN_USE_MS     (60 * INT64_C(1000))    /* uses within this time of the last one aren't recorded */
#define TOKEN_SECRET_MAX 128             /* most bytes of a sealed secret */

struct token_view {                      /* what the master must know about a token to identify a peer */
	char name[LIMIT_NAME_MAX_LEN + 1];
	char pool[LIMIT_NAME_MAX_LEN + 1];       /* the pool of its worker; empty: as the worker says */
	role_set roles;
	int64_t made_ms;                 /* when the token's secret was made */
	int64_t expires_ms;              /* UTC; 0: never */
	int64_t used_ms;
	uint8_t secret[TOKEN_SECRET_MAX];        /* as sealed by the master */
	size_t secret_len;
};

/* Find a token by its id. The core knows no wall clock here: the caller looks at expires_ms. */
bool view_token_find(const struct core *core, struct slice id, struct token_view *ret_token);
/* Return a number that changes whenever a token is added, replaced or removed. */
uint64_t view_tokens_changed(const struct core *core);

/* The revision of the latest change of values. */
uint64_t view_revision(const struct core *core);
/* Does any operation of the request change something? */
bool values_change(const struct msg_values *msg);
/* May the job behind the caller (0: a person, whom the master has checked) watch these values, and of which namespace are they? */
enum err view_values_watched(struct core *core, const struct caller *caller, const struct msg_values_watch *msg, uint64_t *ret_run,
			     struct slice *ret_definition, struct error *error);
/* The owner of a run that has values, also of one that has left memory. */
bool view_values_owner(const struct core *core, uint64_t run, struct slice *ret_owner);
/*
 * List the keys that changed after a revision (0: all that exist), in the order of their versions, at most `most`, which is at
 * least 2 * LIMIT_VALUE_OPS_MAX. `began`: the revision that the watch began after, or, if it began with all keys, the latest one
 * then; deletions up to it aren't told. Values point into core. False: nothing to tell but the revision.
 */
bool view_values_after(const struct core *core, uint64_t run, struct slice definition, struct slice prefix, uint64_t revision,
		       uint64_t began, size_t most, struct arena *arena, struct msg_values_changed *ret);

/*
 * view_sight.c: for a master that shows people only some runs. Get the owner of a run or schedule. False: the run isn't
 * in memory, or the schedule doesn't exist.
 */
/*
 * The files that the attempt in this row left, if all may know them: they can be seen when the job has succeeded. stored: as in the
 * stored row of the job.
 */
struct slice view_artifacts(struct slice stored, const struct rec_job_row *row, struct arena *arena);
bool view_owner(const struct core *core, uint64_t run, struct slice *ret_owner);
bool view_schedule_owner(const struct core *core, struct slice name, struct slice *ret_owner);
/*
 * Does this person decide in this run in memory? It has a gate that the person may decide, or an unknown job that a
 * person must settle.
 */
bool view_decides(const struct core *core, uint64_t run, struct slice person);
/* List the newest live runs in which this person decides. Return their number, at most `most`. */
size_t view_decided_by(const struct core *core, struct slice person, uint64_t *ret_runs, size_t most);
/* Count the jobs of the owner's live runs by state. Return the number of those that haven't ended. */
uint64_t view_counts_of(const struct core *core, struct slice owner, uint64_t ret_counts[STATE_COUNT]);
/* Does a live run of the owner use this tenant, concurrency group or lock? */
bool view_uses_tenant(const struct core *core, struct slice owner, struct slice name);
bool view_uses_group(const struct core *core, struct slice owner, struct slice name);
bool view_uses_lock(const struct core *core, struct slice owner, struct slice name);

/* Fill in what the specification says, by detail. Also used for history. */
void view_spec(const struct rec_job_spec *spec, enum view_detail detail, struct arena *arena,
	       struct rec_job_row *row);

#endif
