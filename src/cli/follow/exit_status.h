/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exit status that becomes of a run. */
#ifndef TITAN_CLI_EXIT_STATUS_H
#define TITAN_CLI_EXIT_STATUS_H

#include "cli/session/cli.h"
#include "proto/message.h"
#include "proto/states.h"

/* Of a run that has ended: denied, if nothing worse became of it than a refusal. Asks the master. */
int run_exit_status(struct cli *cli, uint64_t run, enum run_state state);

/* The exit code of the job that failed first; 128 and the signal's number where that ended it. 0: there is none. */
int first_exit_code(const struct rec_job_row *jobs, size_t job_count);
/* Of a run that failed. Its jobs say which bad ends are forgiven; none are needed where the run has none such. */
int failed_run_status(const struct rec_run_row *run, const struct rec_job_row *jobs, size_t job_count);

#endif
