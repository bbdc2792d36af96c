/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The subcommands of titan worker. */
#ifndef TITAN_CLI_WORKERS_H
#define TITAN_CLI_WORKERS_H

#include "cli/session/cli.h"

int workers_list(struct cli *cli);
int workers_forget(struct cli *cli);             /* removes the workers named after the first argument */

#endif
