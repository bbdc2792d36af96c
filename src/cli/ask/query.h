/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to the master that several commands ask. */
#ifndef TITAN_CLI_QUERY_H
#define TITAN_CLI_QUERY_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"
#include "proto/message.h"

enum err cli_query(struct cli *cli, struct msg_query query, struct arena *arena, struct msg_snapshot *ret);
/* Get a run's row. ERR_NOT_FOUND: there is none; the error has the next command. */
enum err cli_query_run(struct cli *cli, uint64_t run, struct arena *arena, struct rec_run_row *ret);
enum err cli_query_job(struct cli *cli, const struct selector *selector, struct arena *arena,
		       struct rec_job_row *ret);
/* Get the first jobs of a run, in the order of their index; limit SIZE_MAX: all. */
enum err cli_query_jobs(struct cli *cli, uint64_t run, size_t limit, struct arena *arena,
			struct rec_job_row **ret_jobs, size_t *ret_count);

/* Check that the run exists, and a job of this name or a fan-out: an empty list must not hide a mistyped name. */
enum err cli_query_named(struct cli *cli, const struct selector *selector);

/* Get the row of a job with the reason why it waits. The error says if there is no such job. */
enum err explain_ask(struct cli *cli, const struct selector *selector, struct arena *arena, struct rec_job_row *ret);

#endif
