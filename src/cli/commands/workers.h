/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The subcommands of titan worker. */
#ifndef TITAN_CLI_WORKERS_H
#define TITAN_CLI_WORKERS_H

#include "cli/session/cli.h"

/*
 * Does this command become a worker? Without a verb it does so only if a guardian replaces itself by another version.
 */
bool worker_starts(const struct invocation *invocation);
int workers_list(struct cli *cli);
int workers_show(struct cli *cli);
int workers_forget(struct cli *cli);             /* removes the workers named after the first argument */

#endif
