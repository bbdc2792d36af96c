/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends an ACT for the runs and jobs that the arguments name, and tells what it did. */
#ifndef TITAN_CLI_ACT_H
#define TITAN_CLI_ACT_H

#include "cli/ask/targets.h"
#include "cli/session/cli.h"

enum err act_select(struct cli *cli, struct msg_act *act); /* sets run and job of the act from the first argument */
/* Send the act and return the exit status. what: text for people, such as "held back". */
int act_send(struct cli *cli, struct msg_act *act, const char *what);

/* Resolve all arguments. If they stand for more than they name, ask for a yes. */
enum err act_targets(struct cli *cli, enum reach reach, struct targets *ret);
/*
 * Send the act for each target. A refusal is told and doesn't stop the others. Return the exit status of the first
 * refusal.
 */
int act_each(struct cli *cli, const struct targets *targets, const struct msg_act *act, const char *what);

#endif
