/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Joins the nodes of unfolded groups, and removes edges that a longer way makes needless (transitive reduction). For each
 * node with several parents all that is above them is visited; nodes further up than its highest parent can't matter. A
 * limit on the steps keeps huge graphs fast: then some needless edges stay.
 */
#include "tui/lane_graph.h"

#include "base/mem.h"

#define STEPS_MAX 2000000

struct reduction {
	size_t n;
	uint32_t *parent_start, *parents;
	uint32_t *level;                 /* longest way from a root */
	uint32_t *stamp;                 /* for each node, the node for which it was last visited, + 1 */
	uint32_t *stack;
	size_t steps;
};

/* Number the lane nodes: all nodes of an unfolded group get the number of its first one. Return how many there are. */
static size_t number_nodes(const struct fold *fold, uint32_t *lane_of)
{
	struct map groups = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < fold->count; i++) {
		const struct fold_node *node = &fold->nodes[i];
		bool shares = node->group != 0 && !node->folded;
		uintptr_t known = shares ? (uintptr_t)map_get(&groups, node->group) : 0;

		lane_of[i] = known ? (uint32_t)(known - 1) : (uint32_t)count++;
		if (shares && !known)
			map_put(&groups, node->group, (void *)((uintptr_t)lane_of[i] + 1));
	}
	map_free(&groups);
	return count;
}

static void list_nodes(struct lane_graph *graph, const struct fold *fold, const uint32_t *lane_of)
{
	uint32_t *at = mem_array(graph->count + 2, sizeof *at);

	graph->nodes = mem_array(fold->count + 1, sizeof *graph->nodes);
	for (size_t i = 0; i < fold->count; i++)
		at[lane_of[i] + 2]++;
	for (size_t i = 2; i < graph->count + 2; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < fold->count; i++)
		graph->nodes[at[lane_of[i] + 1]++] = (uint32_t)i;
	graph->node_start = at;
}

/* Parents of each lane node, without repeats. */
static void find_parents(struct reduction *work, const struct lane_graph *graph, const struct fold *fold, const uint32_t *lane_of)
{
	uint32_t total = 0;

	work->parents = mem_array((size_t)fold->parent_start[fold->count] + 1, sizeof *work->parents);
	for (uint32_t i = 0; i < graph->count; i++) {
		work->parent_start[i] = total;
		work->stamp[i] = i + 1;
		for (uint32_t m = graph->node_start[i]; m < graph->node_start[i + 1]; m++) {
			uint32_t node = graph->nodes[m];

			for (uint32_t k = fold->parent_start[node]; k < fold->parent_start[node + 1]; k++) {
				uint32_t parent = lane_of[fold->parents[k]];

				if (work->stamp[parent] == i + 1)
					continue;
				work->stamp[parent] = i + 1;
				work->parents[total++] = parent;
			}
		}
	}
	work->parent_start[graph->count] = total;
	memset(work->stamp, 0, (graph->count + 1) * sizeof *work->stamp);
}

/* Turn parents into children, without those for which parents is UINT32_MAX. */
static void find_children(const struct reduction *work, uint32_t **ret_start, uint32_t **ret_children)
{
	uint32_t *start = mem_array(work->n + 2, sizeof *start);
	uint32_t *children = mem_array((size_t)work->parent_start[work->n] + 1, sizeof *children);

	for (uint32_t k = 0; k < work->parent_start[work->n]; k++)
		if (work->parents[k] != UINT32_MAX)
			start[work->parents[k] + 2]++;
	for (size_t i = 2; i < work->n + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < work->n; i++)
		for (uint32_t k = work->parent_start[i]; k < work->parent_start[i + 1]; k++)
			if (work->parents[k] != UINT32_MAX)
				children[start[work->parents[k] + 1]++] = (uint32_t)i;
	*ret_start = start;
	*ret_children = children;
}

/* Nodes of a cycle, which no master sends, keep level 0. */
static void find_levels(struct reduction *work, const uint32_t *child_start, const uint32_t *children)
{
	uint32_t *missing = mem_array(work->n + 1, sizeof *missing);
	size_t done = 0;

	for (size_t i = 0; i < work->n; i++) {
		missing[i] = work->parent_start[i + 1] - work->parent_start[i];
		if (missing[i] == 0)
			work->stack[done++] = (uint32_t)i;
	}
	for (size_t next = 0; next < done; next++) {
		uint32_t node = work->stack[next];

		for (uint32_t k = child_start[node]; k < child_start[node + 1]; k++) {
			uint32_t child = children[k];

			if (work->level[child] <= work->level[node])
				work->level[child] = work->level[node] + 1;
			if (--missing[child] == 0)
				work->stack[done++] = child;
		}
	}
	mem_free(missing);
}

/* Visit all that is above this node, down to a level; nodes that were visited are stamped. */
static void visit_above(struct reduction *work, uint32_t node, uint32_t lowest, uint32_t stamp)
{
	size_t depth = 0;

	work->stack[depth++] = node;
	while (depth > 0) {
		node = work->stack[--depth];
		for (uint32_t k = work->parent_start[node]; k < work->parent_start[node + 1]; k++) {
			uint32_t parent = work->parents[k];

			work->steps++;
			if (parent == UINT32_MAX || work->stamp[parent] == stamp || work->level[parent] < lowest)
				continue;
			work->stamp[parent] = stamp;
			work->stack[depth++] = parent;
		}
	}
}

static void reduce_node(struct reduction *work, uint32_t node)
{
	uint32_t first = work->parent_start[node], last = work->parent_start[node + 1], lowest = UINT32_MAX, highest = 0;

	for (uint32_t k = first; k < last; k++) {
		uint32_t level = work->level[work->parents[k]];

		lowest = level < lowest ? level : lowest;
		highest = level > highest ? level : highest;
	}
	if (last - first < 2 || lowest == highest)
		return;
	for (uint32_t k = first; k < last && work->steps < STEPS_MAX; k++)
		if (work->level[work->parents[k]] > lowest && work->stamp[work->parents[k]] != node + 1)
			visit_above(work, work->parents[k], lowest, node + 1);
	for (uint32_t k = first; k < last; k++)
		if (work->stamp[work->parents[k]] == node + 1)
			work->parents[k] = UINT32_MAX;
}

void lane_graph_build(struct lane_graph *graph, const struct fold *fold)
{
	struct reduction work = { 0 };
	uint32_t *lane_of = mem_array(fold->count + 1, sizeof *lane_of), *child_start, *children;

	lane_graph_free(graph);
	graph->count = work.n = number_nodes(fold, lane_of);
	list_nodes(graph, fold, lane_of);
	work.parent_start = mem_array(work.n + 1, sizeof *work.parent_start);
	work.stamp = mem_array(work.n + 1, sizeof *work.stamp);
	work.level = mem_array(work.n + 1, sizeof *work.level);
	work.stack = mem_array(work.n + 1, sizeof *work.stack);
	find_parents(&work, graph, fold, lane_of);
	find_children(&work, &child_start, &children);
	find_levels(&work, child_start, children);
	mem_free(child_start);
	mem_free(children);
	for (uint32_t i = 0; i < work.n && work.steps < STEPS_MAX; i++)
		reduce_node(&work, i);
	find_children(&work, &graph->child_start, &graph->children);
	mem_free(work.parent_start);
	mem_free(work.parents);
	mem_free(work.stamp);
	mem_free(work.level);
	mem_free(work.stack);
	mem_free(lane_of);
}

void lane_graph_free(struct lane_graph *graph)
{
	mem_free(graph->node_start);
	mem_free(graph->nodes);
	mem_free(graph->child_start);
	mem_free(graph->children);
	*graph = (struct lane_graph){ 0 };
}
