/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watches other processes on this machine. */
#ifndef TITAN_CLI_PROCESS_H
#define TITAN_CLI_PROCESS_H

#include "cli/session/cli.h"

/* Wait until the process is gone; ERR_TIMEOUT: it is still there after for_ms. */
enum err process_wait_gone(struct cli *cli, uint64_t pid, int64_t for_ms);

#endif
