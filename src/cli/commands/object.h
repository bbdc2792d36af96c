/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second word of a command about objects: titan OBJECT VERB ARGUMENT... */
#ifndef TITAN_CLI_OBJECT_H
#define TITAN_CLI_OBJECT_H

#include "cli/session/cli.h"

struct object_verb {
	const char *word;
	int least, most;                 /* number of arguments after the verb; most < 0: any number */
	const char *needs;               /* the verb's arguments as named in error texts, such as "NAME" */
	/* the verb's arguments start at invocation->args[1], or at args[0] if no verb was typed */
	int (*run_cb)(struct cli *cli);
};

/*
 * Run the typed verb, or without a verb the first one, which lists. The error for an unknown verb suggests a similar
 * one, but never one that destroys something.
 */
int object_run(struct cli *cli, const struct object_verb *verbs, size_t count);
/* Print cli->error as a usage error whose next step is the command's help. */
int object_usage(struct cli *cli);

#endif
