/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the daemons of this cluster, for titan up and for titan without arguments. */
#ifndef TITAN_CLI_UP_H
#define TITAN_CLI_UP_H

#include "cli/session/cli.h"

/* Start a master and a local worker unless they run. Return the exit status; errors have been printed. */
int up_start(struct cli *cli, bool silent);

/*
 * With --boot or --no-boot, let the cluster start with the machine, or no longer. *ret_way: how it does, for people and
 * programs; NULL: neither option was given.
 */
enum err up_boot(struct cli *cli, const char **ret_way);

/* End the connected master; workers and jobs run on. */
enum err down_master_alone(struct cli *cli);

/* Does the connected master run another program than this one? *ret_path, of PATH_MAX bytes: the file of its program. */
bool upgrade_is_due(struct cli *cli, char *ret_path);
/*
 * Replace the connected master by this program, with the options that it was started with. Workers and jobs run on. If this
 * program can't serve, the earlier one is started again.
 */
enum err upgrade_master(struct cli *cli);

#endif
