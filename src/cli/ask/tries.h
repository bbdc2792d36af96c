/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks for the tries of jobs that were not their last. */
#ifndef TITAN_CLI_TRIES_H
#define TITAN_CLI_TRIES_H

#include "cli/session/cli.h"
#include "proto/message.h"

/* Get those of a run by serial number and epoch, or those of one job (job 0: all jobs of the run). */
enum err cli_query_tries(struct cli *cli, uint64_t run, uint64_t job, struct arena *arena, struct rec_try_row **ret, size_t *ret_count);
/* The last try of a job, from its row; NULL if it never had one. */
const struct rec_try_row *try_of_job(const struct rec_job_row *job, struct rec_try_row *ret);

#endif
