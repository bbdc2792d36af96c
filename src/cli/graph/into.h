/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run to which jobs are added; its jobs are looked up by name. */
#ifndef TITAN_CLI_INTO_H
#define TITAN_CLI_INTO_H

#include "cli/session/cli.h"
#include "lang/dagline.h"

struct into {
	struct cli *cli;
	struct dag_old old;
	struct rec_job_row *jobs; /* first jobs of the run, read when a name wasn't found, to suggest similar names */
	size_t job_count;
	bool listed;
};

/* Find the run that --into names, and connect to the master. */
enum err into_begin(struct cli *cli, const char *text, struct into *ret);

#endif
