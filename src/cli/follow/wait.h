/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits silently until runs have ended. */
#ifndef TITAN_CLI_WAIT_H
#define TITAN_CLI_WAIT_H

#include "cli/session/cli.h"
#include "proto/states.h"

/*
 * Wait until all runs have ended, and return their states in the given order. ERR_PENDING: --timeout is 0, and some
 * haven't ended.
 */
enum err wait_runs(struct cli *cli, const uint64_t *runs, size_t count, enum run_state *ret_states);

#endif
