/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns the messages of ssh or of the other machine into one sentence and a next command. */
#ifndef TITAN_CLI_SSH_FAILURE_H
#define TITAN_CLI_SSH_FAILURE_H

#include "cli/reach/ssh_call.h"

/* Set the error for a failed ssh, or for a shell that didn't run our command: the command's sentinel never came. */
enum err failure_of_login(const struct machine *machine, const struct ssh_call *call, struct error *error);
/* Set the error for a command that ran and failed. what: its purpose, such as "the copy of titan". */
enum err failure_of_command(const struct machine *machine, const struct ssh_call *call, const char *what, struct error *error);

#endif
