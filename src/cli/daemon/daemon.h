/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts titan as a daemon. */
#ifndef TITAN_CLI_DAEMON_H
#define TITAN_CLI_DAEMON_H

#include <sys/types.h>

#include "base/statedir.h"
#include "proto/error.h"

#define LOCAL_WORKER "local"

/*
 * Start "titan VERB MORE.." as a daemon in a session of its own, with its output in a file of the state directory.
 * Returns when the daemon is ready, or with an error that quotes the end of its output. ERR_BUSY: another daemon runs.
 * ret_pid may be NULL.
 */
enum err daemon_start(const struct statedir *statedir, const char *verb, const char *log_name, const char *const *more,
		      pid_t *ret_pid, struct error *error);
/* The same with another program than this one: program_fd is its open file; -1: this program. */
enum err daemon_start_program(const struct statedir *statedir, int program_fd, const char *verb, const char *log_name,
			      const char *const *more, pid_t *ret_pid, struct error *error);

#endif
