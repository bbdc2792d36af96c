/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Check that the jobs of one submit have no cycle (invariant I16). Earlier jobs can't need them, so they need no
 * check. Jobs without open parents are removed again and again; the remaining ones hang behind a cycle, and a walk
 * from parent to parent among them must end in it.
 */
#include "core/graph/graph.h"

#include <stdio.h>

#include "core/graph/internal.h"

#define CYCLE_NAMES 8

/*
 * Remove jobs in topological order. open[i] ends as the number of parents that couldn't be removed; all 0 means
 * acyclic.
 */
static uint32_t jobs_take(const struct extent *extent, uint32_t *open, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < extent->count; i++) {
		open[i] = extent->jobs[i].pending;
		if (open[i] == 0)
			queue[tail++] = i;
	}
	while (head < tail) {
		uint32_t parent = queue[head++];

		for (uint32_t at = extent->child_start[parent]; at < extent->child_start[parent + 1]; at++) {
			uint32_t child = (extent->children[at] >> TRIGGER_BITS) - extent->start;

			if (--open[child] == 0)
				queue[tail++] = child;
		}
	}
	return tail;
}

static uint32_t remaining_parent(struct core *core, const struct extent *extent, const uint32_t *open,
				 uint32_t index)
{
	struct rec_job_spec spec;

	job_spec_decode(core, &extent->jobs[index], &spec);
	for (size_t i = 0; i < spec.needs.n; i++)
		if (spec.needs.at[i] >= extent->start && open[spec.needs.at[i] - extent->start] > 0)
			return (uint32_t)spec.needs.at[i] - extent->start;
	CHECK(!"a job that remains has a parent that remains");
	return 0;
}

static void name_add(struct core *core, struct buf *text, const struct extent *extent, uint32_t index)
{
	struct rec_job_spec spec;

	job_spec_decode(core, &extent->jobs[index], &spec);
	buf_add_slice(text, spec.name);
}

/* Name the cycle in the error. The path was walked from child to parent; it is printed from parent to child. */
static enum err cycle_tell(struct core *core, const struct extent *extent, const uint32_t *path, uint32_t len,
			   struct error *error)
{
	struct buf text = { 0 };
	enum err err;

	for (uint32_t i = 0; i < len && i < CYCLE_NAMES; i++) {
		name_add(core, &text, extent, path[len - 1 - i]);
		buf_add_str(&text, " -> ");
	}
	if (len > CYCLE_NAMES)
		buf_addf(&text, "(%u more) -> ", len - CYCLE_NAMES);
	name_add(core, &text, extent, path[len - 1]);
	err = error_set(error, ERR_CYCLE, "the graph has a cycle: %s", buf_cstr(&text));
	buf_free(&text);
	return err;
}

enum err graph_check_cycle(struct core *core, const struct extent *extent, struct error *error)
{
	uint32_t *open = mem_array(extent->count, sizeof(*open));
	uint32_t *path = mem_array(extent->count, sizeof(*path));
	uint32_t *seen;                  /* a job's position in the path + 1; 0: not visited */
	uint32_t at = 0, len = 0;
	enum err err = ERR_NONE;

	if (jobs_take(extent, open, path) < extent->count) {
		seen = mem_array(extent->count, sizeof(*seen));
		while (open[at] == 0)
			at++;
		while (seen[at] == 0) {
			path[len++] = at;
			seen[at] = len;
			at = remaining_parent(core, extent, open, at);
		}
		err = cycle_tell(core, extent, path + seen[at] - 1, len - seen[at] + 1, error);
		mem_free(seen);
	}
	mem_free(open);
	mem_free(path);
	return err;
}
