/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one word means: a run or one of its jobs. */
#ifndef TITAN_CLI_SELECT_H
#define TITAN_CLI_SELECT_H

#include "cli/session/cli.h"

struct selector {
	uint64_t run;
	struct slice job;                /* empty: the whole run */
};

/* "4127", "last", "self", "4127/load"; "last" asks the master. */
enum err cli_select(struct cli *cli, const char *text, struct selector *ret);
enum err cli_select_run(struct cli *cli, const char *text, uint64_t *ret_run);   /* no job allowed */

/* encode and encode[*] are all of a fan-out, as in every act; no job is all of the run. */
bool selector_names(const struct selector *selector, struct slice name);

#endif
