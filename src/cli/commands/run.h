/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by titan run (cmd_run.c) and its options (run_options.c). */
#ifndef TITAN_CLI_RUN_H
#define TITAN_CLI_RUN_H

#include "cli/graph/submit.h"
#include "cli/session/cli.h"
#include "cli/graph/here.h"
#include "lang/dagline.h"

enum err run_check_usage(struct cli *cli);               /* refuses options that don't go together */
/* Read the defaults for jobs that don't set these themselves. */
enum err run_read_defaults(struct cli *cli, struct job_defaults *defaults);
enum err run_read_key(struct cli *cli, uint8_t key[SUBMIT_KEY_SIZE]);

#endif
