/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the daemons of this cluster, for titan up and for titan without arguments. */
#ifndef TITAN_CLI_UP_H
#define TITAN_CLI_UP_H

#include "cli/session/cli.h"

/* Start a master and a local worker unless they run. Return the exit status; errors have been printed. */
int up_start(struct cli *cli, bool silent);

#endif
