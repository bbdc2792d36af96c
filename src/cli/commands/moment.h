/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands that show an earlier time (--at) talk to a read-only master that shows the cluster at that time. */
#ifndef TITAN_CLI_MOMENT_H
#define TITAN_CLI_MOMENT_H

#include "cli/session/cli.h"

const char *moment_of(const struct cli *cli);            /* the argument of --at; NULL: the command shows the present */
/*
 * Connect to a master that shows this time. If there is none, copy the store, put the copy back to that time, and start
 * a master on it, which ends after a minute without requests. Other people, and those on other machines, ask the present
 * master to do so, and get the answers through it. Sets cli->at_ms.
 */
enum err moment_connect(struct cli *cli, const char *text);

/* End all masters that show earlier times, and wait until they are gone. */
enum err moments_end(struct cli *cli);

#endif
