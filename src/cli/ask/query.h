/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions that more than one command asks the master. */
#ifndef TITAN_CLI_QUERY_H
#define TITAN_CLI_QUERY_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"
#include "proto/message.h"

enum err cli_query(struct cli *cli, struct msg_query query, struct arena *arena, struct msg_snapshot *ret);
/* A run's row; ERR_NOT_FOUND says so with the next command. */
enum err cli_query_run(struct cli *cli, uint64_t run, struct arena *arena, struct rec_run_row *ret);
enum err cli_query_job(struct cli *cli, const struct selector *selector, struct arena *arena,
		       struct rec_job_row *ret);
/* The first jobs of a run, by index; SIZE_MAX: all. */
enum err cli_query_jobs(struct cli *cli, uint64_t run, size_t limit, struct arena *arena,
			struct rec_job_row **ret_jobs, size_t *ret_count);

/* The job's row, with why; also that there is no such job. Slices are in the arena. */
enum err explain_ask(struct cli *cli, const struct selector *selector, struct arena *arena, struct rec_job_row *ret);

#endif
