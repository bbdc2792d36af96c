/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the master for the earlier tries of jobs, all except the last. */
#ifndef TITAN_CLI_TRIES_H
#define TITAN_CLI_TRIES_H

#include "cli/session/cli.h"
#include "proto/message.h"

/* Get the earlier tries of a run's jobs by serial number and epoch; job 0: of all jobs of the run. */
enum err cli_query_tries(struct cli *cli, uint64_t run, uint64_t job, struct arena *arena, struct rec_try_row **ret, size_t *ret_count);
/* The last try of a job, from its row; NULL if it never had one. */
const struct rec_try_row *try_of_job(const struct rec_job_row *job, struct rec_try_row *ret);

#endif
