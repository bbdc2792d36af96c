/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns what ssh or the other machine said into one sentence and a next command. */
#ifndef TITAN_CLI_FAILURE_H
#define TITAN_CLI_FAILURE_H

#include "cli/reach/ssh_call.h"

/* ssh itself failed, or what ran there wasn't our command: its sentinel never came. */
enum err failure_of_login(const struct machine *machine, const struct ssh_call *call, struct error *error);
/* The command ran, and failed. what: what it was for, such as "the copy of titan". */
enum err failure_of_command(const struct machine *machine, const struct ssh_call *call, const char *what, struct error *error);

#endif
