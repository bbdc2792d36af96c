/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What titan analyze computes about a run: how long its jobs were in each state, which jobs determined the run's duration,
 * and how much time retries took.
 */
#ifndef TITAN_CLI_ANALYZE_H
#define TITAN_CLI_ANALYZE_H

#include "base/map.h"
#include "cli/session/cli.h"
#include "proto/message.h"

/* Why a job didn't run. Tables list the reasons in this order. */
enum wait_reason {
	WAIT_DEPENDENCY, WAIT_DELAY, WAIT_RETRY, WAIT_GATE, WAIT_HOLD, WAIT_LIMIT, WAIT_POOL, WAIT_SLOTS, WAIT_START, WAIT_PERSON, WAIT_REASONS
};

const char *wait_name(enum wait_reason reason);
const char *wait_text(enum wait_reason reason);

struct job_times {
	struct rec_job_row row;
	/* ready_ms: when all jobs that this one needs had ended; end_ms: when this job ended, or the end of the analysis */
	int64_t ready_ms, end_ms;
	int64_t waits[WAIT_REASONS];
	int64_t ran_ms, busy_ms;         /* ran: time in all tries; busy: time in which the job had a slot */
	int64_t slack_ms;                /* how much later the job could have ended without delaying the run */
	bool seen;                       /* the history has an event of this job */
	bool pool;                       /* the job asks for a pool */

	/* only used while events are read */
	enum job_state state;
	uint32_t pending;                /* number of jobs that this one needs and that haven't ended */
	enum wait_reason delay;          /* reason of the present state, if that is DELAYED */
	int64_t since_ms, held_at_ms, held_ms;
	/* the sums of the same names in struct analysis, as they were when the job came into its present state */
	int64_t run_held_ms, limited_ms;
};

struct analysis {
	struct rec_run_row run;
	uint64_t max_jobs;
	int64_t end_ms;                  /* when the run ended; now, if the run goes on */
	struct job_times *jobs;          /* by index */
	size_t count;
	uint32_t *child_start, *children;        /* the jobs that need the job with index i begin at child_start[i] */
	struct map places;               /* from a job's serial number to its index + 1 */
	uint64_t unseen;                 /* number of jobs that ended and have no event in the history any more */

	/* only used while events are read: how long the run was on hold, and at its limit of active jobs */
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

/* analyze_times.c: call analyze_begin, then analyze_event for each event of the run in order, then analyze_end */
void analyze_begin(struct analysis *analysis, struct arena *arena);
void analyze_event(struct analysis *analysis, const struct rec_event_row *event);
void analyze_end(struct analysis *analysis);

/* analyze_path.c: find the critical path and the slack of each job */
void analyze_path(struct analysis *analysis, struct arena *arena);
int64_t analyze_median(int64_t *values, size_t count);   /* sorts the values; 0 if there are none */

#endif
