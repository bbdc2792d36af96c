/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What titan worker does besides being one. */
#ifndef TITAN_CLI_WORKERS_H
#define TITAN_CLI_WORKERS_H

#include "cli/session/cli.h"

int workers_list(struct cli *cli);
int workers_forget(struct cli *cli);             /* those named behind the first argument */

#endif
