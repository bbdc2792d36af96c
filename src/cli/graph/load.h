/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads graphs from standard input and files, and shows errors at their place. */
#ifndef TITAN_CLI_LOAD_H
#define TITAN_CLI_LOAD_H

#include "cli/session/cli.h"
#include "lang/pipeline.h"

/* Read all of standard input; ERR_TOO_LARGE: it has more than max bytes. */
#define LOAD_STDIN "/dev/stdin"          /* as a FILE argument: the session's standard input */

enum err load_stdin(struct cli *cli, size_t max, struct buf *out);
/* Read a file whole. path: a file, a named pipe, or LOAD_STDIN. */
enum err load_file(struct cli *cli, const char *path, struct buf *text);
/* Parse a graph on one line. what: its name in messages. Errors have been told when this returns. */
enum err load_line(struct cli *cli, struct slice line, const char *what, const struct dag_old *old, struct dagline *ret);
/* Check a pipeline that isn't run: its required parameters may be missing. Errors have been told when this returns. */
enum err load_check(struct cli *cli, const char *path, enum option_id param, struct slice text, struct pipeline *ret);
/* As load_pipeline, with a text that was already read. path: its name in messages. */
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
