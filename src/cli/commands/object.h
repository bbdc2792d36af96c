/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second word of a command about objects: titan OBJECT VERB ARGUMENT... */
#ifndef TITAN_CLI_OBJECT_H
#define TITAN_CLI_OBJECT_H

#include "cli/session/cli.h"

struct object_verb {
	const char *word;
	int least, most;                 /* number of arguments after the verb; most < 0: any number */
	const char *needs;               /* those arguments, for errors: "NAME" */
	int (*run_cb)(struct cli *cli);  /* arguments start at invocation->args[1], unless none was typed */
};

/*
 * Run the verb that was typed; without one, the first, which lists. An unknown verb is an error that names the verb
 * that was probably meant, except one that destroys something.
 */
int object_run(struct cli *cli, const struct object_verb *verbs, size_t count);
/* Print cli->error as a wrong use of this command, whose next step is its help. */
int object_usage(struct cli *cli);

#endif
