/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selectors that may stand for several runs or jobs: all, 4120-4127, FAIL, 'label=gpu,state=failed'. The reach of a
 * command says which runs its selectors may include.
 */
#ifndef TITAN_CLI_TARGETS_H
#define TITAN_CLI_TARGETS_H

#include "cli/ask/select.h"
#include "cli/session/cli.h"

enum reach {
	REACH_LIVE,                      /* runs that haven't ended: for cancel, hold, release */
	REACH_BAD,                       /* runs with a job that ended badly: for retry */
	REACH_EVERY                      /* runs in any state: for ls, show */
};

struct targets {
	/* the runs and jobs selected, in the order of the selectors; within a selector the newest run first */
	struct selector *at;
	size_t count;
	bool bulk;                       /* one of the selectors stood for more than one run or job */
};

/* Is this a selector that may stand for more than one run or job: all, a range, or conditions? */
bool selector_is_many(const char *text);
/* Resolve all selectors. ERR_NOT_FOUND: one of them selects nothing. */
enum err cli_targets(struct cli *cli, const char *const *texts, size_t count, enum reach reach, struct targets *ret);
/*
 * If the option --where is given, replace the targets by those of their jobs that meet its expression. An error of the
 * expression is printed with its place. ERR_NOT_FOUND: there are none.
 */
enum err targets_where(struct cli *cli, enum option_id option, enum reach reach, struct targets *targets);
/* If a selector stood for several, print how many and the first few, and ask for a yes. verb: such as "cancel". */
enum err targets_confirm(struct cli *cli, const struct targets *targets, const char *verb);

#endif
