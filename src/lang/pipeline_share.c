/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys about what jobs and runs share: concurrency groups, locks, values, outputs and artifacts. */
#include "lang/pipeline_internal.h"

#include <stdio.h>

#include "base/glob.h"
#include "base/text.h"
#include "proto/input.h"
#include "proto/limits.h"
#include "proto/spec.h"

/* Read a name. In a matrix it may differ between jobs; then its form is checked only when the job is admitted. */
static enum err name_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_template(pipe, node, "a name", (struct slice){ 0 }, ret);

	if (err == ERR_NONE && !text_is_name(*ret) &&
	    (ret->len == 0 || memmem(ret->data, ret->len, "${matrix.", 9) == NULL))
		return pipe_fail(pipe, node, ERR_INVALID, "the name of a group or lock may only have letters, digits and _ . -");
	return err;
}

static struct slice with_text(struct pipe *pipe, struct slice name, const char *behind)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_add_slice(&text, name);
	buf_add_str(&text, behind);
	copy = arena_copy(pipe->reader.arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static struct slice with_number(struct pipe *pipe, struct slice name, uint64_t number)
{
	char behind[24];

	if (number == 0)
		return name;
	snprintf(behind, sizeof(behind), "=%llu", (unsigned long long)number);
	return with_text(pipe, name, behind);
}

/* ---- keys of a job about groups and locks ---- */

/* Read NAME, or a map with two keys, the first of which gives the name. */
static enum err item_keys(struct pipe *pipe, const struct tree_node *node, const char *const words[2], const char *what,
			  const struct tree_node *ret_nodes[2])
{
	ret_nodes[0] = node->kind == TREE_MAP ? NULL : node;
	ret_nodes[1] = NULL;
	for (const struct tree_node *key = node->kind == TREE_MAP ? node->first : NULL; key != NULL; key = key->next) {
		if (slice_eq(key->key, slice_str(words[0])))
			ret_nodes[0] = key;
		else if (slice_eq(key->key, slice_str(words[1])))
			ret_nodes[1] = key;
		else
			return dag_fail(&pipe->reader, key->key_spot.at, key->key_spot.len, ERR_UNKNOWN_NAME,
					"unknown key '%.*s'; the keys of %s are %s and %s",
					(int)(key->key.len < LIMIT_NAME_MAX_LEN ? key->key.len : LIMIT_NAME_MAX_LEN),
					(const char *)key->key.data, what, words[0], words[1]);
	}
	if (ret_nodes[0] == NULL)
		return pipe_fail(pipe, node, ERR_INVALID, "%s needs a name: {%s: NAME}", what, words[0]);
	return ERR_NONE;
}

static enum err group_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	static const char *const words[2] = { "group", "max_jobs" };
	const struct tree_node *nodes[2];
	uint64_t number = 0;
	enum err err = item_keys(pipe, node, words, "the concurrency of a job", nodes);

	if (err == ERR_NONE)
		err = name_item(pipe, nodes[0], ret);
	if (err == ERR_NONE && nodes[1] != NULL)
		err = pipe_number(pipe, nodes[1], 1, LIMIT_RUN_JOBS_MAX - 1, &number);
	if (err == ERR_NONE)
		*ret = with_number(pipe, *ret, number);
	return err;
}

static enum err lock_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	static const char *const words[2] = { "name", "mode" };
	const struct tree_node *nodes[2];
	struct slice mode = slice_str("exclusive");
	enum err err = item_keys(pipe, node, words, "a lock", nodes);

	if (err == ERR_NONE)
		err = name_item(pipe, nodes[0], ret);
	if (err == ERR_NONE && nodes[1] != NULL)
		err = pipe_text(pipe, nodes[1], "mode", &mode);
	if (err != ERR_NONE)
		return err;
	if (slice_eq(mode, slice_str("shared")))
		*ret = with_text(pipe, *ret, "=shared");
	else if (!slice_eq(mode, slice_str("exclusive")))
		return pipe_fail(pipe, nodes[1], ERR_INVALID, "the mode of a lock must be exclusive or shared");
	return ERR_NONE;
}

static size_t name_len(struct slice text)
{
	const uint8_t *equals = memchr(text.data, '=', text.len);

	return equals ? (size_t)(equals - text.data) : text.len;
}

static enum err read_items(struct pipe *pipe, const struct tree_node *value, const char *what, size_t most,
			   pipe_item_read *item_read, struct slice_list *items)
{
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	enum err err;

	if (value->kind == TREE_MAP) {
		items->at = arena_zalloc(pipe->reader.arena, 1, sizeof(*items->at));
		items->n = 1;
		return item_read(pipe, value, items->at);
	}
	err = pipe_list(pipe, value, what, most, item_read, items);
	for (size_t i = 0; err == ERR_NONE && i < items->n; i++, item = item->next)
		for (size_t before = 0; before < i; before++)
			if (slice_eq(slice_make(items->at[i].data, name_len(items->at[i])),
				     slice_make(items->at[before].data, name_len(items->at[before]))))
				return pipe_fail(pipe, item, ERR_DUPLICATE, "'%.*s' is named twice", (int)name_len(items->at[i]),
						 (const char *)items->at[i].data);
	return err;
}

enum err pipe_read_concurrency(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return read_items(pipe, value, "concurrency", LIMIT_JOB_GROUPS_MAX, group_item, &job->node->concurrency);
}

/*
 * Read the locks. Must come after the mode: in a job without one, locks set a mode in which the job never runs twice at
 * once.
 */
enum err pipe_read_locks(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (job->node->locks.n > 0)
		return pipe_fail(pipe, value, ERR_DUPLICATE, "the job's locks are given twice; give several as a "
			"list: locks: [a, b]");
	if (job->node->mode == EXEC_RETRY + 1)
		return pipe_fail(pipe, value, ERR_INVALID,
				 "a job with locks must have mode exclusive or once: with mode retry it could run "
				 "twice at the same time");
	return read_items(pipe, value, "locks", LIMIT_JOB_LOCKS_MAX, lock_item, &job->node->locks);
}

/* ---- values ---- */

/* Read def:PREFIX or cluster:PREFIX. */
static enum err grant_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_template(pipe, node, "a namespace", (struct slice){ 0 }, ret);

	if (err == ERR_NONE && !values_grant_good(*ret))
		return pipe_fail(pipe, node, ERR_INVALID, "a namespace of values must be def: or cluster:, or one of them with the beginning "
			"of keys, such as cluster:builds/");
	return err;
}

static enum err read_kv_read(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_list(pipe, value, "read", LIMIT_VALUE_GRANTS_MAX, grant_item, &job->node->kv_read);
}

static enum err read_kv_write(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_list(pipe, value, "write", LIMIT_VALUE_GRANTS_MAX, grant_item, &job->node->kv_write);
}

static const struct pipe_key kv_keys[] = {
	{ "read", read_kv_read }, { "write", read_kv_write },
};

const struct pipe_section pipe_section_kv = PIPE_SECTION("kv", kv_keys, "kv.");

enum err pipe_read_kv(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_map(pipe, value, &pipe_section_kv, job);
}

/* ---- keys of the pipeline ---- */

static enum err read_max_jobs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_number(pipe, value, 1, LIMIT_RUN_JOBS_MAX, &pipe->max_jobs);
}

static enum err read_group(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_name_item(pipe, value, &pipe->concurrency);

	(void)job;
	/* So that max_runs doesn't report a missing group, too. */
	if (err != ERR_NONE)
		pipe->concurrency = slice_str("x");
	return err;
}

static enum err read_max_runs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	uint64_t number = 0;
	enum err err = pipe_number(pipe, value, 1, LIMIT_RUN_JOBS_MAX - 1, &number);

	(void)job;
	if (err == ERR_NONE && pipe->concurrency.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "max_runs limits the runs of a group, but the pipeline names no group");
	pipe->concurrency = with_number(pipe, pipe->concurrency, number);
	return err;
}

static const struct pipe_key concurrency_keys[] = {
	{ "max_jobs", read_max_jobs }, { "group", read_group }, { "max_runs", read_max_runs },
};

const struct pipe_section pipe_section_concurrency = PIPE_SECTION("concurrency", concurrency_keys, NULL);

enum err pipe_read_run_concurrency(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (value->kind == TREE_TEXT)
		return read_group(pipe, job, value);
	return pipe_map(pipe, value, &pipe_section_concurrency, job);
}

/* ---- what a job puts out ---- */

enum err pipe_read_outputs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list *names = &job->node->outputs;
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	bool computes = job->node->kind == KIND_NOOP;
	enum err err;

	if (job->node->sub_path.len > 0) {
		pipe_fail(pipe, value, ERR_INVALID, "the outputs of a job with pipeline are those of that pipeline");
		return error_next(pipe->reader.error, "write outputs: {NAME: \"${jobs.JOB.outputs.NAME}\"} at the top of the pipeline");
	}
	if (computes && value->kind == TREE_MAP)
		return pipe_read_computed(pipe, job->node, value, &job->node->computes);
	if (computes || value->kind == TREE_MAP) {
		pipe_fail(pipe, value, ERR_INVALID, computes ? "a noop writes nothing, so its outputs must be a map" :
			  "only a job with kind: noop computes outputs; this one lists the names of those that it writes");
		return error_next(pipe->reader.error, computes ? "write outputs: {NAME: \"${jobs.JOB.outputs.NAME}\"}" : "write outputs: [NAME, ...]");
	}
	err = pipe_list(pipe, value, "outputs", LIMIT_OUTPUTS_MAX, pipe_name_item, names);

	for (size_t i = 0; err == ERR_NONE && i < names->n; i++, item = item->next)
		for (size_t before = 0; before < i; before++)
			if (slice_eq(names->at[i], names->at[before]))
				return pipe_fail(pipe, item, ERR_DUPLICATE, "the output '%.*s' is named twice", (int)names->at[i].len,
						 (const char *)names->at[i].data);
	return err;
}

/* ---- what a job leaves ---- */

/* Read a pattern, with its sign as in job_spec: !PATTERN, PATTERN, or {glob: PATTERN, optional: true}. */
static enum err artifact_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	static const char *const words[2] = { "glob", "optional" };
	const struct tree_node *nodes[2];
	struct slice glob;
	bool optional = false, leaves_out;
	enum err err = item_keys(pipe, node, words, "a pattern of artifacts", nodes);

	if (err == ERR_NONE && nodes[1] != NULL)
		err = pipe_bool(pipe, nodes[1], &optional);
	if (err == ERR_NONE)
		err = pipe_template(pipe, nodes[0], "a pattern", slice_str(optional ? "?" : "+"), ret);
	if (err != ERR_NONE)
		return err;
	leaves_out = ret->len > 1 && ret->data[1] == '!';
	glob = slice_make(ret->data + 1 + leaves_out, ret->len - 1 - leaves_out);
	if (leaves_out)
		*ret = with_text(pipe, slice_str("-"), arena_strdup(pipe->reader.arena, glob));
	if (!glob_fits(glob))
		return pipe_fail(pipe, nodes[0], ERR_INVALID, "a pattern of artifacts is relative to the job's directory and has no empty part and no "
			"part . or .., such as dist/**/*.tar");
	return ERR_NONE;
}

static enum err read_artifacts_out(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list *list = &job->node->artifacts;
	enum err err;

	if (value->kind == TREE_MAP) {
		*list = (struct slice_list){ arena_zalloc(pipe->reader.arena, 1, sizeof(*list->at)), 1 };
		err = artifact_item(pipe, value, list->at);
	} else {
		err = pipe_list(pipe, value, "out", LIMIT_ARTIFACT_GLOBS_MAX, artifact_item, list);
	}
	for (size_t i = 0; err == ERR_NONE && i < list->n; i++)
		if (list->at[i].data[0] != '-')
			return ERR_NONE;
	return err != ERR_NONE ? err : pipe_fail(pipe, value, ERR_INVALID, "all patterns leave files out, and none chooses any");
}

/* Read JOB, or {job: JOB, as: DIR}. */
static enum err in_item(struct pipe *pipe, const struct tree_node *node, struct dag_in *ret)
{
	static const char *const words[2] = { "job", "as" };
	const struct tree_node *nodes[2];
	enum err err = item_keys(pipe, node, words, "a job whose artifacts are wanted", nodes);

	if (err == ERR_NONE)
		err = pipe_text(pipe, nodes[0], "a job", &ret->job);
	if (err == ERR_NONE && nodes[1] != NULL)
		err = pipe_text(pipe, nodes[1], "a directory", &ret->dir);
	if (err != ERR_NONE)
		return err;
	ret->spot = nodes[0]->spot;
	if (nodes[1] != NULL && !input_path_fits(ret->dir))
		return pipe_fail(pipe, nodes[1], ERR_INVALID, "a directory for artifacts must be relative, may have no part . or .., and can't begin with .titan");
	return ERR_NONE;
}

static enum err read_artifacts_in(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	size_t count = value->kind == TREE_LIST ? value->count : 1;
	enum err err = ERR_NONE;

	if (count == 0 || count > LIMIT_ARTIFACTS_IN_MAX)
		return pipe_fail(pipe, value, ERR_INVALID, "in must have 1 to %d entries, not %zu", LIMIT_ARTIFACTS_IN_MAX, count);
	job->node->ins = arena_zalloc(pipe->reader.arena, count, sizeof(*job->node->ins));
	for (; err == ERR_NONE && job->node->in_count < count; item = item->next)
		err = in_item(pipe, item, &job->node->ins[job->node->in_count++]);
	return err;
}

static const struct pipe_key artifacts_keys[] = {
	{ "in", read_artifacts_in }, { "out", read_artifacts_out },
};

const struct pipe_section pipe_section_artifacts = PIPE_SECTION("artifacts", artifacts_keys, "artifacts.");

enum err pipe_read_artifacts(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_map(pipe, value, &pipe_section_artifacts, job);
}
