/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state as people see it: wire rows of what is live in memory. Read-only. Slices point into the
 * core and live until the next turn; lists are in the arena. What has left memory isn't found here.
 */
#ifndef TITAN_CORE_VIEW_H
#define TITAN_CORE_VIEW_H

#include "core/core.h"

struct core_totals {
	uint64_t turn, generation, boot;
	uint64_t next_run;
	uint64_t live_runs, live_jobs;
	uint64_t counts[STATE_COUNT];    /* live jobs by state */
	uint64_t entered[STATE_COUNT];   /* how often a job came into it, since the master started */
	uint64_t workers, slots, busy;
	uint64_t stale_results;          /* acknowledged and not applied */
};

void view_totals(const struct core *core, struct core_totals *ret_totals);
/* The run of a job that speaks for itself; ERR_STALE unless the attempt is its job's current one. */
enum err view_caller(const struct core *core, const struct caller *caller, uint64_t *ret_run, struct error *error);
/* The run whose job submitted this one, ended or not; 0: a person did, or there is no such run. */
uint64_t view_begun_by(const struct core *core, uint64_t run);
bool view_run(const struct core *core, uint64_t run, struct arena *arena, struct rec_run_row *ret_row);
/* The live run with the largest number below the given one (UINT64_MAX to begin); 0 if none. */
uint64_t view_run_before(const struct core *core, uint64_t run);

enum view_detail { VIEW_BRIEF, VIEW_GRAPH, VIEW_FULL };          /* + needs; + command, mode */

bool view_job(const struct core *core, uint64_t job, enum view_detail detail, struct arena *arena,
	      struct rec_job_row *ret_row);
/* Puts why_code and why into a row: why the job is where it is. */
bool view_explain(const struct core *core, uint64_t job, struct arena *arena, struct rec_job_row *row);
/* Serial number of a job of a live run by its index or name; 0 if none (serial numbers begin at 1). */
uint64_t view_job_at(const struct core *core, uint64_t run, uint64_t index);
uint64_t view_job_named(const struct core *core, uint64_t run, struct slice name);

/* Runs that were pruned, and what becomes of others. */
enum prune_word { PRUNE_GOES, PRUNE_LIVE, PRUNE_GONE, PRUNE_OLD_NEWS, PRUNE_LETTERS, PRUNE_NEEDED };

bool view_pruned(const struct core *core, uint64_t run, int64_t *ret_wall_ms);   /* NULL: whenever */
uint64_t view_ended_runs(const struct core *core);       /* that are still there */
uint64_t view_pruning_after(const struct core *core, uint64_t run, bool *ret_rows);      /* 0 to begin; 0 at the end */
/* May it go? OLD_NEWS: its row may have changed since it was read. NEEDED: something else names it. */
enum prune_word view_prunable(const struct core *core, const struct row_run *row, const struct prune_rule *rule);

uint64_t view_gate_after(const struct core *core, uint64_t job);         /* that waits for people; 0 to begin; 0 at the end */

/* The worker whose connection this is; 0 if none. */
uint64_t view_worker_on(const struct core *core, uint64_t conn);
/*
 * May this worker speak of that attempt? Of a job that has left memory only the numbers are checked. Run 0 is any.
 */
bool view_may_report(const struct core *core, uint64_t worker, uint64_t run, uint64_t job, uint64_t epoch);
#define VIEW_AHEAD_ENOUGH 8              /* jobs to a slot */
/* Is there a worker, and has each, but for lost ones, enough ahead of all its slots? */
bool view_workers_full(const struct core *core);
bool view_workers_idle(const struct core *core);         /* no slot is in use */
/* Without an arena it has no resources. */
bool view_worker(const struct core *core, uint64_t worker, struct arena *arena, struct rec_worker_row *ret_row);
bool view_pool(const struct core *core, size_t at, struct rec_pool_row *ret_row);        /* by name, from 0; false: no more */
uint64_t view_worker_after(const struct core *core, uint64_t worker);    /* 0 to begin; 0 at the end */

/* Schedules in no order that means anything; from 0, up to SIZE_MAX: no more. The next times, with most at most. */
bool view_schedule(const struct core *core, size_t at, size_t most, struct arena *arena, struct rec_schedule_row *ret_row);

/* When its output was pruned, if it was; ended_ms: 0 while it hasn't. */
static inline int64_t view_log_gone(int64_t run_gone_ms, int64_t ended_ms)
{
	return ended_ms > 0 && ended_ms <= run_gone_ms ? run_gone_ms : 0;
}

/* Does this end count as a good one, as its specification says? */
bool view_forgiven(const struct rec_job_spec *spec, enum job_state state);
/* The first at or behind the cursor, and the cursor for the next; 0 if there is none. */
uint64_t view_tenant(const struct core *core, uint64_t cursor, struct rec_tenant_row *ret_row);
uint64_t view_lock(const struct core *core, uint64_t cursor, struct arena *arena, struct rec_lock_row *ret_row);
uint64_t view_group(const struct core *core, uint64_t cursor, struct rec_group_row *ret_row);

/* Shared with history: what a specification says in a row, by detail. */
void view_spec(const struct rec_job_spec *spec, enum view_detail detail, struct arena *arena,
	       struct rec_job_row *row);

#endif
