/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets jobs run in the directory in which they are submitted, with some variables of its environment. */
#ifndef TITAN_CLI_GRAPH_HERE_H
#define TITAN_CLI_GRAPH_HERE_H

#include "cli/session/cli.h"
#include "lang/dagline.h"

/*
 * file: use the directory of this pipeline file; NULL: use the current one. all: take every variable that may be given
 * to jobs.
 */
void here_read(struct cli *cli, const char *file, bool all, struct job_defaults *defaults);
/*
 * Note also which directory it is, and the source of its mount, so that a worker with other mounts can tell whether it has the
 * same one. Not for schedules: the directory that they mean may be made anew under its path.
 */
void here_identify(struct cli *cli, struct job_defaults *defaults);
/* Return "NAME=value" from this environment; NULL and cli->error if the variable isn't set. */
const char *here_variable(struct cli *cli, const char *name);

#endif
