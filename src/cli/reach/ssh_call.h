/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command on another machine, run by ssh: the bytes for its stdin, and its output. Any number of them run at once;
 * ssh_calls_wait moves their bytes. Output is read to its end and kept up to a limit, so the other side never blocks.
 */
#ifndef TITAN_CLI_SSH_CALL_H
#define TITAN_CLI_SSH_CALL_H

#include "base/buf.h"
#include "cli/session/cli.h"
#include "net/machine.h"

struct ssh_call {
	pid_t pid;                       /* 0: not running */
	int pidfd, in, out, err;         /* -1: closed */
	struct buf input;                /* sent to the command first; erased when sent, because it may contain a key */
	struct slice payload;            /* sent after the input; its memory must stay valid */
	bool holds_stdin; /* keep stdin open after the input, so that the command ends only with the connection */
	size_t sent;
	struct buf said, complained;     /* stdout, and the end of stderr */
	int64_t until_ns;
	bool ended, timed_out;
	int status;                      /* wait status of ssh as from waitpid, once it has ended */
};

void ssh_call_init(struct ssh_call *call);
/* Start the command, with input as its stdin. alone: ssh must not use the person's agent. */
enum err ssh_call_start(struct ssh_call *call, const struct machine *machine, const char *command, bool alone, int64_t for_ms,
			struct error *error);
/* The exit status of ssh: that of the command, or 255 if ssh failed; -1: a signal or a time-out ended it. */
int ssh_call_status(const struct ssh_call *call);
void ssh_call_free(struct ssh_call *call);               /* free the call; kills ssh if it still runs */

/* Wait until a call has moved bytes or has ended, or until the time has come. Calls that don't run are skipped. */
enum err ssh_calls_wait(struct cli *cli, struct ssh_call *const *calls, size_t count, int64_t until_ns);

/* Add the last lines of the command's stderr, escaped, each after indent. */
void ssh_call_last_lines(const struct ssh_call *call, const char *indent, struct buf *out);

#endif
