/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of values in conditions: jobs.JOB.state, jobs.JOB.exit, jobs.JOB.outputs.NAME, params.NAME, and of a loop's own pass. */
#include "lang/dag_expr_internal.h"

#include "base/text.h"
#include "lang/pattern.h"
#include "proto/limits.h"

enum field { FIELD_NONE, FIELD_STATE, FIELD_EXIT, FIELD_OUTPUT };

struct job_field {
	struct slice job, output;
	enum field field;
};

static int cut(struct slice text)
{
	return (int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN);
}

static bool begins(struct slice text, const char *with)
{
	size_t len = strlen(with);

	return text.len > len && memcmp(text.data, with, len) == 0;
}

static struct slice behind(struct slice text, size_t len)
{
	return slice_make(text.data + len, text.len - len);
}

bool is_value_name(const struct lowering *lowering, const struct expr_node *node)
{
	struct slice text = node->text;

	if (node->kind != EXPR_WORD || node->put_in || ask_name(lowering, text) != NULL)
		return false;
	return begins(text, "params.") || begins(text, "matrix.") || begins(text, lowering->source->own ? "outputs." : "jobs.");
}

static enum field field_of(struct slice text, struct slice *ret_output)
{
	if (slice_eq(text, slice_str("state")))
		return FIELD_STATE;
	if (slice_eq(text, slice_str("exit")) || slice_eq(text, slice_str("code")))
		return FIELD_EXIT;
	if (!begins(text, "outputs."))
		return FIELD_NONE;
	*ret_output = behind(text, strlen("outputs."));
	return FIELD_OUTPUT;
}

/* Split jobs.JOB.FIELD. Names of jobs and outputs may have dots, so the first split counts whose job exists. */
static struct job_field split(const struct lowering *lowering, struct slice text)
{
	struct slice rest = behind(text, strlen("jobs."));
	struct job_field first = { .job = rest };
	bool found = false;

	for (size_t i = 0; i < rest.len; i++) {
		struct job_field at = { .job = slice_make(rest.data, i) };

		if (rest.data[i] != '.')
			continue;
		at.field = field_of(behind(rest, i + 1), &at.output);
		if (ask_name(lowering, at.job) != NULL && at.field != FIELD_NONE)
			return at;
		if (!found && (at.field != FIELD_NONE || ask_name(lowering, at.job) != NULL))
			first = at;
		found = found || at.field != FIELD_NONE;
	}
	return first;
}

/* Find the job of such a name, or say why there is none. */
static enum err find_job(const struct lowering *lowering, const struct expr_node *word, const struct job_field *at, struct dag_name **ret)
{
	struct dag_reader *reader = lowering->source->reader;
	struct dag_name *name = ask_name(lowering, at->job);
	struct dag_spot spot = word->spot;

	if (spot.len == word->text.len && at->job.len > 0)
		spot = (struct dag_spot){ spot.at + strlen("jobs."), at->job.len };
	if (name == NULL)
		return dag_unknown_need(reader, lowering->source->child, at->job, spot);
	if (name == lowering->source->child)
		return dag_fail(reader, spot.at, spot.len, ERR_CYCLE, "job '%.*s' needs itself", cut(at->job), (const char *)at->job.data);
	*ret = name;
	if (at->field != FIELD_NONE)
		return ERR_NONE;
	dag_fail(reader, word->spot.at, word->spot.len, ERR_UNKNOWN_NAME, "'%.*s': a job has state, exit and outputs.NAME here", cut(word->text),
		 (const char *)word->text.data);
	return error_next(reader->error, "write jobs.%.*s.outputs.NAME", cut(at->job), (const char *)at->job.data);
}

static enum err check_output(struct dag_reader *reader, const struct expr_node *word, const struct dag_node *node, struct slice output)
{
	const char **words, *near;

	if (dag_declares(node, output))
		return ERR_NONE;
	words = arena_zalloc(reader->arena, node->outputs.n + 1, sizeof(*words));
	for (size_t i = 0; i < node->outputs.n; i++)
		words[i] = arena_strdup(reader->arena, node->outputs.at[i]);
	near = text_nearest(arena_strdup(reader->arena, output), words, node->outputs.n);
	if (near == NULL) {
		struct error why;
		enum err err = dag_undeclared(node, output, &why);

		dag_fail(reader, word->spot.at, word->spot.len, err, "%s", why.text);
		return error_next(reader->error, "%s", why.next);
	}
	dag_fail(reader, word->spot.at, word->spot.len, ERR_UNKNOWN_NAME, "job '%.*s' declares no output '%.*s'", cut(node->name),
		 (const char *)node->name.data, cut(output), (const char *)output.data);
	return error_next(reader->error, "did you mean '%s'?", near);
}

static enum err set_output(struct dag_reader *reader, struct expr_node *word, const struct dag_node *node, struct slice output, bool own)
{
	if (node->fan && !own && node->width > LIMIT_TAKE_JOBS_MAX)
		return dag_fail(reader, word->spot.at, word->spot.len, ERR_TOO_LARGE,
				"'%.*s' has more than %d jobs, so their outputs can't be used together", cut(node->name),
				(const char *)node->name.data, LIMIT_TAKE_JOBS_MAX);
	word->type = node->fan && !own ? EXPR_TYPE_LIST : EXPR_TYPE_OUTPUT;
	word->width = node->fan && !own ? node->width : 0;
	word->name_text = output;
	return node->old ? ERR_NONE : check_output(reader, word, node, output);
}

static enum err job_value(const struct lowering *lowering, struct expr_node *word)
{
	struct dag_reader *reader = lowering->source->reader;
	struct job_field at = split(lowering, word->text);
	struct dag_name *name = NULL;
	enum err err = find_job(lowering, word, &at, &name);

	if (err != ERR_NONE)
		return err;
	word->of_name = name;
	if (at.field == FIELD_OUTPUT)
		return set_output(reader, word, &name->node, at.output, false);
	if (at.field == FIELD_STATE)
		return dag_fail(reader, word->spot.at, word->spot.len, ERR_INVALID,
				"the state of a job can only be compared with a state by ==, != or in");
	if (name->node.fan)
		return dag_fail(reader, word->spot.at, word->spot.len, ERR_INVALID,
				"'%.*s' is a fan-out: each of its jobs has its own exit code, so name one job", cut(at.job),
				(const char *)at.job.data);
	word->type = EXPR_TYPE_NUMBER;
	word->is_exit = true;
	return ERR_NONE;
}

static enum err own_value(const struct lowering *lowering, struct expr_node *word)
{
	return set_output(lowering->source->reader, word, &lowering->source->child->node, behind(word->text, strlen("outputs.")), true);
}

/* Replace params.NAME by its value, as ${params.NAME} would be. */
static enum err param_value(const struct lowering *lowering, struct expr_node *word)
{
	const struct expr_source *source = lowering->source;
	struct buf text = { 0 };
	struct slice reference;

	if (source->expand_cb == NULL)
		return dag_fail(source->reader, word->spot.at, word->spot.len, ERR_SYNTAX, "parameters can't be used here");
	buf_addf(&text, "${%.*s}", (int)word->text.len, (const char *)word->text.data);
	reference = arena_copy(lowering->arena, buf_slice(&text));
	buf_free(&text);
	word->put_in = true;
	word->type = EXPR_TYPE_OUTPUT;
	return source->expand_cb(source->arg, reference, word->spot, &word->text);
}

enum err value_name(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *word, bool *ret_known)
{
	const struct lowering *lowering = scope->arg;

	(void)reader;
	*ret_known = is_value_name(lowering, word);
	if (!*ret_known)
		return ERR_NONE;
	if (begins(word->text, "params.") || begins(word->text, "matrix."))
		return param_value(lowering, word);
	return lowering->source->own ? own_value(lowering, word) : job_value(lowering, word);
}

enum err value_unknown(const struct expr_scope *scope, struct dag_reader *reader, const struct expr_node *word)
{
	const struct lowering *lowering = scope->arg;
	int len = cut(word->text);
	const char *text = (const char *)word->text.data;

	dag_fail(reader, word->spot.at, word->spot.len, ERR_UNKNOWN_NAME, "'%.*s' is no value here", len, text);
	if (ask_name(lowering, word->text) != NULL)
		return error_next(reader->error, "write jobs.%.*s.exit, or jobs.%.*s.outputs.NAME", len, text, len, text);
	return error_next(reader->error, "a text stands in quotes: \"%.*s\"", len, text);
}

/* ---- states ---- */

static bool is_state(const struct lowering *lowering, const struct expr_node *node, struct job_field *ret)
{
	if (!is_value_name(lowering, node) || !begins(node->text, "jobs."))
		return false;
	*ret = split(lowering, node->text);
	return ret->field == FIELD_STATE && ask_name(lowering, ret->job) != NULL;
}

static enum err add_state(const struct lowering *lowering, const struct expr_node *node, uint32_t *mask)
{
	uint32_t one = 0;

	if ((node->kind != EXPR_WORD && node->kind != EXPR_STRING) || !mask_by_name(node->text, &one))
		return no_such_result(lowering, node, node->text);
	*mask |= one;
	return ERR_NONE;
}

/* Turn jobs.JOB.state == ok, or in [ok, skipped], into a question about the end of the job. */
static enum err state_is(const struct lowering *lowering, const struct expr_node *pair, const struct job_field *at, struct dag_expr **ret)
{
	const struct expr_node *right = pair->of[1];
	struct dag_expr *expr = expr_new(lowering, DAG_STATE);
	struct dag_name *name = NULL;
	enum err err = find_job(lowering, pair->of[0], at, &name);

	if (err == ERR_NONE && pair->op == EXPR_OP_IN && right->kind == EXPR_ITEMS && right->of_count > 0)
		for (size_t i = 0; i < right->of_count && err == ERR_NONE; i++)
			err = add_state(lowering, right->of[i], &expr->mask);
	else if (err == ERR_NONE && (pair->op == EXPR_OP_EQ || pair->op == EXPR_OP_NE))
		err = add_state(lowering, right, &expr->mask);
	else if (err == ERR_NONE)
		err = dag_fail(lowering->source->reader, pair->of[0]->spot.at, pair->of[0]->spot.len, ERR_INVALID,
			       "the state of a job can only be compared with a state by ==, != or in");
	if (err != ERR_NONE)
		return err;
	expr->said = true;
	expr->parent = name->index;
	expr->spot = pair->of[0]->spot;
	*ret = pair->op == EXPR_OP_NE ? expr_negate(lowering, expr) : expr;
	return ERR_NONE;
}

/* ---- questions ---- */

static bool has_names(const struct expr_node *node)
{
	bool names = node->is_name;

	for (size_t i = 0; i < node->of_count && !names; i++)
		names = has_names(node->of[i]);
	return names;
}

/* A regular expression over what jobs put out: the core decides these conditions, and knows no regular expressions. */
static enum err check_patterns(const struct lowering *lowering, const struct expr_node *node)
{
	enum err err = ERR_NONE;

	if (node->kind == EXPR_PAIR && node->op == EXPR_OP_MATCHES) {
		dag_fail(lowering->source->reader, node->spot.at, node->spot.len, ERR_INVALID,
			 "matches can't be used with what a job put out, because the master decides this condition");
		return error_next(lowering->source->reader->error, "use glob, or let the job put out the result of its own test");
	}
	for (size_t i = 0; i < node->of_count && err == ERR_NONE; i++)
		err = check_patterns(lowering, node->of[i]);
	return err;
}

/* Evaluate an expression in which there are only constants. */
static bool constant(const struct expr_node *node)
{
	struct expr_world world = { .search_cb = pattern_found, .steps = LIMIT_EXPR_STEPS };
	struct arena arena = { 0 };
	struct buf code = { 0 };
	bool yes;

	expr_compile(node, &code);
	yes = expr_value_fault(buf_slice(&code), 0, true) == NULL && expr_value_true(buf_slice(&code), &world, &arena);
	arena_free(&arena);
	buf_free(&code);
	return yes;
}

enum err ask_value(const struct lowering *lowering, struct expr_node *node, struct dag_expr **ret)
{
	const struct comparison how = comparison_of(node->op);
	struct job_field at;
	enum err err;

	if (node->kind == EXPR_PAIR && is_state(lowering, node->of[0], &at))
		return state_is(lowering, node, &at, ret);
	err = expr_check_types(lowering->scope, lowering->source->reader, node);
	if (err == ERR_NONE && has_names(node))
		err = check_patterns(lowering, node);
	if (err != ERR_NONE)
		return err;
	/* The core answers a comparison of an exit code with a number by a step of its own. */
	if (node->kind == EXPR_PAIR && node->op <= EXPR_OP_GT && node->of[0]->is_exit && node->of[1]->kind == EXPR_WORD &&
	    !node->of[1]->is_name && !lowering->source->own) {
		err = compare_code(lowering, node->of[0]->of_name, node->of[0], node->of[1], how, ret);
		if (err == ERR_NONE && how.negate) {
			*ret = expr_negate(lowering, *ret);
			(*ret)->unequal = true;
		}
		return err;
	}
	*ret = expr_new(lowering, has_names(node) ? DAG_ASK : DAG_CONST);
	(*ret)->asked = node;
	(*ret)->value = (*ret)->kind == DAG_CONST && constant(node);
	(*ret)->spot = node->spot;
	return ERR_NONE;
}
