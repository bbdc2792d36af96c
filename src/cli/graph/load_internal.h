/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that load pipelines. */
#ifndef TITAN_CLI_LOAD_INTERNAL_H
#define TITAN_CLI_LOAD_INTERNAL_H

#include "cli/graph/load.h"

/*
 * Parse this text as a pipeline. Errors in the text have already been printed on return, and cli->error has no text
 * then. For an error in a given parameter, cli->error has a text.
 */
enum err load_source(struct cli *cli, const char *path, const struct pipeline_source *source, struct pipeline *ret);
/* Load the pipelines that jobs of this one name as their work. Errors have been told when this returns. */
enum err load_subs(struct cli *cli, const char *path, struct pipeline *pipeline);
/* The path of a file that this file names: relative paths begin where this file is. */
const char *load_path_beside(struct cli *cli, const char *file, struct slice path);
/* Print cli->error with its place in the pipeline, or in a file that it includes. */
void load_explain_in(struct cli *cli, const struct pipeline_texts *texts, const char *path, struct dag_spot spot);

#endif
