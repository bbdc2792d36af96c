/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads graphs from standard input and files, and shows errors at their place. */
#ifndef TITAN_CLI_LOAD_H
#define TITAN_CLI_LOAD_H

#include "cli/session/cli.h"
#include "lang/pipeline.h"

/* Read all of standard input; ERR_TOO_LARGE: it has more than max bytes. */
#define LOAD_STDIN "/dev/stdin"          /* as a FILE, the standard input of the session */

enum err load_stdin(struct cli *cli, size_t max, struct buf *out);
/* As load_pipeline, with a text that was already read. path: its name in messages. */
enum err load_pipeline_text(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
			    struct slice text, struct pipeline *ret);
/*
 * Read the pipeline in a file. param: the option with its parameters. old: what is known of the run to which it is
 * added, or NULL. Without a name of its own it is named after the file. The result points into text, which the caller
 * owns. Errors in the file have been told when this returns.
 */
enum err load_pipeline(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
		       struct buf *text, struct pipeline *ret);

#endif
