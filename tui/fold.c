/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folding, level by level, where a job's level is its longest distance from a root, so that parents' groups are known
 * before their children's. Which jobs form a group doesn't depend on what is unfolded, so the keys of groups stay the
 * same. A master never sends a graph with a cycle; here its jobs would form one last level.
 */
#include "tui/fold.h"

#include "base/mem.h"

struct fold_work {
	const struct tui_graph *graph;
	size_t n;
	uint32_t *parent_start, *parents;        /* parents of each job, without unknown ones */
	uint32_t *child_start, *children;
	uint32_t *order, *level_start;           /* jobs by level, then by index */
	size_t levels;
	uint32_t *like;                          /* the first job that has the same group key, or this job itself */
	uint64_t *identity; /* key of the job's group; for a job without a group, a number of its own */
	uint64_t *key;                           /* keys of the possible groups in the present level */
	uint32_t *stamp;
	uint32_t now;
};

size_t fold_stem(struct slice name)
{
	size_t end = name.len;

	if (end > 0 && name.data[end - 1] == ']') {
		size_t digits = end - 1;

		while (digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
			digits--;
		if (digits > 0 && digits < end - 1 && name.data[digits - 1] == '[')
			return digits - 1;
		return end;
	}
	while (end > 0 && name.data[end - 1] >= '0' && name.data[end - 1] <= '9')
		end--;
	return end;
}

/* Turn the lists of parents into lists of children, in ascending order. */
static void invert(size_t n, const uint32_t *parent_start, const uint32_t *parents, uint32_t **ret_start,
		   uint32_t **ret_children)
{
	uint32_t *start = mem_array(n + 2, sizeof *start);
	uint32_t *children = mem_array((size_t)parent_start[n] + 1, sizeof *children);

	/*
	 * Store counts two places ahead: filling then moves start[p + 1] from the beginning of p's children to their
	 * end.
	 */
	for (uint32_t k = 0; k < parent_start[n]; k++)
		start[parents[k] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = parent_start[i]; k < parent_start[i + 1]; k++)
			children[start[parents[k] + 1]++] = (uint32_t)i;
	*ret_start = start;
	*ret_children = children;
}

static void find_edges(struct fold_work *work)
{
	const struct tui_graph *graph = work->graph;
	size_t total = 0;

	for (size_t i = 0; i < work->n; i++)
		total += graph->jobs[i].need_count;
	work->parent_start = mem_array(work->n + 1, sizeof *work->parent_start);
	work->parents = mem_array(total + 1, sizeof *work->parents);
	total = 0;
	for (size_t i = 0; i < work->n; i++) {
		work->parent_start[i] = (uint32_t)total;
		for (uint32_t k = 0; k < graph->jobs[i].need_count; k++) {
			uint32_t parent = graph->jobs[i].needs[k];

			if (parent < work->n && graph->jobs[parent].job != 0)
				work->parents[total++] = parent;
		}
	}
	work->parent_start[work->n] = (uint32_t)total;
	invert(work->n, work->parent_start, work->parents, &work->child_start, &work->children);
}

static void find_levels(struct fold_work *work)
{
	size_t n = work->n, done = 0;
	uint32_t *missing = mem_array(n + 1, sizeof *missing);
	uint32_t *level = mem_array(n + 1, sizeof *level);
	uint32_t *queue = mem_array(n + 1, sizeof *queue);
	uint32_t top = 0;

	for (size_t i = 0; i < n; i++) {
		missing[i] = work->parent_start[i + 1] - work->parent_start[i];
		if (missing[i] == 0)
			queue[done++] = (uint32_t)i;
	}
	for (size_t next = 0; next < done; next++) {
		uint32_t job = queue[next];

		top = level[job] > top ? level[job] : top;
		for (uint32_t k = work->child_start[job]; k < work->child_start[job + 1]; k++) {
			uint32_t child = work->children[k];

			if (level[child] <= level[job])
				level[child] = level[job] + 1;
			if (--missing[child] == 0)
				queue[done++] = child;
		}
	}
	work->levels = (size_t)top + 2;
	work->level_start = mem_array(work->levels + 2, sizeof *work->level_start);
	work->order = mem_array(n + 1, sizeof *work->order);
	for (size_t i = 0; i < n; i++) {
		level[i] = missing[i] ? top + 1 : level[i];
		work->level_start[level[i] + 2]++;
	}
	for (size_t i = 2; i < work->levels + 2; i++)
		work->level_start[i] += work->level_start[i - 1];
	for (size_t i = 0; i < n; i++)
		work->order[work->level_start[level[i] + 1]++] = (uint32_t)i;
	mem_free(missing);
	mem_free(level);
	mem_free(queue);
}

/*
 * Compute a key that is equal for jobs with the same name stem and equal parents; parents of one group count as equal.
 */
static uint64_t group_key(struct fold_work *work, uint32_t job)
{
	struct slice name = work->graph->jobs[job].name;
	size_t stem = fold_stem(name);
	uint64_t sum = 1;

	if (work->graph->jobs[job].job == 0 || stem == name.len)
		return 0;
	work->now++;
	for (uint32_t k = work->parent_start[job]; k < work->parent_start[job + 1]; k++) {
		uint32_t like = work->like[work->parents[k]];

		if (work->stamp[like] != work->now)
			sum += hash_u64(work->identity[like]);
		work->stamp[like] = work->now;
	}
	return hash_bytes(name.data, stem, sum) | 1;
}

static void group_level(struct fold_work *work, const uint32_t *jobs, size_t count)
{
	struct map first = { 0 };
	uint32_t *sizes = mem_array(count, sizeof *sizes);

	for (size_t i = 0; i < count; i++) {
		uint64_t key = group_key(work, jobs[i]);
		uintptr_t at = (uintptr_t)map_get(&first, key);

		work->key[i] = key;
		if (key == 0)
			continue;
		if (at == 0) {
			at = i + 1;
			map_put(&first, key, (void *)at);
		}
		sizes[at - 1]++;
	}
	for (size_t i = 0; i < count; i++) {
		uintptr_t at = work->key[i] ? (uintptr_t)map_get(&first, work->key[i]) : 0;

		if (at == 0 || sizes[at - 1] <= FOLD_MIN)
			continue;
		work->like[jobs[i]] = jobs[at - 1];
		work->identity[jobs[i]] = work->key[i];
	}
	mem_free(sizes);
	map_free(&first);
}

static void find_likes(struct fold_work *work)
{
	work->like = mem_array(work->n + 1, sizeof *work->like);
	work->identity = mem_array(work->n + 1, sizeof *work->identity);
	work->key = mem_array(work->n + 1, sizeof *work->key);
	work->stamp = mem_array(work->n + 1, sizeof *work->stamp);
	for (size_t i = 0; i < work->n; i++) {
		work->like[i] = (uint32_t)i;
		/* An even number, because the keys of groups are odd. */
		work->identity[i] = hash_u64(i) & ~UINT64_C(1);
	}
	for (size_t i = 0; i < work->levels; i++) {
		size_t count = work->level_start[i + 1] - work->level_start[i];

		if (count > FOLD_MIN)
			group_level(work, work->order + work->level_start[i], count);
	}
}

static void make_nodes(struct fold_work *work, struct fold *fold, const struct map *unfolded)
{
	size_t n = work->n;
	uint32_t placed = 0;

	fold->nodes = mem_array(n + 1, sizeof *fold->nodes);
	fold->members = mem_array(n + 1, sizeof *fold->members);
	fold->node_of = mem_array(n + 1, sizeof *fold->node_of);
	fold->job_count = n;
	for (size_t i = 0; i < n; i++) {
		bool alike = (work->identity[i] & 1) != 0;
		bool open = alike && unfolded && map_get(unfolded, work->identity[i]);
		struct fold_node *node = &fold->nodes[fold->count];

		fold->node_of[i] = FOLD_NONE;
		if (work->graph->jobs[i].job == 0)
			continue;
		if (alike && !open && work->like[i] != i) {
			fold->node_of[i] = fold->node_of[work->like[i]];
			fold->nodes[fold->node_of[i]].member_count++;
			continue;
		}
		*node = (struct fold_node){ .member_count = 1, .group = alike ? work->identity[i] : 0,
			.folded = alike && !open };
		fold->node_of[i] = (uint32_t)fold->count++;
	}
	for (size_t i = 0; i < fold->count; i++) {
		fold->nodes[i].member_start = placed;
		placed += fold->nodes[i].member_count;
		fold->nodes[i].member_count = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct fold_node *node = &fold->nodes[fold->node_of[i] == FOLD_NONE ? 0 : fold->node_of[i]];

		if (fold->node_of[i] != FOLD_NONE)
			fold->members[node->member_start + node->member_count++] = (uint32_t)i;
	}
}

static void make_edges(struct fold_work *work, struct fold *fold)
{
	uint32_t *parents = mem_array((size_t)work->parent_start[work->n] + 1, sizeof *parents);
	uint32_t total = 0;

	memset(work->stamp, 0, work->n * sizeof *work->stamp);
	fold->parent_start = mem_array(fold->count + 1, sizeof *fold->parent_start);
	for (size_t i = 0; i < fold->count; i++) {
		const struct fold_node *node = &fold->nodes[i];

		fold->parent_start[i] = total;
		/* Stamp the node itself, so that it doesn't become its own parent. */
		work->stamp[i] = (uint32_t)i + 1;
		for (uint32_t m = 0; m < node->member_count; m++) {
			uint32_t job = fold->members[node->member_start + m];

			for (uint32_t k = work->parent_start[job]; k < work->parent_start[job + 1]; k++) {
				uint32_t parent = fold->node_of[work->parents[k]];

				if (work->stamp[parent] == i + 1)
					continue;
				work->stamp[parent] = (uint32_t)i + 1;
				parents[total++] = parent;
			}
		}
	}
	fold->parent_start[fold->count] = total;
	fold->parents = parents;
	invert(fold->count, fold->parent_start, fold->parents, &fold->child_start, &fold->children);
}

void fold_build(struct fold *fold, const struct tui_graph *graph, const struct map *unfolded)
{
	struct fold_work work = { .graph = graph, .n = graph->count };

	fold_free(fold);
	find_edges(&work);
	find_levels(&work);
	find_likes(&work);
	make_nodes(&work, fold, unfolded);
	make_edges(&work, fold);
	mem_free(work.parent_start);
	mem_free(work.parents);
	mem_free(work.child_start);
	mem_free(work.children);
	mem_free(work.order);
	mem_free(work.level_start);
	mem_free(work.like);
	mem_free(work.identity);
	mem_free(work.key);
	mem_free(work.stamp);
}

void fold_free(struct fold *fold)
{
	mem_free(fold->nodes);
	mem_free(fold->members);
	mem_free(fold->node_of);
	mem_free(fold->parent_start);
	mem_free(fold->parents);
	mem_free(fold->child_start);
	mem_free(fold->children);
	*fold = (struct fold){ 0 };
}
