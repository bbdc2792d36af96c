/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph as lanes, in the way of git log --graph: a node a row, parents above children, an edge is a
 * line down from the parent to the child. Lines fork below a node and join above one; where two lines
 * cross they go straight on. Pure: indices in, rows out. What didn't fit under the cap is counted with
 * the node it starts from; the list of needs beside the graph tells all.
 */
#ifndef TITAN_TUI_LANES_H
#define TITAN_TUI_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_MAX 32
#define LANE_LINK UINT32_MAX             /* a row between nodes, with forks and joins only */

/* What a cell of a lane has: lines to its four sides, and perhaps the node. */
enum { LANE_UP = 1, LANE_DOWN = 2, LANE_LEFT = 4, LANE_RIGHT = 8, LANE_NODE = 16 };

struct lane_row {
	uint32_t node;           /* or LANE_LINK */
	uint32_t missing;        /* edges to children that aren't drawn */
	uint8_t lanes[LANES_MAX];
};

struct lanes {
	struct lane_row *rows;
	size_t count, cap;
	int width;               /* lanes in use at most */
};

/* The children of i are at children[child_start[i]..child_start[i + 1]), without repeats. lane_cap: 1 to
 * LANES_MAX. */
void lanes_build(
	struct lanes *lanes, size_t n, const uint32_t *child_start, const uint32_t *children, int lane_cap);
void lanes_free(struct lanes *lanes);

#endif
