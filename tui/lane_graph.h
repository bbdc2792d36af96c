/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph that is laid out in lanes, made of the folded one: the jobs of an unfolded group share one lane, and an edge is
 * left out if a longer way leads to the same node, so that a join of everything doesn't cross the whole picture.
 */
#ifndef TITAN_TUI_LANE_GRAPH_H
#define TITAN_TUI_LANE_GRAPH_H

#include "tui/fold.h"

struct lane_graph {
	size_t count;
	uint32_t *node_start, *nodes;    /* the fold's nodes in lane node i are at [node_start[i], node_start[i + 1]) */
	uint32_t *child_start, *children;
};

void lane_graph_build(struct lane_graph *graph, const struct fold *fold);
void lane_graph_free(struct lane_graph *graph);

#endif
