/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands that show an earlier time (--at) talk to a master of then. */
#ifndef TITAN_CLI_MOMENT_H
#define TITAN_CLI_MOMENT_H

#include "cli/session/cli.h"

const char *moment_of(const struct cli *cli);            /* the argument of --at; NULL: the command shows the present */
/*
 * Connect to a master that shows this time. If none does, copy the store, put the copy back to then, and start a master
 * on it, which ends when nobody has asked for a minute. Sets cli->at_ms.
 */
enum err moment_connect(struct cli *cli, const char *text);

#endif
