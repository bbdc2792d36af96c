/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns rows from the wire into records: the columns of runs, jobs and workers. */
#ifndef TITAN_CLI_ROWS_H
#define TITAN_CLI_ROWS_H

#include "cli/show/records.h"

void rows_begin_runs(struct records *records, struct arena *arena);
void rows_add_run(struct records *records, const struct rec_run_row *run, int64_t now_ms);

void rows_begin_jobs(struct records *records, struct arena *arena);
/* Add a job's row. jobs, job_count: all jobs of its run by index, for names of parents and causes; NULL: not known. */
void rows_add_job(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		  size_t job_count, int64_t now_ms);
/* Needs and condition as they were written. Empty if the needs are a plain list and there is no condition. */
struct slice rows_needs_shown(struct slice_list needs, struct slice needs_text, struct slice when, struct arena *arena);

/* Turn the last row, which is a job's, into the row of its fan-out: change its name and its summary. */
void rows_fold_job(struct records *records, struct slice name, struct slice text);
/* Replace the needs in the last row, unless the list is empty. */
void rows_fold_needs(struct records *records, struct slice_list needs);

void rows_begin_workers(struct records *records, struct arena *arena);
void rows_add_worker(struct records *records, const struct rec_worker_row *worker, int64_t now_ms);
void rows_forget_load(struct records *records); /* in the row of the worker that was added last */
/* Writes an alarm line if the worker can't start jobs or has stuck ones. */
void rows_alarm(const struct rec_worker_row *worker, struct buf *out);

#endif
