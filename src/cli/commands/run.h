/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between titan run (cmd_run.c) and what it was told (run_options.c). */
#ifndef TITAN_CLI_RUN_H
#define TITAN_CLI_RUN_H

#include "cli/graph/submit.h"
#include "cli/session/cli.h"
#include "cli/graph/here.h"
#include "lang/dagline.h"

enum err run_check_usage(struct cli *cli);               /* what goes with what */
/* For jobs that don't say it themselves. */
enum err run_read_defaults(struct cli *cli, struct job_defaults *defaults);
enum err run_read_key(struct cli *cli, uint8_t key[SUBMIT_KEY_SIZE]);

#endif
