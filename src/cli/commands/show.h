/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of titan show. */
#ifndef TITAN_CLI_SHOW_H
#define TITAN_CLI_SHOW_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"
#include "cli/show/records.h"
#include "proto/message.h"

enum err show_job(struct cli *cli, const struct selector *selector);     /* asks for the job and prints it */

/* show_tries.c: begin the records, and add a row for each known try of the job. */
enum err tries_of(struct cli *cli, const struct rec_job_row *job, struct records *records);

/*
 * show_fold.c: add the jobs of a run, with its fan-outs folded, as at most this many rows. Return the number of jobs
 * that are in no row.
 */
size_t show_folded(const struct rec_job_row *jobs, size_t job_count, int64_t now_ms, size_t most, struct records *records);

#endif
