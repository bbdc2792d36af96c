/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends an ACT for the runs and jobs that the arguments name, and prints what it changed. */
#ifndef TITAN_CLI_ACT_H
#define TITAN_CLI_ACT_H

#include "cli/ask/targets.h"
#include "cli/session/cli.h"
#include "cli/show/records.h"

enum err act_select(struct cli *cli, struct msg_act *act); /* sets run and job of the act from the first argument */
/* Send the act and return the exit status. what: the result for people, such as "held back". */
int act_send(struct cli *cli, struct msg_act *act, const char *what);

/* Resolve all arguments, and the option --where. If they select several runs or jobs, ask for a yes. */
enum err act_targets(struct cli *cli, enum reach reach, enum option_id where, struct targets *ret);
/*
 * Send the act for each target. A refusal is printed and doesn't stop the others. Return the exit status of the first
 * refusal.
 */
int act_each(struct cli *cli, const struct targets *targets, const struct msg_act *act, const char *what);
/* Like act_each, with a digest for each target. */
int act_each_with(struct cli *cli, const struct targets *targets, const struct msg_act *act, const struct slice *digests,
		  const char *what);

/* Begin a list with a row for each act: its target, and how many jobs it changed or would change. */
void act_rows_begin(struct cli *cli, struct records *records);
void act_rows_add(struct records *records, const struct msg_act *act, uint64_t changed, bool dry);
/* Print the list: to programs always, to people after --dry-run. */
void act_rows_print(struct cli *cli, const struct records *records);

#endif
