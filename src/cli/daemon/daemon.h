/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan as a daemon: how it is started. */
#ifndef TITAN_CLI_DAEMON_H
#define TITAN_CLI_DAEMON_H

#include <sys/types.h>

#include "base/statedir.h"
#include "proto/error.h"

#define LOCAL_WORKER "local"

/*
 * "titan VERB MORE.." as a daemon of its own session, its output in a file of the state directory. Returns when
 * it is ready; else the error has the end of what it said, ERR_BUSY when another one runs. ret_pid may be NULL.
 */
enum err daemon_start(const struct statedir *statedir, const char *verb, const char *log_name, const char *const *more,
		      pid_t *ret_pid, struct error *error);

#endif
