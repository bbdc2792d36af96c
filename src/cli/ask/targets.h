/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selectors that stand for more than one thing: all, 4120-4127, 'label=gpu,state=failed'. What they mean depends on
 * the command; that is its reach.
 */
#ifndef TITAN_CLI_TARGETS_H
#define TITAN_CLI_TARGETS_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"

enum reach {
	REACH_LIVE,                      /* runs that haven't ended: cancel, hold, release */
	REACH_BAD,                       /* runs with a job that ended badly: retry */
	REACH_EVERY                      /* ls, show */
};

struct targets {
	struct selector *at;             /* in the order given; runs that a selector found, the newest first */
	size_t count;
	bool bulk;                       /* one of them stood for more than it named */
};

/* ERR_NOT_FOUND when a selector stands for nothing. */
enum err cli_targets(struct cli *cli, const char *const *texts, size_t count, enum reach reach, struct targets *ret);
/* More than was named: how many, the first of them, and a yes. verb: "cancel". */
enum err targets_confirm(struct cli *cli, const struct targets *targets, const char *verb);

#endif
