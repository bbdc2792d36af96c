/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the key templates, and makes whole jobs of those that use one: the keys of the template's job, and over them those of
 * the job itself. In such a job ${params.NAME} is a parameter of the template, or else of the pipeline.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"

#define TEMPLATES_MAX 1000

/* ---- the section ---- */

static enum err check_template(struct pipe *pipe, const struct tree_node *template)
{
	const struct tree_node *job = NULL;
	enum err err = pipe_expect(pipe, template, TREE_MAP, "a template");

	for (const struct tree_node *node = template->first; err == ERR_NONE && node != NULL; node = node->next) {
		if (slice_eq(node->key, slice_str("job")))
			job = node;
		if (!slice_eq(node->key, slice_str("job")) && !slice_eq(node->key, slice_str("params")))
			err = dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
				       "a template has only the keys params and job; the keys of its jobs stand below job");
		else
			err = pipe_expect(pipe, node, TREE_MAP, node == job ? "job" : "params");
	}
	if (err == ERR_NONE && job == NULL)
		err = pipe_fail(pipe, template, ERR_INVALID, "a template needs the key job");
	for (const struct tree_node *node = job ? job->first : NULL; err == ERR_NONE && node != NULL; node = node->next)
		if (slice_eq(node->key, slice_str("template")) || slice_eq(node->key, slice_str("with")))
			err = dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID, "a template can't use another template");
		else if (pipe_key_find(&pipe_section_job, node->key) == NULL && pipe_setting_find(&pipe_section_job, node->key) == NULL)
			err = pipe_unknown_key(pipe, node, &pipe_section_job);
	return err;
}

enum err pipe_read_templates(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_expect(pipe, value, TREE_MAP, "templates");

	(void)job;
	if (err != ERR_NONE)
		return err;
	if (value->count > TEMPLATES_MAX)
		return pipe_fail(pipe, value, ERR_TOO_LARGE, "a pipeline may have at most %d templates", TEMPLATES_MAX);
	for (const struct tree_node *node = value->first; node != NULL; node = node->next)
		pipe_note(pipe, check_template(pipe, node), &err);
	pipe->templates = value;
	return err;
}

/* The reader of a job's keys never sees this one: pipe_use_template() has taken it away. */
enum err pipe_read_template(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_expect(pipe, value, TREE_TEXT, "template");
}

enum err pipe_read_with(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_fail(pipe, value, ERR_INVALID, "with gives the parameters of a template, and this job has no key template");
}

/* ---- a job of a template ---- */

static enum err find_template(struct pipe *pipe, const struct tree_node *use, const struct tree_node **ret)
{
	const char *names[TEMPLATES_MAX], *nearest;
	struct slice name;
	size_t count = 0;
	enum err err = pipe_text(pipe, use, "template", &name);

	if (err != ERR_NONE)
		return err;
	for (const struct tree_node *node = pipe->templates ? pipe->templates->first : NULL; node != NULL; node = node->next) {
		if (slice_eq(node->key, name)) {
			*ret = node;
			return ERR_NONE;
		}
		if (count < TEMPLATES_MAX)
			names[count++] = arena_strdup(pipe->reader.arena, node->key);
	}
	err = pipe_fail(pipe, use, ERR_UNKNOWN_NAME, "the pipeline has no template '%.*s'",
			(int)(name.len < LIMIT_NAME_MAX_LEN ? name.len : LIMIT_NAME_MAX_LEN), (const char *)name.data);
	nearest = text_nearest(arena_strdup(pipe->reader.arena, name), names, count);
	if (nearest != NULL)
		error_next(pipe->reader.error, "did you mean '%s'?", nearest);
	return err;
}

static struct slice name_and_value(struct pipe *pipe, struct slice name, struct slice value)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_add_slice(&text, name);
	buf_add_byte(&text, '=');
	buf_add_slice(&text, value);
	copy = arena_copy(pipe->reader.arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static bool uses_axis(const struct tree_node *node)
{
	struct matrix_ref ref;

	for (size_t from = 0; node->kind == TREE_TEXT && matrix_next(node->text, from, &ref); from = ref.at + ref.len)
		if (ref.kind == FAULT_AXIS)
			return true;
	return false;
}

/* Read the key with: values as NAME=VALUE, and names whose value isn't known. */
static enum err read_values(struct pipe *pipe, struct pipe_job *job, const struct tree_node *with, const struct tree_node *params,
			    struct pipe_given *ret)
{
	size_t room = with ? with->count + 1 : 1;
	enum err err = with ? pipe_expect(pipe, with, TREE_MAP, "with") : ERR_NONE;

	*ret = (struct pipe_given){ 0 };
	ret->values.at = arena_zalloc(pipe->reader.arena, room, sizeof(struct slice));
	ret->taken.at = arena_zalloc(pipe->reader.arena, room, sizeof(struct slice));
	ret->unknown.at = arena_zalloc(pipe->reader.arena, room, sizeof(struct slice));
	for (const struct tree_node *node = with ? with->first : NULL; err == ERR_NONE && node != NULL; node = node->next) {
		const struct tree_node *param = params ? params->first : NULL;
		struct slice text;

		while (param != NULL && !slice_eq(param->key, node->key))
			param = param->next;
		if (param == NULL) {
			err = dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
				       "the template has no parameter '%.*s'",
				       (int)(node->key.len < LIMIT_NAME_MAX_LEN ? node->key.len : LIMIT_NAME_MAX_LEN), (const char *)node->key.data);
		} else if (pipe_is_guess(pipe, node)) {
			ret->unknown.at[ret->unknown.n++] = node->key;
		} else if (pipe_is_output(pipe, node)) {
			err = pipe_read_taken(pipe, job, node, false, &ret->taken.at[ret->taken.n++]);
		} else if (uses_axis(node)) {
			err = pipe_fail(pipe, node, ERR_INVALID, "a parameter of a template is the same for all jobs of a matrix");
			error_next(pipe->reader.error, "let the job of the template use ${matrix.NAME}");
		} else if ((err = pipe_text(pipe, node, "a parameter", &text)) == ERR_NONE) {
			ret->values.at[ret->values.n++] = name_and_value(pipe, node->key, text);
		}
	}
	return err;
}

/* Put the parameters of the template, with the values that the job gives them, in front of those of the pipeline. */
static enum err open_params(struct pipe *pipe, struct pipe_job *job, const struct tree_node *use, const struct tree_node *template,
			    const struct tree_node *with)
{
	const struct tree_node *params = tree_find(template, "params");
	struct pipe_given outer = pipe->given, own;
	struct dag_values *all, *list = NULL;
	size_t count = 0;
	enum err err = read_values(pipe, job, with, params, &own);

	if (err == ERR_NONE && params != NULL) {
		pipe->given = own;
		pipe->using_template = use;
		err = pipe_param_values(pipe, params, &list, &count);
		pipe->given = outer;
		pipe->using_template = NULL;
	}
	if (err != ERR_NONE)
		return err;
	all = arena_zalloc(pipe->reader.arena, count + pipe->words.param_count + 1, sizeof(*all));
	if (count > 0)
		memcpy(all, list, count * sizeof(*all));
	if (pipe->words.param_count > 0)
		memcpy(all + count, pipe->words.params, pipe->words.param_count * sizeof(*all));
	pipe->words.params = all;
	pipe->words.param_count += count;
	return ERR_NONE;
}

enum err pipe_use_template(struct pipe *pipe, struct pipe_job *job, const struct tree_node **value)
{
	const struct tree_node *use = (*value)->kind == TREE_MAP ? tree_find(*value, "template") : NULL, *template = NULL, *below, *env;
	struct tree_node *whole;
	enum err err;

	if (use == NULL)
		return ERR_NONE;
	err = find_template(pipe, use, &template);
	if (err == ERR_NONE)
		err = open_params(pipe, job, use, template, tree_find(*value, "with"));
	if (err != ERR_NONE)
		return err;
	whole = arena_zalloc(pipe->reader.arena, 1, sizeof(*whole));
	*whole = **value;
	whole->first = whole->last = NULL;
	whole->count = 0;
	below = tree_find(template, "job");
	tree_lay(pipe->reader.arena, whole, below, *value);
	/* Variables of both count. */
	env = tree_find(below, "env");
	if (env != NULL && env->kind == TREE_MAP && tree_find(*value, "env") != NULL && tree_find(*value, "env")->kind == TREE_MAP) {
		const struct tree_node *over = tree_find(*value, "env");
		struct tree_node both = *over;

		both.first = both.last = NULL;
		both.count = 0;
		tree_lay(pipe->reader.arena, &both, env, over);
		tree_drop(whole, "env");
		tree_add(pipe->reader.arena, whole, &both);
	}
	tree_drop(whole, "with");
	tree_drop(whole, "template");
	*value = whole;
	return ERR_NONE;
}
