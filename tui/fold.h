/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph as the dashboard shows it. Jobs with the same parents and the same name stem (encode[0..], row1..) become
 * one node if there are more than FOLD_MIN, unless the user unfolded them. A node's key stays the same while the graph
 * grows. Pure: from the model's jobs to nodes and the edges between them.
 */
#ifndef TITAN_TUI_FOLD_H
#define TITAN_TUI_FOLD_H

#include "tui/model.h"

#define FOLD_MIN 8
#define FOLD_NONE UINT32_MAX

struct fold_node {
	uint32_t member_start, member_count;     /* range of the node's jobs in members; one for a single job */
	uint64_t group;                          /* key of the node's group; 0: no group */
	bool folded;
};

struct fold {
	struct fold_node *nodes;
	size_t count;
	uint32_t *members;       /* indices of jobs, in order of nodes */
	uint32_t *node_of;       /* node of each job; FOLD_NONE if no such job is known */
	size_t job_count;
	/* Edges without repeats; those of node i are at [start[i], start[i + 1]). */
	uint32_t *parent_start, *parents;
	uint32_t *child_start, *children;
};

/* Build the nodes. unfolded: a map whose keys are the groups to show job by job; may be NULL. */
void fold_build(struct fold *fold, const struct tui_graph *graph, const struct map *unfolded);
void fold_free(struct fold *fold);
/* Length of a name without its number: 6 for encode[7], 3 for row12; the whole length if it has no number. */
size_t fold_stem(struct slice name);

#endif
