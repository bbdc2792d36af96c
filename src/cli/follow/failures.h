/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the failed jobs of an ended run, for commands that waited silently. */
#ifndef TITAN_CLI_FAILURES_H
#define TITAN_CLI_FAILURES_H

#include "cli/session/cli.h"
#include "proto/message.h"

#define FAILURES_KEPT 10                 /* failed jobs whose output is printed; further ones are only counted */
#define FAILURE_LINES 10                 /* lines of output shown for each job */

/* Print the run's failed jobs and the end of their output on standard error. Prints nothing with -q or --json. */
void tell_failures(struct cli *cli, uint64_t run);

/* Add the last lines of a job's output, escaped, each after the text lead. */
void failure_tail(struct cli *side, const struct rec_job_row *job, const struct look *look, const char *lead, struct buf *out);

#endif
