/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the key matrix: a job for each combination of the values of its axes. If some of these jobs are left out (exclude) or
 * others are added (include), the axes list the values of each job instead, one after the other.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"

#define AXES_MAX     16
#define EXCLUDES_MAX 256

/* ---- jobs left out and added ---- */

struct rows {
	struct pipe *pipe;
	const struct dag_values *axes;
	size_t axis_count;
	struct slice (*excluded)[AXES_MAX];  /* a value of each axis; empty: any */
	size_t excluded_count;
};

/* Could the axis have this value? If a parameter isn't known, it could. */
static bool may_have(const struct rows *rows, const struct dag_values *axis, struct slice value)
{
	for (size_t i = 0; i < rows->pipe->words.param_count; i++)
		if (rows->pipe->words.params[i].unknown)
			return true;
	for (size_t i = 0; i < axis->values.n; i++)
		if (slice_eq(axis->values.at[i], value))
			return true;
	return false;
}

/* Read one map of axes and values. *ret_guess: one of them uses a parameter whose value isn't known. */
static enum err read_row(const struct rows *rows, const struct tree_node *map, const char *what, struct slice ret[AXES_MAX], bool *ret_guess)
{
	struct pipe *pipe = rows->pipe;
	enum err err = pipe_expect(pipe, map, TREE_MAP, what);

	*ret_guess = false;
	for (const struct tree_node *node = map->first; err == ERR_NONE && node != NULL; node = node->next) {
		size_t axis = 0;

		while (axis < rows->axis_count && !slice_eq(rows->axes[axis].name, node->key))
			axis++;
		if (axis == rows->axis_count)
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
					"the matrix has no axis '%.*s'", (int)node->key.len, (const char *)node->key.data);
		err = pipe_value_item(pipe, node, &ret[axis]);
		*ret_guess = *ret_guess || pipe_is_guess(pipe, node);
	}
	if (err == ERR_NONE && map->count == 0)
		err = pipe_fail(pipe, map, ERR_INVALID, "%s names no axis", what);
	return err;
}

static enum err read_excluded(struct rows *rows, const struct tree_node *list)
{
	struct pipe *pipe = rows->pipe;
	enum err err = list ? pipe_expect(pipe, list, TREE_LIST, "exclude") : ERR_NONE;

	if (err != ERR_NONE || list == NULL)
		return err;
	if (list->count > EXCLUDES_MAX)
		return pipe_fail(pipe, list, ERR_TOO_LARGE, "exclude may have at most %d items", EXCLUDES_MAX);
	rows->excluded = arena_zalloc(pipe->reader.arena, list->count + 1, sizeof(*rows->excluded));
	for (const struct tree_node *map = list->first; err == ERR_NONE && map != NULL; map = map->next) {
		struct slice *row = rows->excluded[rows->excluded_count];
		bool guess;

		err = read_row(rows, map, "an item of exclude", row, &guess);
		if (guess)
			memset(row, 0, sizeof(rows->excluded[0]));
		else
			rows->excluded_count++;
		for (size_t i = 0; err == ERR_NONE && i < rows->axis_count; i++)
			if (row[i].len > 0 && !may_have(rows, &rows->axes[i], row[i]))
				err = pipe_fail(pipe, map, ERR_UNKNOWN_NAME, "axis '%.*s' has no value '%.*s'", (int)rows->axes[i].name.len,
						(const char *)rows->axes[i].name.data, (int)(row[i].len < 60 ? row[i].len : 60), (const char *)row[i].data);
	}
	return err;
}

/* The values of this combination; the first axis varies slowest. */
static void combine(const struct rows *rows, uint64_t place, struct slice ret[AXES_MAX])
{
	for (size_t i = rows->axis_count; i-- > 0; place /= rows->axes[i].values.n)
		ret[i] = rows->axes[i].values.at[place % rows->axes[i].values.n];
}

static bool is_excluded(const struct rows *rows, const struct slice values[AXES_MAX])
{
	for (size_t i = 0; i < rows->excluded_count; i++) {
		bool same = true;

		for (size_t k = 0; same && k < rows->axis_count; k++)
			same = rows->excluded[i][k].len == 0 || slice_eq(rows->excluded[i][k], values[k]);
		if (same)
			return true;
	}
	return false;
}

static void add_row(struct dag_values *axes, size_t axis_count, const struct slice values[AXES_MAX])
{
	for (size_t i = 0; i < axis_count; i++)
		axes[i].values.at[axes[i].values.n++] = values[i];
}

static enum err add_included(const struct rows *rows, const struct tree_node *list, struct dag_values *axes)
{
	enum err err = ERR_NONE;

	for (const struct tree_node *map = list ? list->first : NULL; err == ERR_NONE && map != NULL; map = map->next) {
		struct slice values[AXES_MAX] = { 0 };
		bool guess;

		err = read_row(rows, map, "an item of include", values, &guess);
		for (size_t i = 0; err == ERR_NONE && i < rows->axis_count; i++)
			if (values[i].len == 0)
				err = pipe_fail(rows->pipe, map, ERR_INVALID, "an item of include needs a value for each axis; this one has none for '%.*s'",
						(int)rows->axes[i].name.len, (const char *)rows->axes[i].name.data);
		if (err == ERR_NONE)
			add_row(axes, rows->axis_count, values);
	}
	return err;
}

/* Apply exclude and include. */
static enum err list_jobs(struct pipe *pipe, const struct tree_node *matrix, struct dag_values *axes, size_t axis_count, uint64_t *width)
{
	const struct tree_node *excluded = tree_find(matrix, "exclude"), *included = tree_find(matrix, "include");
	struct dag_values listed[AXES_MAX];
	struct rows rows = { .pipe = pipe, .axes = axes, .axis_count = axis_count };
	enum err err = read_excluded(&rows, excluded);

	if (err == ERR_NONE && included != NULL)
		err = pipe_expect(pipe, included, TREE_LIST, "include");
	if (err != ERR_NONE)
		return err;
	if (included != NULL && included->count > LIMIT_RUN_JOBS_MAX - *width)
		return pipe_fail(pipe, included, ERR_TOO_LARGE, "the matrix has more than %d jobs", LIMIT_RUN_JOBS_MAX);
	for (size_t i = 0; i < axis_count; i++) {
		listed[i] = axes[i];
		listed[i].values.at = arena_zalloc(pipe->reader.arena, *width + (included ? included->count : 0), sizeof(struct slice));
		listed[i].values.n = 0;
	}
	for (uint64_t place = 0; place < *width; place++) {
		struct slice values[AXES_MAX];

		combine(&rows, place, values);
		if (!is_excluded(&rows, values))
			add_row(listed, axis_count, values);
	}
	err = add_included(&rows, included, listed);
	if (err == ERR_NONE && listed[0].values.n == 0)
		err = pipe_fail(pipe, excluded, ERR_INVALID, "exclude leaves no job of the matrix");
	if (err != ERR_NONE)
		return err;
	memcpy(axes, listed, axis_count * sizeof(*axes));
	*width = axes[0].values.n;
	return ERR_NONE;
}

/* ---- the matrix ---- */

static enum err read_axis(struct pipe *pipe, const struct tree_node *node, struct dag_values *axis, uint64_t *width)
{
	enum err err;

	if (!text_is_name(node->key))
		return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
				"the name of a matrix axis may only have letters, digits and _ . -");
	axis->name = node->key;
	if (node->kind != TREE_LIST)
		return pipe_expect(pipe, node, TREE_LIST, "an axis of a matrix");
	err = pipe_list(pipe, node, "an axis", LIMIT_RUN_JOBS_MAX, pipe_value_item, &axis->values);
	if (err == ERR_NONE && axis->values.n > LIMIT_RUN_JOBS_MAX / *width)
		return pipe_fail(pipe, node, ERR_TOO_LARGE, "the matrix has more than %d jobs", LIMIT_RUN_JOBS_MAX);
	*width *= axis->values.n;
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

/* list_jobs() reads the key, once all axes are known. */
static enum err read_later(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)pipe;
	(void)job;
	(void)value;
	return ERR_NONE;
}

/* All other keys of a matrix are names of axes. */
static const struct pipe_key matrix_keys[] = {
	{ "max_parallel", read_max_parallel }, { "fail_fast", read_fail_fast }, { "include", read_later }, { "exclude", read_later },
};

const struct pipe_section pipe_section_matrix = PIPE_SECTION("matrix", matrix_keys, NULL);

static enum err read_matrix(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct dag_values *axes;
	uint64_t width = 1;
	size_t count = 0;
	enum err err = pipe_expect(pipe, value, TREE_MAP, "matrix");
	bool listed = err == ERR_NONE && (tree_find(value, "include") != NULL || tree_find(value, "exclude") != NULL);

	if (err != ERR_NONE)
		return err;
	axes = arena_zalloc(pipe->reader.arena, AXES_MAX, sizeof(*axes));
	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		const struct pipe_key *key = pipe_key_find(&pipe_section_matrix, node->key);

		if (key != NULL)
			pipe_note(pipe, key->read(pipe, job, node), &err);
		else if (count < AXES_MAX)
			pipe_note(pipe, read_axis(pipe, node, &axes[count++], &width), &err);
		else
			return pipe_fail(pipe, node, ERR_TOO_LARGE, "a matrix may have at most %d axes", AXES_MAX);
	}
	if (err == ERR_NONE && count == 0)
		err = pipe_fail(pipe, value, ERR_INVALID, "a matrix needs at least one axis: codec: [av1, h265]");
	if (err == ERR_NONE && listed)
		err = list_jobs(pipe, value, axes, count, &width);
	if (err != ERR_NONE)
		return err;
	pipe->words.axes = axes;
	pipe->words.axis_count = count;
	pipe->words.zipped = listed;
	job->matrix = arena_zalloc(pipe->reader.arena, 1, sizeof(*job->matrix));
	*job->matrix = pipe->words;
	job->node->matrix = job->matrix;
	job->node->fan = true;
	job->node->width = (uint32_t)width;
	return ERR_NONE;
}

/* If the matrix is wrong, other errors that follow from that aren't told. */
enum err pipe_read_matrix(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = read_matrix(pipe, job, value);

	if (err != ERR_NONE) {
		pipe->axes_unknown = true;
		job->node->fan = true;
		job->node->width = LIMIT_RUN_JOBS_MAX;
	}
	return err;
}
