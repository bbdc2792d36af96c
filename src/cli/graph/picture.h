/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph that titan graph shows: the jobs of a run, or those that a pipeline would have, with similar jobs folded
 * into one node.
 */
#ifndef TITAN_CLI_PICTURE_H
#define TITAN_CLI_PICTURE_H

#include "cli/graph/submit.h"
#include "cli/session/cli.h"
#include "lang/dagline.h"
#include "proto/message.h"
#include "tui/fold.h"

struct picture {
	struct tui_graph graph;          /* the jobs; their needs are indices of jobs */
	uint8_t **triggers;              /* for each job, the enum trigger of each need */
	uint64_t run;                    /* number of the run; 0: a pipeline that isn't submitted */
	struct slice name;               /* name of the run or pipeline; allocated in the graph's arena */
	struct fold fold;
};

/* make a picture of these rows; row i is the job with index i */
void picture_of_rows(const struct rec_job_row *rows, size_t count, struct picture *ret);
void picture_unfold(struct picture *picture);              /* show each job as a node of its own */
void picture_of_source(const struct graph_source *source, struct picture *ret);
enum err picture_of_run(struct cli *cli, uint64_t run, struct picture *ret);
void picture_of_dag(const struct dagline *dag, struct slice name, struct picture *ret);
void picture_free(struct picture *picture);

/* Write the name of a node: of a job, or such as encode[128]. */
void picture_name(const struct picture *picture, uint32_t node, struct buf *out);
/* Draw the graph as lanes that fit the terminal. */
void picture_lanes(const struct picture *picture, const struct look *look, struct buf *out);
/* Write the graph in the language of Graphviz. */
void picture_dot(const struct picture *picture, struct buf *out);

#endif
