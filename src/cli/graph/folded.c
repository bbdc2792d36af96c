/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which rows a table has when fan-outs are folded, and what the row of a fan-out shows. */
#include "cli/graph/folded.h"

#include <inttypes.h>

static const struct fold_node *node_of(const struct picture *picture, uint32_t job)
{
	uint32_t node = job < picture->fold.job_count ? picture->fold.node_of[job] : FOLD_NONE;

	return node == FOLD_NONE ? NULL : &picture->fold.nodes[node];
}

enum folded_row folded_row(const struct picture *picture, uint32_t job)
{
	const struct fold_node *node = node_of(picture, job);

	if (node == NULL || !node->folded)
		return FOLDED_JOB;
	return picture->fold.members[node->member_start] == job ? FOLDED_GROUP : FOLDED_NONE;
}

bool folded_has_eyes(const struct picture *picture, uint32_t job, size_t *shown)
{
	return state_needs_eyes(picture->graph.states[job]) && (*shown)++ < FOLDED_EYES;
}

struct slice folded_name(const struct picture *picture, uint32_t number, struct arena *arena)
{
	const struct fold_node *node = &picture->fold.nodes[number];
	struct slice first = picture->graph.jobs[picture->fold.members[node->member_start]].name;
	struct slice last = picture->graph.jobs[picture->fold.members[node->member_start + node->member_count - 1]].name;
	struct buf text = { 0 };
	struct slice name;

	buf_add_slice(&text, first);
	if (node->folded && first.data[first.len - 1] == ']') {
		buf_cut(&text, fold_stem(first));
		buf_add_str(&text, "[*]");
	} else if (node->folded) {
		buf_add_str(&text, "..");
		buf_add_slice(&text, last);
	}
	name = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return name;
}

struct slice_list folded_needs(const struct picture *picture, uint32_t job, struct arena *arena)
{
	const struct fold *fold = &picture->fold;
	uint32_t node = job < fold->job_count ? fold->node_of[job] : FOLD_NONE;
	struct slice_list names = { 0 };
	bool folded = false;

	if (node == FOLD_NONE)
		return names;
	names.at = arena_zalloc(arena, fold->parent_start[node + 1] - fold->parent_start[node] + 1, sizeof(*names.at));
	for (uint32_t k = fold->parent_start[node]; k < fold->parent_start[node + 1]; k++) {
		folded |= fold->nodes[fold->parents[k]].folded;
		names.at[names.n++] = folded_name(picture, fold->parents[k], arena);
	}
	return folded ? names : (struct slice_list){ 0 };
}
