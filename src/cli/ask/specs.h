/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of a run or of a schedule as it was submitted. */
#ifndef TITAN_CLI_SPECS_H
#define TITAN_CLI_SPECS_H

#include "cli/session/cli.h"
#include "lang/spec_graph.h"

struct asked_graph {
	/* all jobs, also those that were added later; each has the directory and variables of its context (see specs.c) */
	struct spec_graph graph;
	struct rec_run_context context;  /* context of the jobs of the first submit */
	struct slice context_bytes;
	struct rec_schedule_spec schedule;
	struct slice revision;           /* revision of the schedule; empty for a run */
	bool masked;                     /* variables have no values, because the asker may not see them */
};

/* Ask for the graph of a run, or of the schedule with this name if run is 0. */
enum err cli_query_graph(struct cli *cli, uint64_t run, const char *schedule, struct asked_graph *ret);
/* Check that the graph has the values of its variables; else ERR_DENIED. what: for the error, such as "run 12". */
enum err graph_unmasked(struct cli *cli, const struct asked_graph *asked, const char *what);

#endif
