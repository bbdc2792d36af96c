/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The top-level keys of a pipeline, its parameters and matrices; and the steps that make a graph of it. */
#include "lang/pipeline_internal.h"

#include <ctype.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/limits.h"

#define PARAMS_MAX 256
/* Stands for the value of a parameter that isn't known while a pipeline is only checked. */
#define PLACEHOLDER "x"

/* ---- parameters ---- */

struct param {                           /* an entry of a pipeline's params: a parameter and its default */
	const struct tree_node *required, *choices, *preset;
};

static bool given_value(struct slice_list given, struct slice name, struct slice *ret)
{
	bool found = false;

	for (size_t i = 0; i < given.n; i++) {
		struct slice entry = given.at[i];

		if (entry.len <= name.len || entry.data[name.len] != '=' || memcmp(entry.data, name.data, name.len) != 0)
			continue;
		*ret = slice_make(entry.data + name.len + 1, entry.len - name.len - 1);
		found = true;
	}
	return found;
}

static enum err read_param_keys(struct pipe *pipe, const struct tree_node *value, struct param *param)
{
	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		if (slice_eq(node->key, slice_str("required")))
			param->required = node;
		else if (slice_eq(node->key, slice_str("enum")))
			param->choices = node;
		else if (slice_eq(node->key, slice_str("default")))
			param->preset = node;
		else
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
					"unknown key '%.*s'; a parameter may have required, default and enum",
					(int)(node->key.len < LIMIT_NAME_MAX_LEN ? node->key.len : LIMIT_NAME_MAX_LEN),
					(const char *)node->key.data);
	}
	return ERR_NONE;
}

enum err pipe_value_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_text(pipe, node, "a value", ret);

	if (err == ERR_NONE && ret->len == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "this value is empty");
	return err;
}

static enum err check_choice(struct pipe *pipe, const struct tree_node *value, const struct param *param,
			     struct slice text, bool given)
{
	struct slice_list choices = { 0 };
	struct buf words = { 0 };
	enum err err = pipe_list(pipe, param->choices, "enum", PARAMS_MAX, pipe_value_item, &choices);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < choices.n; i++) {
		if (slice_eq(choices.at[i], text)) {
			buf_free(&words);
			return ERR_NONE;
		}
		buf_add_str(&words, i ? ", " : "");
		buf_add_slice(&words, choices.at[i]);
	}
	err = pipe_fail(pipe, param->preset ? param->preset : value, ERR_INVALID, "parameter '%.*s' must be one of "
		"%s, not '%.*s'",
			(int)value->key.len, (const char *)value->key.data, buf_cstr(&words),
			(int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN), (const char *)text.data);
	if (given)
		pipe->reader.spot = pipe->using_template ? pipe->using_template->spot : (struct dag_spot){ 0, 0 };
	buf_free(&words);
	return err;
}

/* Is the pipeline only being checked, without a value for this parameter? */
static bool may_lack(const struct pipe *pipe, struct slice name)
{
	bool may = pipe->check_only && pipe->using_template == NULL;

	for (size_t i = 0; i < pipe->given.unknown.n; i++)
		may = may || slice_eq(pipe->given.unknown.at[i], name);
	return may;
}

/* *unknown: the parameter is required, and the pipeline is only being checked without a value for it. *taken: as in dag_values. */
static enum err read_param(struct pipe *pipe, const struct tree_node *value, struct slice *ret, bool *unknown, struct slice *taken)
{
	struct param param = { .preset = value->kind == TREE_TEXT ? value : NULL };
	struct slice preset = { 0 }, text;
	bool required = false, given;
	enum err err;

	if (!text_is_name(value->key))
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"the name of a parameter may only have letters, digits and _ . -");
	if (value->kind == TREE_LIST)
		return pipe_expect(pipe, value, TREE_MAP, "a parameter");
	if ((err = read_param_keys(pipe, value, &param)) != ERR_NONE ||
	    (param.required && (err = pipe_bool(pipe, param.required, &required)) != ERR_NONE) ||
	    (param.preset && (err = pipe_text(pipe, param.preset, "a default", &preset)) != ERR_NONE) ||
	    (param.preset && param.choices && (err = check_choice(pipe, value, &param, preset, false)) != ERR_NONE))
		return err;
	given = given_value(pipe->given.values, value->key, &text);
	if (!required && param.preset == NULL)
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"a parameter needs a default or required: true");
	if (required && param.preset != NULL)
		return pipe_fail(pipe, param.preset, ERR_INVALID, "a required parameter can't have a default");
	if (given_value(pipe->given.taken, value->key, taken)) {
		*ret = slice_str(PLACEHOLDER);
		if (!param.choices)
			return ERR_NONE;
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"this parameter is an output of a job, so its value isn't known yet and can't be compared with an enum");
	}
	if (required && !given && may_lack(pipe, value->key)) {
		*unknown = true;
		return ERR_NONE;
	}
	if (required && !given && pipe->using_template != NULL) {
		err = pipe_fail(pipe, pipe->using_template, ERR_INVALID, "the template's parameter '%.*s' is required", (int)value->key.len,
				(const char *)value->key.data);
		error_next(pipe->reader.error, "add with: {%.*s: VALUE}", (int)value->key.len,
			   (const char *)value->key.data);
		return err;
	}
	if (required && !given) {
		err = dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
			       "parameter '%.*s' is required", (int)value->key.len, (const char *)value->key.data);
		error_next(pipe->reader.error, "give its value with -p %.*s=VALUE", (int)value->key.len,
			   (const char *)value->key.data);
		return err;
	}
	if (given && text.len > 0 && memchr(text.data, 0, text.len) != NULL) {
		err = error_set(pipe->reader.error, ERR_INVALID, "the value of parameter '%.*s' contains a zero byte", (int)value->key.len,
				(const char *)value->key.data);
		error_next(pipe->reader.error, "put the bytes into a file, and give its name");
		return err;
	}
	if (given && param.choices && (err = check_choice(pipe, value, &param, text, true)) != ERR_NONE)
		return err;
	*ret = given ? text : preset;
	return ERR_NONE;
}

enum err pipe_param_values(struct pipe *pipe, const struct tree_node *map, struct dag_values **ret, size_t *ret_count)
{
	struct dag_values *params;
	size_t count = 0;
	enum err err = ERR_NONE;

	if (map->count > PARAMS_MAX)
		return pipe_fail(pipe, map, ERR_TOO_LARGE, "a pipeline or a template may have at most %d parameters", PARAMS_MAX);
	params = arena_zalloc(pipe->reader.arena, map->count + 1, sizeof(*params));
	for (const struct tree_node *node = map->first; node != NULL; node = node->next, count++) {
		enum err wrong = ERR_NONE;

		params[count].name = node->key;
		params[count].values.at = arena_zalloc(pipe->reader.arena, 1, sizeof(struct slice));
		params[count].values.n = 1;
		/* The default of a parameter can't use other parameters of its map, because their order would matter. */
		pipe_note(pipe, read_param(pipe, node, params[count].values.at, &params[count].unknown, &params[count].taken), &wrong);
		if (wrong != ERR_NONE)
			params[count].unknown = true;
		if (params[count].unknown)
			params[count].values.at[0] = slice_str(PLACEHOLDER);
		if (err == ERR_NONE)
			err = wrong;
	}
	*ret = params;
	*ret_count = count;
	return err;
}

enum err pipe_read_params(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct dag_values *params = NULL;
	size_t count = 0;
	enum err err = pipe_expect(pipe, value, TREE_MAP, "params");

	(void)job;
	if (err != ERR_NONE)
		return err;
	err = pipe_param_values(pipe, value, &params, &count);
	pipe->words.params = params;
	pipe->words.param_count = count;
	return err;
}

/* Check the given parameters: each must be NAME=VALUE with a name that the pipeline declares. */
static enum err check_given(struct pipe *pipe)
{
	const struct slice_list *values = &pipe->given.values, *taken = &pipe->given.taken;

	for (size_t i = 0; i < values->n + taken->n; i++) {
		struct slice entry = i < values->n ? values->at[i] : taken->at[i - values->n];
		const uint8_t *equals = entry.len ? memchr(entry.data, '=', entry.len) : NULL;
		struct slice name = slice_make(entry.data, equals ? (size_t)(equals - entry.data) : 0);
		bool known = false;

		for (size_t k = 0; k < pipe->words.param_count; k++)
			known = known || slice_eq(pipe->words.params[k].name, name);
		if (known)
			continue;
		/* The error is about the command, not about a place in the file. */
		pipe->reader.spot = (struct dag_spot){ 0, 0 };
		pipe->reader.noted = false;
		if (name.len == 0)
			return error_set(pipe->reader.error, ERR_USAGE, "a parameter must have the form NAME=VALUE");
		return error_set(pipe->reader.error, ERR_USAGE, "the pipeline has no parameter '%.*s'",
				 (int)(name.len < LIMIT_NAME_MAX_LEN ? name.len : LIMIT_NAME_MAX_LEN), (const char *)name.data);
	}
	return ERR_NONE;
}

/* ---- the pipeline ---- */

static enum err read_name(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_name_item(pipe, value, &pipe->name);
}

static enum err read_tenant(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return pipe_name_item(pipe, value, &pipe->tenant);
}

static enum err read_job_map(struct pipe *pipe, const struct tree_node *value, const char *what, bool final)
{
	enum err err = pipe_expect(pipe, value, TREE_MAP, what);

	if (err != ERR_NONE)
		return err;
	if (value->count == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "%s has no jobs", what);
	for (const struct tree_node *node = value->first; node != NULL; node = node->next)
		pipe_note(pipe, pipe_read_job(pipe, node, final), &err);
	return err;
}

static enum err read_jobs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return read_job_map(pipe, value, "jobs", false);
}

static enum err read_finally(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return read_job_map(pipe, value, "finally", true);
}

static enum err read_results(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	if (value->kind != TREE_MAP)
		return pipe_fail(pipe, value, ERR_INVALID, "the outputs of a pipeline must be a map: {NAME: \"${jobs.JOB.outputs.NAME}\"}");
	return pipe_read_computed(pipe, &pipe->results, value, &pipe->outputs);
}

/* The top-level keys in the order in which they are read: later ones use earlier ones. */
static const struct pipe_key pipeline_keys[] = {
	{ "include", pipe_read_include }, { "params", pipe_read_params }, { "name", read_name }, { "tenant", read_tenant }, { "env", pipe_read_env },
	{ "defaults", pipe_read_defaults }, { "deadline", pipe_read_deadline }, { "schedule", pipe_read_schedule },
	{ "concurrency", pipe_read_run_concurrency }, { "templates", pipe_read_templates }, { "jobs", read_jobs },
	{ "finally", read_finally }, { "outputs", read_results },
};

const struct pipe_section pipe_section_pipeline = PIPE_SECTION("a pipeline", pipeline_keys, NULL);

static enum err read_pipeline(struct pipe *pipe, const struct tree_node *root)
{
	enum err err;

	if (root == NULL || (root->kind == TREE_TEXT && root->text.len == 0))
		return dag_fail(&pipe->reader, 0, 1, ERR_INVALID, "the pipeline is empty; it must have the key jobs:");
	err = pipe_map(pipe, root, &pipe_section_pipeline, NULL);
	pipe_note(pipe, check_given(pipe), &err);
	if (tree_find(root, "jobs") != NULL)
		pipe_note(pipe, pipe_join(pipe), &err);
	else if (err == ERR_NONE)
		err = pipe_fail(pipe, root, ERR_INVALID, "the pipeline has no jobs");
	return err;
}

/* Make the graph, after the whole text was read without an error. */
static enum err make_graph(struct pipe *pipe, struct pipeline *ret)
{
	enum err err = dag_finish(&pipe->reader, &ret->dag);

	if (err == ERR_NONE)
		err = dag_check_results(&pipe->reader, &pipe->results);
	if (err != ERR_NONE)
		return err;
	ret->outputs = pipe->outputs;
	ret->dag.env = pipe->env;
	ret->name = pipe->name;
	ret->max_jobs = pipe->max_jobs;
	ret->tenant = pipe->tenant;
	ret->concurrency = pipe->concurrency;
	ret->schedule = pipe->schedule;
	return ERR_NONE;
}

/* Fill in *ret, or the faults. */
static enum err parse(struct pipe *pipe, struct pipeline *ret)
{
	struct slice text = pipe->reader.text;
	struct dag_faults *faults = pipe->reader.faults;
	struct pipeline pipeline = { 0 };
	struct tree_node *root = NULL;
	enum err err;

	if (text.len > LIMIT_PIPELINE_MAX)
		err = dag_fail(&pipe->reader, 0, 1, ERR_TOO_LARGE, "a pipeline may have at most %d bytes; this one has %zu",
			       LIMIT_PIPELINE_MAX, text.len);
	else if ((err = tree_read(&pipe->reader, &root)) == ERR_NONE && (err = pipe_include(pipe, root)) == ERR_NONE)
		err = read_pipeline(pipe, root);
	dag_note(&pipe->reader, err);
	ret->texts = pipe->texts;
	/* Errors that the tree's reader has kept don't show in err. */
	if (faults->count == 0)
		dag_note(&pipe->reader, make_graph(pipe, &pipeline));
	if (faults->count > 0)
		return faults->at[0].error.code;
	pipeline.texts = pipe->texts;
	*ret = pipeline;
	return ERR_NONE;
}

static void pipe_free(struct pipe *pipe)
{
	name_map_free(&pipe->reader.names);
	mem_free(pipe->reader.edges);
	mem_free(pipe->jobs);
}

/* The parameters of a graph for another one inside it: an output is then one level further away. */
static const struct dag_values *inner_params(struct pipe *pipe)
{
	struct dag_values *params = arena_zalloc(pipe->reader.arena, pipe->words.param_count + 1, sizeof(*params));

	for (size_t i = 0; i < pipe->words.param_count; i++) {
		params[i] = pipe->words.params[i];
		if (params[i].taken.len > 0)
			params[i].taken = pipe_taken_up(pipe, params[i].taken);
	}
	return params;
}

enum err pipe_read_inner(struct pipe *outer, struct dag_node *node, const struct tree_node *value)
{
	struct pipe pipe = {
		.reader = { .around = node, .text = outer->reader.text, .arena = outer->reader.arena, .error = outer->reader.error, .faults = outer->reader.faults },
		.words = { .params = inner_params(outer), .param_count = outer->words.param_count },
		.check_only = outer->check_only, .given = { .unknown = outer->given.unknown }, .templates = outer->templates, .text_bytes = outer->text_bytes,
	};
	size_t faults = pipe.reader.faults->count;
	struct pipeline pipeline = { 0 };

	dag_note(&pipe.reader, read_pipeline(&pipe, value));
	if (pipe.reader.faults->count == faults)
		dag_note(&pipe.reader, make_graph(&pipe, &pipeline));
	outer->text_bytes = pipe.text_bytes;
	outer->reader.spot = pipe.reader.spot;
	outer->reader.noted = pipe.reader.noted;
	pipe_free(&pipe);
	if (outer->reader.faults->count > faults)
		return outer->reader.faults->at[0].error.code;
	node->subs = arena_zalloc(outer->reader.arena, 1, sizeof(*node->subs));
	node->sub_count = 1;
	node->subs[0] = (struct dag_sub){
		.name = pipeline.name.len > 0 ? pipeline.name : node->name, .max_jobs = pipeline.max_jobs,
		.concurrency = pipeline.concurrency, .outputs = pipeline.outputs, .dag = pipeline.dag,
	};
	return ERR_NONE;
}

enum err pipeline_read(const struct pipeline_source *source, struct arena *arena, struct pipeline *ret, struct dag_faults *faults)
{
	struct error latest = { 0 };
	struct pipe pipe = {
		.reader = { .text = source->text, .arena = arena, .old = source->old, .error = &latest, .faults = faults },
		.given = { source->given, source->taken, source->unknown }, .check_only = source->check_only,
		.include_cb = source->include_cb, .include_arg = source->include_arg,
		.texts = { .all = source->text, .own_len = source->text.len },
	};
	enum err err;

	*faults = (struct dag_faults){ 0 };
	err = parse(&pipe, ret);
	pipe_free(&pipe);
	return err;
}

enum err pipeline_parse(struct slice text, struct slice_list given, struct arena *arena, struct pipeline *ret,
			struct dag_spot *ret_spot, struct error *error)
{
	return pipeline_parse_into(text, given, NULL, arena, ret, ret_spot, error);
}

enum err pipeline_parse_into(struct slice text, struct slice_list given, const struct dag_old *old, struct arena *arena,
			     struct pipeline *ret, struct dag_spot *ret_spot, struct error *error)
{
	const struct pipeline_source source = { .text = text, .given = given, .old = old };
	struct dag_faults faults;
	enum err err = pipeline_read(&source, arena, ret, &faults);

	if (err != ERR_NONE && ret_spot != NULL)
		*ret_spot = faults.at[0].spot;
	if (err != ERR_NONE && error != NULL)
		*error = faults.at[0].error;
	return err;
}

/* Length of the key at the beginning of this text, with its colon; 0: there is no key. */
static size_t key_len(struct slice text)
{
	bool quoted = text.len > 0 && (text.data[0] == '"' || text.data[0] == '\'');
	size_t at = quoted;

	while (at < text.len && (isalnum(text.data[at]) || text.data[at] == '_' || text.data[at] == '-'))
		at++;
	if (at == quoted || (quoted && (at == text.len || text.data[at++] != text.data[0])))
		return 0;
	while (at < text.len && (text.data[at] == ' ' || text.data[at] == '\t'))
		at++;
	if (at == text.len || text.data[at] != ':')
		return 0;
	/* Text such as "a:failed -> b" is a one-line graph and no key. */
	return quoted || at + 1 == text.len || isspace(text.data[at + 1]) ? at + 1 : 0;
}

static struct slice without_blanks(struct slice text)
{
	while (text.len > 0 && (isspace(text.data[0]) || text.data[0] == '#')) {
		const uint8_t *end = text.data[0] == '#' ? memchr(text.data, '\n', text.len) : text.data;
		size_t len = end ? (size_t)(end - text.data) + 1 : text.len;

		text = slice_make(text.data + len, text.len - len);
	}
	return text;
}

bool pipeline_begins(struct slice text)
{
	if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		text = slice_make(text.data + 3, text.len - 3);
	text = without_blanks(text);
	if (text.len > 0 && (text.data[0] == '%' || (text.len >= 3 && memcmp(text.data, "---", 3) == 0)))
		return true;
	if (text.len > 0 && text.data[0] == '{')
		text = without_blanks(slice_make(text.data + 1, text.len - 1));
	return key_len(text) > 0;
}
