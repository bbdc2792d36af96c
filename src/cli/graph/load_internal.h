/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts that load pipelines. */
#ifndef TITAN_CLI_LOAD_INTERNAL_H
#define TITAN_CLI_LOAD_INTERNAL_H

#include "cli/graph/load.h"

enum err load_file(struct cli *cli, const char *path, struct buf *text);
/*
 * The pipeline of this text. What was wrong in it has been told, and cli->error has no text; or it has one, where
 * that was in what was given.
 */
enum err load_text(struct cli *cli, const char *path, struct slice text, struct slice_list given,
		   const struct dag_old *old, struct pipeline *ret);
/* Those that its jobs name. What was wrong with them has been told. */
enum err load_subs(struct cli *cli, const char *path, struct slice text, struct pipeline *pipeline);

#endif
