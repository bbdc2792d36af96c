/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run that jobs are added to, asked for by name. */
#ifndef TITAN_CLI_INTO_H
#define TITAN_CLI_INTO_H

#include "cli/session/cli.h"
#include "lang/dagline.h"

struct into {
	struct cli *cli;
	struct dag_old old;
	struct rec_job_row *jobs;        /* the first of them, once a name wasn't there */
	size_t job_count;
	bool listed;
};

/* The run that --into names; with a connection. */
enum err into_begin(struct cli *cli, const char *text, struct into *ret);

#endif
