/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ACT on what the arguments name, and what is told of it. */
#ifndef TITAN_CLI_ACT_H
#define TITAN_CLI_ACT_H

#include "cli/ask/targets.h"
#include "cli/session/cli.h"

enum err act_select(struct cli *cli, struct msg_act *act);       /* run and job of the act, of the first argument */
/* Its exit status. what: "held back", for people. */
int act_send(struct cli *cli, struct msg_act *act, const char *what);

/* What all arguments name; what they stand for beyond that has a person's yes. */
enum err act_targets(struct cli *cli, enum reach reach, struct targets *ret);
/*
 * The act on each of them; each refusal is told, and keeps nobody from the rest. The exit status is that of the first.
 */
int act_each(struct cli *cli, const struct targets *targets, const struct msg_act *act, const char *what);

#endif
