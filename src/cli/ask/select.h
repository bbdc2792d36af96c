/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meaning of a word in a command about one run or job. */
#ifndef TITAN_CLI_SELECT_H
#define TITAN_CLI_SELECT_H

#include "cli/session/cli.h"

struct selector {
	uint64_t run;
	struct slice job;                /* name of the job; empty: the whole run */
};

/*
 * Read any selector that stands for exactly one run or job; one that stands for several is ERR_USAGE and its error has
 * their number and the first.
 */
enum err cli_select(struct cli *cli, const char *text, struct selector *ret);
/* Read "4127", "last", "self" or "4127/load" only. For "last" the master is asked. */
enum err cli_select_named(struct cli *cli, const char *text, struct selector *ret);
/* like cli_select, but refuses a word that names a job */
enum err cli_select_run(struct cli *cli, const char *text, uint64_t *ret_run);

/*
 * Does the selector include a job of this name? encode and encode[*] include a whole fan-out, encode[3-5] some of its
 * jobs; no job means the whole run.
 */
bool selector_names(const struct selector *selector, struct slice name);

#endif
