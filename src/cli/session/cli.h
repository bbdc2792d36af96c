/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a command has at hand: what was typed, where its cluster is, how things are shown, the connection.
 * What can be done with it stands in the headers beside this one and in ask/.
 */
#ifndef TITAN_CLI_CLI_H
#define TITAN_CLI_CLI_H

#include <signal.h>

#include "base/statedir.h"
#include "cli/session/options.h"
#include "cli/session/session.h"
#include "cli/show/look.h"

struct client;

struct lost_output {                     /* whoever read it is gone, or its disk is full */
	bool lost, told;
	struct error why;
};

struct cli {
	struct session *session;
	struct lost_output *output;
	const struct invocation *invocation;
	struct settings settings;
	struct statedir statedir;
	struct look out, err;            /* of standard output and standard error */
	struct arena arena;              /* as long as the command */
	struct client *client;           /* after cli_connect */
	int signal_fd;                   /* after cli_catch_signals; else -1 */
	sigset_t signals_before;         /* blocked until then */
	int64_t deadline_ns;             /* monotonic, by --timeout; TIME_NEVER */
	struct error error;
};

#endif
