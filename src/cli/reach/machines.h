/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machines that have a worker by titan worker add. */
#ifndef TITAN_CLI_MACHINES_H
#define TITAN_CLI_MACHINES_H

#include "cli/session/cli.h"
#include "proto/message.h"

/* List the names of their workers, in order; each ends with a NUL and belongs to the arena of the command. */
enum err machines_list(struct cli *cli, struct slice_list *ret);

#endif
