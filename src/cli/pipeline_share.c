/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys about what jobs and runs share with others: concurrency groups. */
#include "cli/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"

/* In a matrix a name may differ: its form is checked with its values by whoever admits the job. */
static enum err name_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_template(pipe, node, "a name", (struct slice){ 0 }, ret);

	if (err == ERR_NONE && !text_is_name(*ret) &&
	    (ret->len == 0 || memmem(ret->data, ret->len, "${matrix.", 9) == NULL))
		return pipe_fail(pipe, node, ERR_INVALID, "a group has a name of letters, digits and _ . -");
	return err;
}

static struct slice with_number(struct pipe *pipe, struct slice name, uint64_t number)
{
	struct buf text = { 0 };
	struct slice copy;

	if (number == 0)
		return name;
	buf_add_slice(&text, name);
	buf_addf(&text, "=%llu", (unsigned long long)number);
	copy = arena_copy(pipe->reader.arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/* ---- of a job ---- */

/* NAME, or {group: NAME, max_jobs: N}. */
static enum err group_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	const struct tree_node *name = NULL, *limit = NULL;
	uint64_t number = 0;
	enum err err;

	if (node->kind != TREE_MAP)
		return name_item(pipe, node, ret);
	for (const struct tree_node *key = node->first; key != NULL; key = key->next) {
		if (slice_eq(key->key, slice_str("group")))
			name = key;
		else if (slice_eq(key->key, slice_str("max_jobs")))
			limit = key;
		else
			return dag_fail(&pipe->reader, key->key_spot.at, key->key_spot.len, ERR_UNKNOWN_NAME,
					"unknown key '%.*s'; the concurrency of a job has group and max_jobs",
					(int)(key->key.len < LIMIT_NAME_MAX_LEN ? key->key.len : LIMIT_NAME_MAX_LEN),
					(const char *)key->key.data);
	}
	if (name == NULL)
		return pipe_fail(pipe, node, ERR_INVALID, "it names no group: concurrency: {group: NAME}");
	err = name_item(pipe, name, ret);
	if (err == ERR_NONE && limit != NULL)
		err = pipe_number(pipe, limit, 1, LIMIT_RUN_JOBS_MAX - 1, &number);
	*ret = with_number(pipe, *ret, number);
	return err;
}

static size_t name_len(struct slice text)
{
	const uint8_t *equals = memchr(text.data, '=', text.len);

	return equals ? (size_t)(equals - text.data) : text.len;
}

enum err pipe_read_concurrency(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list *groups = &job->node->concurrency;
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	enum err err;

	if (value->kind == TREE_MAP) {
		groups->at = arena_zalloc(pipe->reader.arena, 1, sizeof(*groups->at));
		groups->n = 1;
		return group_item(pipe, value, groups->at);
	}
	err = pipe_list(pipe, value, "concurrency", LIMIT_JOB_GROUPS_MAX, group_item, groups);
	for (size_t i = 0; err == ERR_NONE && i < groups->n; i++, item = item->next)
		for (size_t before = 0; before < i; before++)
			if (slice_eq(slice_make(groups->at[i].data, name_len(groups->at[i])),
				     slice_make(groups->at[before].data, name_len(groups->at[before]))))
				return pipe_fail(pipe, item, ERR_DUPLICATE, "'%.*s' is named twice", (int)name_len(groups->at[i]),
						 (const char *)groups->at[i].data);
	return err;
}

/* ---- of the pipeline ---- */

static enum err read_max_jobs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_number(pipe, value, 1, LIMIT_RUN_JOBS_MAX, &pipe->max_jobs);
}

static enum err read_group(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_name_item(pipe, value, &pipe->concurrency);
}

static enum err read_max_runs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	uint64_t number = 0;
	enum err err = pipe_number(pipe, value, 1, LIMIT_RUN_JOBS_MAX - 1, &number);

	(void)job;
	if (err == ERR_NONE && pipe->concurrency.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "max_runs bounds the runs of a group, and none is named");
	pipe->concurrency = with_number(pipe, pipe->concurrency, number);
	return err;
}

enum err pipe_read_run_concurrency(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	static const struct pipe_key keys[] = {
		{ "max_jobs", read_max_jobs }, { "group", read_group }, { "max_runs", read_max_runs },
	};

	if (value->kind == TREE_TEXT)
		return read_group(pipe, job, value);
	return pipe_map(pipe, value, "concurrency", keys, sizeof(keys) / sizeof(keys[0]), job);
}
