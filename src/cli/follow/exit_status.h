/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exit status for a run. */
#ifndef TITAN_CLI_EXIT_STATUS_H
#define TITAN_CLI_EXIT_STATUS_H

#include "cli/session/cli.h"
#include "proto/message.h"
#include "proto/states.h"

/* Exit status of an ended run; "denied" if a denied gate is all that went wrong. Queries the master. */
int run_exit_status(struct cli *cli, uint64_t run, enum run_state state);

/*
 * The exit code of the job that failed first; 128 plus the number of its signal; or if its command couldn't be started,
 * 127 if the command wasn't found, else 126. 0: no job has such a code.
 */
int first_exit_code(const struct rec_job_row *jobs, size_t job_count);
/* Exit status of a failed run. jobs tell which failures are forgiven; they may be missing if none is. */
int failed_run_status(const struct rec_run_row *run, const struct rec_job_row *jobs, size_t job_count);

#endif
