/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What titan analyze computes about a run: how long its jobs stood in each state, what its duration depended on, and what retries cost. */
#ifndef TITAN_CLI_ANALYZE_H
#define TITAN_CLI_ANALYZE_H

#include "base/map.h"
#include "cli/session/cli.h"
#include "proto/message.h"

/* Why a job didn't run. The order is that of the table. */
enum wait_reason {
	WAIT_DEPENDENCY, WAIT_DELAY, WAIT_RETRY, WAIT_GATE, WAIT_HOLD, WAIT_LIMIT, WAIT_POOL, WAIT_SLOTS, WAIT_START, WAIT_PERSON, WAIT_REASONS
};

const char *wait_name(enum wait_reason reason);
const char *wait_text(enum wait_reason reason);

struct job_times {
	struct rec_job_row row;
	int64_t ready_ms, end_ms;        /* when all jobs that it needs had ended; when it ended, or the end of the analysis */
	int64_t waits[WAIT_REASONS];
	int64_t ran_ms, busy_ms;         /* in all tries; busy: with a slot of a worker */
	int64_t slack_ms;                /* how much later it could have ended without delaying the run */
	bool seen;                       /* the history has an event of it */
	bool pool;                       /* it asks for a pool */

	/* while events are read */
	enum job_state state;
	uint32_t pending;                /* jobs that it needs and that haven't ended */
	enum wait_reason delay;          /* why it is delayed */
	int64_t since_ms, held_at_ms, held_ms;
	int64_t run_held_ms, limited_ms; /* what the sums of the run were when it came into its state */
};

struct analysis {
	struct rec_run_row run;
	uint64_t max_jobs;
	int64_t end_ms;                  /* end of the run, or now */
	struct job_times *jobs;          /* by index */
	size_t count;
	uint32_t *child_start, *children;        /* the jobs that need the job with index i begin at child_start[i] */
	struct map places;               /* from a serial number to index + 1 */
	uint64_t unseen;                 /* jobs that have ended and of which the history has no event any more */

	/* sums while events are read */
	int64_t now_ms, run_held_ms, limited_ms;
	uint64_t active;
	bool run_held;

	uint32_t *path;                  /* the critical path, last job first */
	size_t path_count;
	int64_t busy_ms;
	uint64_t slots, retries;
	int64_t retried_ms;
	int64_t *earlier_ms;             /* durations of the last runs of this name */
	size_t earlier_count;
};

/* analyze_times.c: take the events of the run, in order, and then close what is still open */
void analyze_begin(struct analysis *analysis, struct arena *arena);
void analyze_event(struct analysis *analysis, const struct rec_event_row *event);
void analyze_end(struct analysis *analysis);

/* analyze_path.c */
void analyze_path(struct analysis *analysis, struct arena *arena);
int64_t analyze_median(int64_t *values, size_t count);   /* sorts the values; 0 if there are none */

#endif
