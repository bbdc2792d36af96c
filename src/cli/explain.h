/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a job is where it is, as the master says, and which command would change it. */
#ifndef TITAN_CLI_EXPLAIN_H
#define TITAN_CLI_EXPLAIN_H

#include "cli/cli.h"

/* The job's row, with why; also that there is no such job. Slices are in the arena. */
enum err explain_ask(struct cli *cli, const struct selector *selector, struct arena *arena, struct rec_job_row *ret);
/* The command; empty where it only takes time. The rows of its run say which gate it waits for; 0: not known. */
struct slice explain_next(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
			  struct arena *arena);

#endif
