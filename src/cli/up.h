/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Daemons of this cluster: what up, demo and titan alone share. */
#ifndef TITAN_CLI_UP_H
#define TITAN_CLI_UP_H

#include <sys/types.h>

#include "cli/cli.h"

#define LOCAL_WORKER "local"

/* A master and a local worker where they don't run yet; an exit status, its error told. */
int up_start(struct cli *cli, bool silent);

/*
 * "titan VERB MORE.." as a daemon of its own session, its output in a file of the state directory. Returns when
 * it is ready; else the error has the end of what it said, ERR_BUSY when another one runs. ret_pid may be NULL.
 */
enum err daemon_start(const struct place *place, const char *verb, const char *log_name, const char *const *more,
		      pid_t *ret_pid, struct error *error);

#endif
