/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph as the text of a pipeline. */
#ifndef TITAN_CLI_YAML_H
#define TITAN_CLI_YAML_H

#include "cli/session/cli.h"
#include "lang/spec_graph.h"

/* Write the graph as a pipeline that means the same. ERR_INVALID: no pipeline does; the error says what can't be written. */
enum err graph_yaml(struct cli *cli, const struct spec_graph *graph, struct buf *out);

#endif
