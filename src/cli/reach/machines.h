/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machines on which titan worker add has put workers. */
#ifndef TITAN_CLI_MACHINES_H
#define TITAN_CLI_MACHINES_H

#include "cli/session/cli.h"
#include "proto/message.h"

/* List the names of these workers, sorted; each ends with a NUL and is allocated in the command's arena. */
enum err machines_list(struct cli *cli, struct slice_list *ret);

#endif
