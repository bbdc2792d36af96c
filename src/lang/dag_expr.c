/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns the tree of an expression into a condition. How parents ended and their exit codes become steps of their own, which the
 * core answers one by one; everything else becomes a question about values.
 */
#include "lang/dag_expr_internal.h"

#include "proto/limits.h"

/* ---- nodes ---- */

struct dag_expr *expr_new(const struct lowering *lowering, enum dag_expr_kind kind)
{
	struct dag_expr *expr = arena_zalloc(lowering->arena, 1, sizeof(*expr));

	expr->kind = kind;
	return expr;
}

struct dag_expr *expr_negate(const struct lowering *lowering, struct dag_expr *of)
{
	struct dag_expr *negated = expr_new(lowering, DAG_NOT);

	negated->of = arena_zalloc(lowering->arena, 1, sizeof(*negated->of));
	negated->of[0] = of;
	negated->of_count = 1;
	return negated;
}

struct dag_expr *dag_expr_gate(struct arena *arena, uint64_t least, struct dag_expr **of, size_t count)
{
	struct dag_expr *gate = arena_zalloc(arena, 1, sizeof(*gate));

	*gate = (struct dag_expr){ .kind = DAG_GATE, .least = least, .of = of, .of_count = count };
	return gate;
}

/* ---- from the tree ---- */

static enum err lower(const struct lowering *lowering, struct expr_node *node, struct dag_expr **ret);

static enum err lower_word(const struct lowering *lowering, struct expr_node *word, struct dag_expr **ret)
{
	if (is_value_name(lowering, word))
		return ask_value(lowering, word, ret);
	if (!word->asks_result && !word->put_in && ask_name(lowering, word->text) == NULL &&
	    (slice_eq(word->text, slice_str("true")) || slice_eq(word->text, slice_str("false")))) {
		*ret = expr_new(lowering, DAG_CONST);
		(*ret)->value = word->text.len == 4;
		return ERR_NONE;
	}
	return lowering->source->own ? ask_own(lowering, word, ret) : ask_state(lowering, word, ret);
}

/* Is this a word or text of a condition that asks about no values: a job's exit code, a number, a text? */
static bool is_plain(const struct lowering *lowering, const struct expr_node *node)
{
	return node->kind == EXPR_STRING || (node->kind == EXPR_WORD && !node->asks_result && !is_value_name(lowering, node));
}

static enum err lower_pair(const struct lowering *lowering, struct expr_node *pair, struct dag_expr **ret)
{
	bool ordering = expr_operators[pair->op].level == EXPR_LEVEL_COMPARE && pair->op != EXPR_OP_IN && pair->op != EXPR_OP_GLOB &&
			pair->op != EXPR_OP_MATCHES;

	if (ordering && is_plain(lowering, pair->of[0]) && is_plain(lowering, pair->of[1]))
		return ask_comparison(lowering, pair, ret);
	return ask_value(lowering, pair, ret);
}

static enum err lower_joined(const struct lowering *lowering, const struct expr_node *node, struct dag_expr **ret)
{
	struct dag_expr **of = arena_zalloc(lowering->arena, node->of_count, sizeof(struct dag_expr *));

	for (size_t i = 0; i < node->of_count; i++) {
		enum err err = lower(lowering, node->of[i], &of[i]);

		if (err != ERR_NONE)
			return err;
	}
	*ret = dag_expr_gate(lowering->arena, node->op == EXPR_OP_AND ? node->of_count : 1, of, node->of_count);
	return ERR_NONE;
}

static enum err lower(const struct lowering *lowering, struct expr_node *node, struct dag_expr **ret)
{
	struct dag_expr *of = NULL;
	enum err err;

	switch (node->kind) {
	case EXPR_WORD:
		return lower_word(lowering, node, ret);
	case EXPR_JOINED:
		return lower_joined(lowering, node, ret);
	case EXPR_PAIR:
		return lower_pair(lowering, node, ret);
	case EXPR_NOT_OF:
		err = lower(lowering, node->of[0], &of);
		if (err == ERR_NONE)
			*ret = expr_negate(lowering, of);
		return err;
	case EXPR_STRING:
	case EXPR_ITEMS:
	case EXPR_CALL_OF:
		break;
	}
	return ask_value(lowering, node, ret);
}

static size_t questions(const struct dag_expr *expr)
{
	size_t count = expr->kind == DAG_ASK;

	for (size_t i = 0; i < expr->of_count; i++)
		count += questions(expr->of[i]);
	return count;
}

enum err dag_expr_read(const struct expr_source *source, struct dag_expr **ret)
{
	struct lowering lowering = { .source = source, .arena = source->reader->arena };
	const struct expr_scope scope = {
		.operand = source->own ? "a result of the pass (ok, failed or timed_out)" : "a job's name", .joint = "&& or || is expected here",
		.results = !source->own, .name_cb = value_name, .unknown_cb = value_unknown, .arg = &lowering,
	};
	const struct expr_input input = {
		.reader = source->reader, .text = source->text, .spot = source->spot, .scope = &scope, .expand_cb = source->expand_cb,
		.arg = source->arg,
	};
	struct expr_node *node = NULL;
	enum err err = expr_parse(&input, &node);

	lowering.scope = &scope;
	if (err == ERR_NONE)
		err = lower(&lowering, node, ret);
	if (err == ERR_NONE && questions(*ret) > LIMIT_EXPR_ASKS_MAX)
		return dag_fail(source->reader, source->spot.at, source->spot.len, ERR_TOO_LARGE,
				"a condition may ask at most %d questions about values", LIMIT_EXPR_ASKS_MAX);
	return err;
}
