/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the wire as records: which columns runs, jobs and workers have, and what stands in them. */
#ifndef TITAN_CLI_ROWS_H
#define TITAN_CLI_ROWS_H

#include "cli/records.h"

struct run_counts {                      /* what people want to know of a run's jobs */
	uint64_t ok, running, waiting, failed, skipped, cancelled, settled, jobs;
};

struct run_counts run_counts(const struct rec_run_row *run);
enum run_state run_state_checked(uint64_t state);        /* from a peer: one that we know */
enum job_state job_state_checked(uint64_t state);
const struct state_info *job_look(const struct rec_job_row *job);        /* DEAD is shown over FAILED */

void rows_begin_runs(struct records *records, struct arena *arena);
void rows_add_run(struct records *records, const struct rec_run_row *run, int64_t now_ms);

/* Jobs of one run. jobs, job_count: all of them by index, for the names of needs and causes; NULL: not known. */
/* Needs that aren't a plain list, and a condition, as they were written; empty for plain ones. */
struct slice rows_needs_shown(struct slice_list needs, struct slice needs_text, struct slice when, struct arena *arena);
void rows_begin_jobs(struct records *records, struct arena *arena);
void rows_add_job(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		  size_t job_count, int64_t now_ms);

void rows_begin_workers(struct records *records, struct arena *arena);
void rows_add_worker(struct records *records, const struct rec_worker_row *worker, int64_t now_ms);
void rows_alarm(const struct rec_worker_row *worker, struct buf *out);  /* a line for people, where there is cause */

/* "exit 1", "signal 9", "lost": of the latest attempt; empty while there is nothing to say. */
struct slice job_stop_text(const struct rec_job_row *job);       /* why it is out of time; or empty */
struct slice job_outcome_text(const struct rec_job_row *job, struct arena *arena);
/* Why it ended as it did, where that isn't its own outcome: "because load failed"; or why it doesn't go on.
 * Empty: nothing to say. */
/* What began it: by its cause, that one's, and so on; to the first whose condition was false, or past those as well. */
const struct rec_job_row *job_root(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				   bool past_conditions);
struct slice job_cause_text(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			    struct arena *arena);
struct slice run_parent(const struct rec_run_row *run, struct arena *arena);     /* "7/build"; empty: it is no sub-run */
struct slice job_address(const struct rec_job_row *job, struct arena *arena);     /* "4127/load" */
int64_t job_span_ms(const struct rec_job_row *job, int64_t now_ms);      /* of the latest attempt; -1: none */

#endif
