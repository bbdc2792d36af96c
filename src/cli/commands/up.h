/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Daemons of this cluster: what titan up and titan alone share. */
#ifndef TITAN_CLI_UP_H
#define TITAN_CLI_UP_H

#include "cli/session/cli.h"

/* A master and a local worker where they don't run yet; an exit status, its error told. */
int up_start(struct cli *cli, bool silent);

#endif
