/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as it goes: its changes until it has ended, and how that becomes an exit status. */
#ifndef TITAN_CLI_FOLLOW_H
#define TITAN_CLI_FOLLOW_H

#include "cli/follow/follow_internal.h"
#include "cli/session/cli.h"

struct follow;                           /* a run that is being followed */

struct follow_options {
	/* A few times a second: so many of its jobs have ended, so many run. May be NULL. */
	enum err (*tick_cb)(struct follow *follow, uint64_t settled, uint64_t running, void *arg);
	/* The master is gone, and the connection isn't tried again before this returns. May be NULL. */
	enum err (*lost_cb)(struct follow *follow, void *arg);
	void *arg;
	bool passing;                    /* the run will be gone: no word of what to do next */
};

void follow_say(struct follow *follow, const char *text);        /* a line among the others */

/* Shows the run on standard output until it has ended; signals detach (ERR_INTERRUPTED). A lost master is awaited. */
enum err follow_run(struct cli *cli, uint64_t run, const struct follow_options *options,
		    enum run_state *ret_state);
/* follow_run as a command: what to say and which status to end with. */
int follow_command(struct cli *cli, uint64_t run);

#endif
