/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of one running command: what was typed, which cluster it is about, how output looks, the connection. The
 * functions on it are declared in the other headers of this folder and in ask/.
 */
#ifndef TITAN_CLI_CLI_H
#define TITAN_CLI_CLI_H

#include <signal.h>

#include "base/statedir.h"
#include "cli/session/clusters.h"
#include "cli/session/options.h"
#include "cli/session/session.h"
#include "cli/show/look.h"

struct client;

struct lost_output {                     /* set when a write fails because the reader has gone or the disk is full */
	bool lost, told;
	bool reader_left;                /* lost because the reader has gone */
	struct error why;
};

struct cli {
	struct session *session;
	struct lost_output *output;
	const struct invocation *invocation;
	struct settings settings;
	struct statedir statedir;
	struct remote_cluster remote;    /* address of the cluster's master, if it is on another machine */
	struct look out, err;            /* how standard output and standard error look */
	struct arena arena;              /* memory that is freed when the command ends */
	struct client *client;           /* NULL until cli_connect */
	int signal_fd;                   /* -1 until cli_catch_signals */
	sigset_t signals_before;         /* signals that were blocked before cli_catch_signals */
	int64_t deadline_ns;             /* monotonic time set by --timeout, or TIME_NEVER */
	int64_t at_ms;                   /* the time that is shown (--at); 0: the present */
	struct error error;
};

#endif
