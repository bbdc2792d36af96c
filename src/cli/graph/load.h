/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs from outside: standard input and files are read, errors are shown at their place. */
#ifndef TITAN_CLI_LOAD_H
#define TITAN_CLI_LOAD_H

#include "cli/session/cli.h"
#include "lang/pipeline.h"

/* All of standard input; ERR_TOO_LARGE when it has more bytes than this. */
enum err load_stdin(struct cli *cli, size_t max, struct buf *out);
/*
 * The pipeline in a file, with the parameters given by this option. What was wrong with it has been told.
 * old: of what is added to a run, or NULL. A pipeline without a name has that of its file. It points into text, which is the caller's.
 */
enum err load_pipeline(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
		       struct buf *text, struct pipeline *ret);

#endif
