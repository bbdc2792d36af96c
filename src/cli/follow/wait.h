/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Until runs have ended, without a word. */
#ifndef TITAN_CLI_WAIT_H
#define TITAN_CLI_WAIT_H

#include "cli/session/cli.h"
#include "proto/states.h"

/* Waits without a word. Every run's state, in the order given. ERR_PENDING: --timeout 0 and not all have ended. */
enum err wait_runs(struct cli *cli, const uint64_t *runs, size_t count, enum run_state *ret_states);

#endif
