/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph as lanes, like git log --graph: one node in each row, parents above children; an edge is a line from parent
 * down to child. Lines fork below a node and join above one; crossing lines go straight on. Pure: indices in, rows out.
 * Edges that don't fit within the limit are counted at the node where they start; the list of needs beside the graph
 * has them all.
 */
#ifndef TITAN_TUI_LANES_H
#define TITAN_TUI_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_MAX 32
#define LANE_LINK UINT32_MAX             /* a row between nodes, with forks and joins only */

/* The content of a lane's cell: lines to its four sides, and perhaps the node. */
enum { LANE_UP = 1, LANE_DOWN = 2, LANE_LEFT = 4, LANE_RIGHT = 8, LANE_NODE = 16 };

struct lane_row {
	uint32_t node;           /* the node, or LANE_LINK */
	uint32_t missing;        /* number of edges to children that aren't drawn */
	uint8_t lanes[LANES_MAX];
};

struct lanes {
	struct lane_row *rows;
	size_t count, cap;
	int width;               /* most lanes used in a row */
};

/*
 * Lay out n nodes. The children of i are at children[child_start[i]] to children[child_start[i + 1] - 1],
 * without repeats. lane_cap: 1 to LANES_MAX.
 */
void lanes_build(
	struct lanes *lanes, size_t n, const uint32_t *child_start, const uint32_t *children, int lane_cap);
void lanes_free(struct lanes *lanes);
/* The character with lines to these sides, one cell wide. */
const char *lane_text(unsigned lines, bool ascii);

#endif
