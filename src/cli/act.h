/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ACT on what the first argument names, and what is told of it. */
#ifndef TITAN_CLI_ACT_H
#define TITAN_CLI_ACT_H

#include "cli/cli.h"

enum err act_confirm(struct cli *cli, const struct selector *selector);   /* a fan-out: its count, and a yes */
enum err act_select(struct cli *cli, struct msg_act *act);       /* run and job of the act */
/* Its exit status. what: "held back", for people. */
int act_send(struct cli *cli, struct msg_act *act, const char *what);

#endif
