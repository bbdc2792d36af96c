/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the progress of a run until its end. */
#ifndef TITAN_CLI_FOLLOW_H
#define TITAN_CLI_FOLLOW_H

#include "cli/follow/follow_internal.h"
#include "cli/session/cli.h"

struct follow;                           /* a run that is being followed */

enum follow_what { FOLLOW_CHANGES, FOLLOW_OUTPUT };

struct follow_options {
	/* FOLLOW_OUTPUT: print the output of the jobs in their order, instead of their changes */
	enum follow_what what;
	/* Called a few times a second with the numbers of jobs that have ended and that run. May be NULL. */
	enum err (*tick_cb)(struct follow *follow, uint64_t ended, uint64_t running, void *arg);
	/* Called when the master is gone; when it returns, the connection is tried again. May be NULL. */
	enum err (*lost_cb)(struct follow *follow, void *arg);
	void *arg;
	bool passing;                    /* the run will soon be deleted: suggest no next command */
};

void follow_say(struct follow *follow, const char *text);        /* print a line between the lines about the run */

/* Check that a template, if there is one, fits the rows that follow_run prints. */
enum err follow_check(struct cli *cli);
/*
 * Show the run on standard output until it has ended. Signals end only the following (ERR_INTERRUPTED). A lost master
 * is waited for.
 */
enum err follow_run(struct cli *cli, uint64_t run, const struct follow_options *options,
		    enum run_state *ret_state);
/* follow_run as a command: print messages, and return the exit status. */
int follow_command(struct cli *cli, uint64_t run, enum follow_what what);

#endif
