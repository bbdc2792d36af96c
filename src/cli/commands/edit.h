/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs that a person changes in an editor before they are submitted. */
#ifndef TITAN_CLI_EDIT_H
#define TITAN_CLI_EDIT_H

#include "cli/ask/specs.h"
#include "cli/graph/submit.h"
#include "cli/session/cli.h"

struct edited_graph {
	struct pipeline pipeline;
	struct graph_source source;      /* for submit_graph; points into this struct */
	struct slice name;               /* name that the edited text must have; empty: any name */
	bool scheduled;                  /* the edited text must have the key schedule */
};

/*
 * Write the graph as a pipeline, let a person edit it, and prepare edited->source for submit_graph. The new graph keeps the
 * context of the person who submitted the original. ERR_DECLINED: the text wasn't changed, or the editor failed.
 */
enum err edit_graph(struct cli *cli, const struct asked_graph *asked, struct edited_graph *edited);

#endif
