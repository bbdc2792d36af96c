/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of a run or of a schedule as it was submitted. */
#ifndef TITAN_CLI_SPECS_H
#define TITAN_CLI_SPECS_H

#include "cli/session/cli.h"
#include "lang/spec_graph.h"

struct asked_graph {
	struct spec_graph graph;         /* of later additions, too; directories and variables that jobs share are in them */
	struct rec_run_context context;  /* of the first submit */
	struct slice context_bytes;
	struct rec_schedule_spec schedule;
	struct slice revision;           /* of a schedule */
	bool masked;                     /* the values of variables are missing: the asker may not see them */
};

/* Ask for the graph of a run, or of the schedule with this name if run is 0. */
enum err cli_query_graph(struct cli *cli, uint64_t run, const char *schedule, struct asked_graph *ret);
/* ERR_DENIED if values of variables are missing in it. what: such as "run 12" */
enum err graph_unmasked(struct cli *cli, const struct asked_graph *asked, const char *what);

#endif
