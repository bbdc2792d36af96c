/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs run where they are submitted: in that directory, with some variables of that environment. */
#ifndef TITAN_CLI_GRAPH_HERE_H
#define TITAN_CLI_GRAPH_HERE_H

#include "cli/session/cli.h"
#include "lang/dagline.h"

/* file: a pipeline's, whose directory it is; NULL: the current one. all: every variable that may be a job's. */
void here_read(struct cli *cli, const char *file, bool all, struct job_defaults *defaults);
/* NAME=value as it is here; NULL and cli->error if it isn't set. */
const char *here_variable(struct cli *cli, const char *name);

#endif
