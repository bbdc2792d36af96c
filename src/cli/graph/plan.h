/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows what a graph would run, without running it. */
#ifndef TITAN_CLI_PLAN_H
#define TITAN_CLI_PLAN_H

#include "cli/graph/submit.h"
#include "cli/session/cli.h"

/* Print one row per job to standard output. */
/* Print the jobs; for people with fan-outs folded, unless all is set. */
enum err plan_print(struct cli *cli, const struct graph_source *source, bool all);

#endif
