/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the two halves of titan show. */
#ifndef TITAN_CLI_SHOW_H
#define TITAN_CLI_SHOW_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"

enum err show_job(struct cli *cli, const struct selector *selector);     /* asks for the job and prints it */

#endif
