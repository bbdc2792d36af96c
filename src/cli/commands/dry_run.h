/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --dry-run of acts: how many jobs an act would change now. Nothing is sent that changes anything. */
#ifndef TITAN_CLI_DRY_RUN_H
#define TITAN_CLI_DRY_RUN_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"

bool dry_run_wanted(const struct cli *cli);              /* was --dry-run given? */
/*
 * Count the jobs that the act itself would change. For a retry: the jobs that run again first, without those that
 * depend on them.
 */
enum err dry_run_count(struct cli *cli, const struct msg_act *act, uint64_t *ret_count);
/* Print that nothing was changed and what would be. what: such as "would be cancelled". */
void dry_run_tell(struct cli *cli, uint64_t count, const char *noun, const char *what);

#endif
