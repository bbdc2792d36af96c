/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exit status for a run. */
#ifndef TITAN_CLI_EXIT_STATUS_H
#define TITAN_CLI_EXIT_STATUS_H

#include "cli/session/cli.h"
#include "proto/message.h"
#include "proto/states.h"

/* Exit status for a run that has ended; "denied" if a refused gate is all that went wrong. Asks the master. */
int run_exit_status(struct cli *cli, uint64_t run, enum run_state state);

/*
 * Exit code of the job that failed first, or 128 plus the number of the signal that ended it, or for a command that
 * couldn't be started 127 if it wasn't found, else 126. 0: there is none.
 */
int first_exit_code(const struct rec_job_row *jobs, size_t job_count);
/* Exit status for a failed run. jobs say which failures are forgiven; they may be missing if the run has none such. */
int failed_run_status(const struct rec_run_row *run, const struct rec_job_row *jobs, size_t job_count);

#endif
