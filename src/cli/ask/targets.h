/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selectors that may stand for several runs or jobs: all, 4120-4127, FAIL, 'label=gpu,state=failed'. Which runs they may
 * include depends on the command, and is called its reach.
 */
#ifndef TITAN_CLI_TARGETS_H
#define TITAN_CLI_TARGETS_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"

enum reach {
	REACH_LIVE,                      /* runs that haven't ended: for cancel, hold, release */
	REACH_BAD,                       /* runs with a job that ended badly: for retry */
	REACH_EVERY                      /* all runs: for ls, show */
};

struct targets {
	struct selector *at; /* what the selectors stand for, in their order; runs of one selector newest first */
	size_t count;
	bool bulk;                       /* one of the selectors stood for more than a single name */
};

/* Is this a selector that may stand for more than one run or job: all, a range, or conditions? */
bool selector_is_many(const char *text);
/* Resolve all selectors. ERR_NOT_FOUND: one of them stands for nothing. */
enum err cli_targets(struct cli *cli, const char *const *texts, size_t count, enum reach reach, struct targets *ret);
/* If a selector stood for several, show how many and the first of them, and ask for a yes. verb: such as "cancel". */
enum err targets_confirm(struct cli *cli, const struct targets *targets, const char *verb);

#endif
