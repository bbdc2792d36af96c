/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the key fan_out. A number makes so many jobs; a list makes one job for each item. If the items are maps,
 * ${matrix.NAME} stands for the value of NAME in the job's own map. The key matrix makes a job for each combination instead.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"

static enum err item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_text(pipe, node, "an item", ret);

	if (err == ERR_NONE && ret->len == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "this item is empty");
	return err;
}

static enum err read_count(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	uint64_t width = 0;
	enum err err = pipe_number(pipe, value, 1, LIMIT_RUN_JOBS_MAX, &width);

	job->node->width = (uint32_t)width;
	return err;
}

/* Read one map of the list, number `place`. It must have the same keys as the first map. */
static enum err read_values(struct pipe *pipe, const struct tree_node *map, size_t place, struct dag_values *axes, size_t count)
{
	enum err err = pipe_expect(pipe, map, TREE_MAP, "an item beside maps");

	if (err != ERR_NONE)
		return err;
	if (map->count != count)
		return pipe_fail(pipe, map, ERR_INVALID, "all items must have the same keys; the first has %zu, and this one %zu", count, map->count);
	for (const struct tree_node *node = map->first; node != NULL; node = node->next) {
		size_t axis = 0;

		while (axis < count && !slice_eq(axes[axis].name, node->key))
			axis++;
		if (axis == count)
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
					"the first item has no key '%.*s'; all items must have the same", (int)node->key.len,
					(const char *)node->key.data);
		err = pipe_text(pipe, node, "a value", &axes[axis].values.at[place]);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

static enum err read_maps(struct pipe *pipe, struct pipe_job *job, const struct tree_node *list)
{
	size_t count = list->first->count, place = 0;
	struct dag_values *axes = arena_zalloc(pipe->reader.arena, count + 1, sizeof(*axes));

	if (count == 0 || count > LIMIT_RUN_JOBS_MAX / list->count)
		return pipe_fail(pipe, list->first, ERR_INVALID, count == 0 ? "this item has no keys" : "these items have too many keys");
	for (const struct tree_node *node = list->first->first; node != NULL; node = node->next, place++) {
		if (!text_is_name(node->key))
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
					"the name of a value may only have letters, digits and _ . -");
		axes[place].name = node->key;
		axes[place].values = (struct slice_list){ arena_zalloc(pipe->reader.arena, list->count, sizeof(struct slice)), list->count };
	}
	place = 0;
	for (const struct tree_node *node = list->first; node != NULL; node = node->next, place++) {
		enum err err = read_values(pipe, node, place, axes, count);

		if (err != ERR_NONE)
			return err;
	}
	pipe->words.axes = axes;
	pipe->words.axis_count = count;
	pipe->words.zipped = true;
	job->matrix = arena_zalloc(pipe->reader.arena, 1, sizeof(*job->matrix));
	*job->matrix = pipe->words;
	job->node->matrix = job->matrix;
	return ERR_NONE;
}

static enum err read_items(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_expect(pipe, value, TREE_LIST, "items");

	if (err == ERR_NONE && value->count > 0 && value->count <= LIMIT_RUN_JOBS_MAX && value->first->kind == TREE_MAP)
		err = read_maps(pipe, job, value);
	else if (err == ERR_NONE)
		err = pipe_list(pipe, value, "items", LIMIT_RUN_JOBS_MAX, item, &job->node->items);
	job->node->width = (uint32_t)value->count;
	return err;
}

static enum err read_max_parallel(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_number(pipe, value, 1, LIMIT_RUN_JOBS_MAX, &job->node->group_parallel);
}

static enum err read_fail_fast(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_bool(pipe, value, &job->node->group_fail_fast);
}

static const struct pipe_key fan_keys[] = {
	{ "count", read_count }, { "items", read_items }, { "max_parallel", read_max_parallel }, { "fail_fast", read_fail_fast },
};

const struct pipe_section pipe_section_fan = PIPE_SECTION("fan_out", fan_keys, NULL);

enum err pipe_read_fan_out(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err;

	if (job->node->fan)
		return pipe_fail(pipe, value, ERR_DUPLICATE, "a job can't have both matrix and fan_out");
	if (value->kind == TREE_TEXT)
		err = read_count(pipe, job, value);
	else if (value->kind == TREE_LIST)
		err = read_items(pipe, job, value);
	else if ((err = pipe_map(pipe, value, &pipe_section_fan, job)) == ERR_NONE &&
		 (tree_find(value, "count") != NULL) == (tree_find(value, "items") != NULL))
		err = pipe_fail(pipe, value, ERR_INVALID, "fan_out needs either count or items");
	job->node->fan = true;
	if (err != ERR_NONE) {
		/* Don't report errors that only follow from this one, such as unknown names in ${matrix.NAME}. */
		pipe->axes_unknown = true;
		job->node->width = LIMIT_RUN_JOBS_MAX;
	}
	return err;
}
