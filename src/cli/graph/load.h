/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads graphs from standard input and files, and shows errors at their place. */
#ifndef TITAN_CLI_LOAD_H
#define TITAN_CLI_LOAD_H

#include "cli/session/cli.h"
#include "lang/pipeline.h"

/* Read all of standard input; ERR_TOO_LARGE: it has more than max bytes. */
#define LOAD_STDIN "/dev/stdin"          /* as a FILE argument: the session's standard input */

enum err load_stdin(struct cli *cli, size_t max, struct buf *out);
/* Like load_pipeline, with a text that was already read. path: the name to use in messages. */
enum err load_pipeline_text(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
			    struct slice text, struct pipeline *ret);
/*
 * Read the pipeline in a file. param: the option that sets its parameters. old: the run to which jobs are added, or
 * NULL. A pipeline without a name gets that of its file. The result points into text, which the caller owns. Errors in
 * the file have already been printed on return.
 */
enum err load_pipeline(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
		       struct buf *text, struct pipeline *ret);

#endif
