/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other processes of this machine, seen from outside. */
#ifndef TITAN_CLI_PROCESS_H
#define TITAN_CLI_PROCESS_H

#include "cli/session/cli.h"

/* ERR_TIMEOUT when it is still there after that time. */
enum err process_wait_gone(struct cli *cli, uint64_t pid, int64_t for_ms);

#endif
