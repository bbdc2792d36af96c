/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph as it is shown: jobs with the same parents and the same name stem (encode[0..], row1..) are
 * one node when they are more than FOLD_MIN, unless a person unfolded them. A node has a key that stays
 * the same while the graph grows. Pure: from the model's jobs to nodes and edges between them.
 */
#ifndef TITAN_TUI_FOLD_H
#define TITAN_TUI_FOLD_H

#include "tui/model.h"

#define FOLD_MIN 8
#define FOLD_NONE UINT32_MAX

struct fold_node {
	uint32_t member_start, member_count;     /* in members; one for a job by itself */
	uint64_t group;                          /* key of its group; 0 when it has no likes */
	bool folded;
};

struct fold {
	struct fold_node *nodes;
	size_t count;
	uint32_t *members;       /* indices of jobs, by node */
	uint32_t *node_of;       /* by index of job; FOLD_NONE where no job is known */
	size_t job_count;
	/* Edges without repeats: those of node i are at [start[i], start[i + 1]). */
	uint32_t *parent_start, *parents;
	uint32_t *child_start, *children;
};

/* unfolded: keys of groups that are to be shown job by job (any value but NULL); NULL for none. */
void fold_build(struct fold *fold, const struct tui_graph *graph, const struct map *unfolded);
void fold_free(struct fold *fold);
/* Bytes of a name before its number: 6 of encode[7], 3 of row12; its length when it has none. */
size_t fold_stem(struct slice name);

#endif
