/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the wire as records: which columns runs, jobs and workers have. */
#ifndef TITAN_CLI_ROWS_H
#define TITAN_CLI_ROWS_H

#include "cli/show/records.h"

void rows_begin_runs(struct records *records, struct arena *arena);
void rows_add_run(struct records *records, const struct rec_run_row *run, int64_t now_ms);

void rows_begin_jobs(struct records *records, struct arena *arena);
/* Jobs of one run. jobs, job_count: all of them by index, for the names of needs and causes; NULL: not known. */
void rows_add_job(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		  size_t job_count, int64_t now_ms);
/* Needs that aren't a plain list, and a condition, as they were written; empty for plain ones. */
struct slice rows_needs_shown(struct slice_list needs, struct slice needs_text, struct slice when, struct arena *arena);

void rows_begin_workers(struct records *records, struct arena *arena);
void rows_add_worker(struct records *records, const struct rec_worker_row *worker, int64_t now_ms);
void rows_alarm(const struct rec_worker_row *worker, struct buf *out);  /* a line for people, where there is cause */

#endif
