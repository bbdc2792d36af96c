/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lays a graph out in rows and lanes. Nodes come depth first and after their parents; nodes with the longest way to a
 * leaf come first, so that lines stay short. An open lane leads to one child, its target. When lanes run out, lanes
 * with the same target are joined early; edges that still don't fit aren't drawn.
 */
#include "tui/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FREE UINT32_MAX

struct draw {
	struct lanes *out;
	uint32_t target[LANES_MAX];      /* for each lane, the node that it leads to, or FREE */
	int cap;
	uint32_t *height;                /* for each node, its longest way to a leaf */
	uint32_t *sorted;                /* children of each node, the one with the longest way first */
};

static struct lane_row *add_row(struct draw *draw, uint32_t node)
{
	struct lanes *out = draw->out;
	struct lane_row *row;

	if (out->count == out->cap) {
		out->cap = out->cap ? out->cap * 2 : 64;
		out->rows = mem_resize(out->rows, out->cap, sizeof *out->rows);
	}
	row = &out->rows[out->count++];
	*row = (struct lane_row){ .node = node };
	for (int i = 0; i < draw->cap; i++)
		if (draw->target[i] != FREE)
			row->lanes[i] = LANE_UP | LANE_DOWN;
	return row;
}

static void use_lane(struct draw *draw, int lane)
{
	if (lane >= draw->out->width)
		draw->out->width = lane + 1;
}

/* Join all lanes that lead to node into the leftmost one and return it; -1: no lane leads to it. */
static int join(struct draw *draw, uint32_t node)
{
	int first = -1, last = -1;
	struct lane_row *row;

	for (int i = 0; i < draw->cap; i++) {
		if (draw->target[i] != node)
			continue;
		first = first < 0 ? i : first;
		last = i;
	}
	if (first == last)
		return first;
	row = add_row(draw, LANE_LINK);
	row->lanes[first] = LANE_UP | LANE_DOWN | LANE_RIGHT;
	for (int i = first + 1; i <= last; i++) {
		unsigned on = i < last ? LANE_RIGHT : 0;

		if (draw->target[i] == node) {
			row->lanes[i] = (uint8_t)(LANE_UP | LANE_LEFT | on);
			draw->target[i] = FREE;
		} else {
			row->lanes[i] = (uint8_t)(row->lanes[i] | LANE_LEFT | LANE_RIGHT);
		}
	}
	return first;
}

/*
 * Join two lanes with the same target to make room. Lanes with the same target as lane own are left: the coming fork
 * starts from that lane, and would be drawn for all of them.
 */
static bool join_any(struct draw *draw, int own)
{
	uint32_t but = own < 0 ? FREE : draw->target[own];

	for (int i = 0; i < draw->cap; i++) {
		for (int k = i + 1; k < draw->cap; k++) {
			if (draw->target[i] == FREE || draw->target[i] != draw->target[k] ||
				draw->target[i] == but)
				continue;
			join(draw, draw->target[i]);
			return true;
		}
	}
	return false;
}

/* Open lanes on one side of the node's own lane, one for each child, as many as fit. Return their number. */
static size_t fork_side(struct draw *draw, int own, int step, const uint32_t *children, size_t count)
{
	int opened[LANES_MAX];
	size_t n = 0;
	struct lane_row *row;

	for (int i = own + step; i >= 0 && i < draw->cap && n < count; i += step)
		if (draw->target[i] == FREE)
			opened[n++] = i;
	if (n == 0)
		return 0;
	row = add_row(draw, LANE_LINK);
	row->lanes[own] = (uint8_t)(LANE_UP | LANE_DOWN | (step > 0 ? LANE_RIGHT : LANE_LEFT));
	for (int i = own + step; i != opened[n - 1] + step; i += step)
		row->lanes[i] = (uint8_t)(row->lanes[i] | LANE_LEFT | LANE_RIGHT);
	for (size_t i = 0; i < n; i++) {
		row->lanes[opened[i]] = LANE_DOWN | LANE_LEFT | LANE_RIGHT;
		draw->target[opened[i]] = children[i];
		use_lane(draw, opened[i]);
	}
	row->lanes[opened[n - 1]] = (uint8_t)(LANE_DOWN | (step > 0 ? LANE_LEFT : LANE_RIGHT));
	return n;
}

/*
 * Continue the node's lane to its first child and open the nearest free lanes for the others. Return the number of
 * children without a lane.
 */
static uint32_t fork_lanes(struct draw *draw, int own, const uint32_t *children, size_t count)
{
	size_t done = 1;

	if (own >= draw->cap)
		return (uint32_t)count;
	draw->target[own] = count > 0 ? children[0] : FREE;
	while (done < count) {
		size_t n = fork_side(draw, own, 1, children + done, count - done);

		if (n == 0)
			n = fork_side(draw, own, -1, children + done, count - done);
		done += n;
		if (n > 0)
			continue;
		if (!join_any(draw, own))
			return (uint32_t)(count - done);
	}
	return 0;
}

static void place(struct draw *draw, uint32_t node, const uint32_t *children, size_t count)
{
	int lane = join(draw, node);
	bool led = lane >= 0;
	uint32_t missing;
	size_t at;

	for (int i = 0; lane < 0 && i < draw->cap; i++)
		if (draw->target[i] == FREE)
			lane = i;
	if (lane < 0 && join_any(draw, -1)) {
		place(draw, node, children, count);
		return;
	}
	if (lane < 0)
		lane = draw->cap;        /* no room: draw the node beside all lanes, without lines */
	add_row(draw, node)->lanes[lane] = (uint8_t)(LANE_NODE | (led ? LANE_UP : 0));
	at = draw->out->count - 1;
	use_lane(draw, lane);
	missing = fork_lanes(draw, lane, children, count);
	draw->out->rows[at].missing = missing;
	if (count > 0 && lane < draw->cap)
		draw->out->rows[at].lanes[lane] |= LANE_DOWN;
}

static void find_heights(struct draw *draw, size_t n, const uint32_t *child_start, const uint32_t *children,
			 uint32_t *missing)
{
	uint32_t *queue = mem_array(n + 1, sizeof *queue);
	size_t done = 0;

	for (size_t i = 0; i < n; i++)
		if (missing[i] == 0)
			queue[done++] = (uint32_t)i;
	for (size_t next = 0; next < done; next++)
		for (uint32_t k = child_start[queue[next]]; k < child_start[queue[next] + 1]; k++)
			if (--missing[children[k]] == 0)
				queue[done++] = children[k];
	while (done-- > 0) {
		uint32_t node = queue[done];

		for (uint32_t k = child_start[node]; k < child_start[node + 1]; k++)
			if (draw->height[node] <= draw->height[children[k]])
				draw->height[node] = draw->height[children[k]] + 1;
	}
	mem_free(queue);
}

struct ranked {
	uint32_t node, height;
};

static int by_height(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->height != right->height)
		return left->height > right->height ? -1 : 1;
	return left->node < right->node ? -1 : left->node > right->node;
}

static void sort_by_height(const struct draw *draw, uint32_t *nodes, size_t count)
{
	struct ranked *ranked;

	if (count < 2)
		return;
	ranked = mem_array(count, sizeof *ranked);
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ nodes[i], draw->height[nodes[i]] };
	qsort(ranked, count, sizeof *ranked, by_height);
	for (size_t i = 0; i < count; i++)
		nodes[i] = ranked[i].node;
	mem_free(ranked);
}

static void count_parents(size_t n, const uint32_t *child_start, const uint32_t *children, uint32_t *missing)
{
	memset(missing, 0, n * sizeof *missing);
	for (uint32_t k = 0; k < child_start[n]; k++)
		missing[children[k]]++;
}

/*
 * Place all nodes. Nodes whose parents are placed wait on a stack, the one with the longest way on top, which makes the
 * order depth first.
 */
static void place_all(struct draw *draw, size_t n, const uint32_t *child_start, uint32_t *missing)
{
	uint32_t *stack = mem_array(n + 1, sizeof *stack);
	size_t depth = 0;

	for (size_t i = 0; i < n; i++)
		if (missing[i] == 0)
			stack[depth++] = (uint32_t)i;
	sort_by_height(draw, stack, depth);
	for (size_t i = 0; i < depth / 2; i++) {
		uint32_t other = stack[depth - 1 - i];

		stack[depth - 1 - i] = stack[i];
		stack[i] = other;
	}
	while (depth > 0) {
		uint32_t node = stack[--depth];
		const uint32_t *own = draw->sorted + child_start[node];
		size_t count = child_start[node + 1] - child_start[node];

		place(draw, node, own, count);
		missing[node] = UINT32_MAX;
		for (size_t i = count; i-- > 0;)
			if (--missing[own[i]] == 0)
				stack[depth++] = own[i];
	}
	/* Nodes of a cycle, which no master sends, are shown without lines. */
	for (size_t i = 0; i < draw->out->count && n > 0; i++)
		if (draw->out->rows[i].node != LANE_LINK)
			missing[draw->out->rows[i].node] = UINT32_MAX;
	for (size_t i = 0; i < n; i++)
		if (missing[i] != UINT32_MAX)
			place(draw, (uint32_t)i, NULL, 0);
	mem_free(stack);
}

void lanes_build(
	struct lanes *lanes, size_t n, const uint32_t *child_start, const uint32_t *children, int lane_cap)
{
	struct draw draw = { .out = lanes, .cap = lane_cap };
	uint32_t *missing = mem_array(n + 1, sizeof *missing);

	lanes->count = 0;
	lanes->width = 0;
	if (draw.cap > LANES_MAX - 1)
		draw.cap = LANES_MAX - 1;        /* the last column is kept for nodes without a lane */
	if (draw.cap < 1)
		draw.cap = 1;
	memset(draw.target, 0xff, sizeof draw.target);
	draw.height = mem_array(n + 1, sizeof *draw.height);
	draw.sorted = mem_array((size_t)child_start[n] + 1, sizeof *draw.sorted);
	count_parents(n, child_start, children, missing);
	find_heights(&draw, n, child_start, children, missing);
	memcpy(draw.sorted, children, child_start[n] * sizeof *children);
	for (size_t i = 0; i < n; i++)
		sort_by_height(&draw, draw.sorted + child_start[i], child_start[i + 1] - child_start[i]);
	count_parents(n, child_start, children, missing);
	place_all(&draw, n, child_start, missing);
	mem_free(missing);
	mem_free(draw.height);
	mem_free(draw.sorted);
}

void lanes_free(struct lanes *lanes)
{
	mem_free(lanes->rows);
	*lanes = (struct lanes){ 0 };
}

const char *lane_text(unsigned lines, bool ascii)
{
	static const char *const boxes[16] = {
		" ", "│", "│", "│", "─", "┘", "┐", "┤", "─", "└", "┌", "├", "─", "┴", "┬", "┼",
	};
	static const char *const signs[16] = {
		" ", "|", "|", "|", "-", "'", ".", "+", "-", "`", ",", "+", "-", "'", ".", "|",
	};

	return ascii ? signs[lines & 15] : boxes[lines & 15];
}
