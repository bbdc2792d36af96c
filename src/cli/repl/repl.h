/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan repl: reads commands from a terminal or a script and runs them in sessions of this process. Commands are
 * written as in a shell, without the word titan.
 */
#ifndef TITAN_CLI_REPL_H
#define TITAN_CLI_REPL_H

#include "base/statedir.h"
#include "cli/session/clusters.h"
#include "cli/session/session.h"

struct repl_options {
	const char *cluster;             /* the cluster's name as typed; NULL: the default cluster */
	bool json;                       /* commands print JSON */
	bool quiet;                      /* no notices */
	bool keep_going;                 /* a script continues after an error */
};

/* Run the console and return the exit status: in a script, that of the first command that failed. */
int repl_run(struct session *session, const struct repl_options *options, const struct statedir *statedir,
	     const struct remote_cluster *remote);

/*
 * Run the first command of a text in a session as the console does, for the dashboard's command line. Return the
 * command's exit status. *ret_whole: false if the command is incomplete; then nothing was run.
 */
int repl_run_text(struct session *session, const char *cluster, const char *text, bool *ret_whole);

#endif
