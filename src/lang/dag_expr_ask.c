/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The questions in a condition: how a parent ended, its exit code, how the job's own pass ended, whether two texts are
 * equal.
 */
#include "lang/dag_expr_internal.h"

#include "base/text.h"
#include "proto/limits.h"

static int cut(struct slice text)
{
	return (int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN);
}

/* ---- names ---- */

enum err dag_unknown_need(struct dag_reader *reader, const struct dag_name *child, struct slice text, struct dag_spot spot)
{
	size_t best = text_near(text.len);
	const struct dag_name *nearest = NULL;
	enum err err = dag_ask_failed(reader);

	if (err != ERR_NONE)
		return err;
	err = dag_fail(reader, spot.at, spot.len, ERR_UNKNOWN_NAME, "job '%.*s' needs '%.*s', which does not exist",
				(int)child->node.name.len, (const char *)child->node.name.data, cut(text),
				(const char *)text.data);

	for (size_t i = 0; i < reader->name_count; i++) {
		const struct dag_name *name = reader->list[i];
		size_t distance = text_distance(text, name->node.name, best);

		if (distance < best && name != child) {
			best = distance;
			nearest = name;
		}
	}
	if (nearest != NULL)
		error_next(reader->error, "did you mean '%.*s'?", (int)nearest->node.name.len,
			   (const char *)nearest->node.name.data);
	else
		dag_tell_near(reader, text);
	return err;
}

/* ---- results ---- */

bool mask_by_name(struct slice word, uint32_t *ret)
{
	static const struct { const char *word; uint32_t mask; } states[] = {
		{ "cancelled", 1u << STATE_CANCELLED }, { "skipped", 1u << STATE_SKIPPED },
		{ "timed_out", 1u << STATE_TIMED_OUT }, { "denied", 1u << STATE_DENIED },
	};
	static const char *const triggers[] = { "ok", "failed", "done" };

	for (int i = 0; i < 3; i++) {
		if (slice_eq(word, slice_str(triggers[i]))) {
			*ret = expr_mask((enum trigger)i);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (slice_eq(word, slice_str(states[i].word))) {
			*ret = states[i].mask;
			return true;
		}
	}
	return false;
}

struct dag_name *ask_name(const struct lowering *lowering, struct slice text)
{
	return lowering->source->own ? NULL : dag_name_find(lowering->source->reader, text);
}

/* Return the place of a part of the operand; of the whole operand, if it isn't written as it is read. */
static struct dag_spot part_spot(const struct expr_node *operand, struct slice part)
{
	bool within = part.data >= operand->text.data && part.data + part.len <= operand->text.data + operand->text.len;

	if (!within || part.len == 0 || operand->spot.len != operand->text.len)
		return operand->spot;
	return (struct dag_spot){ operand->spot.at + (size_t)(part.data - operand->text.data), part.len };
}

enum err no_such_result(const struct lowering *lowering, const struct expr_node *operand, struct slice word)
{
	struct dag_spot spot = part_spot(operand, word);

	return dag_fail(lowering->source->reader, spot.at, spot.len, ERR_UNKNOWN_NAME,
			"unknown result '%.*s'; it must be ok, failed, done, cancelled, skipped, timed_out or denied", cut(word),
			(const char *)word.data);
}

/*
 * Find the job that a condition mentions. A name that the graph doesn't define may be in the run to which jobs are
 * added.
 */
static enum err find_parent(const struct lowering *lowering, struct slice text, struct dag_spot spot, struct dag_name **ret)
{
	const struct expr_source *source = lowering->source;
	struct dag_name *name = ask_name(lowering, text);

	if (name == NULL)
		return dag_unknown_need(source->reader, source->child, text, spot);
	if (name == source->child)
		return dag_fail(source->reader, spot.at, spot.len, ERR_CYCLE, "job '%.*s' needs itself", cut(text),
				(const char *)text.data);
	*ret = name;
	return ERR_NONE;
}

static enum err state_expr(const struct lowering *lowering, const struct expr_node *operand, struct slice name, struct slice result,
			   struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(lowering, DAG_STATE);
	struct dag_name *parent = NULL;
	enum err err = find_parent(lowering, name, part_spot(operand, name), &parent);

	if (err != ERR_NONE)
		return err;
	if (!mask_by_name(result.len ? result : slice_str("ok"), &expr->mask))
		return no_such_result(lowering, operand, result);
	expr->said = result.len > 0;
	expr->parent = parent->index;
	expr->spot = operand->spot;
	*ret = expr;
	return ERR_NONE;
}

/* Parse "a", "a:failed" or "a.failed". Names may contain dots, so the whole word is looked up first. */
enum err ask_state(const struct lowering *lowering, const struct expr_node *operand, struct dag_expr **ret)
{
	struct slice text = operand->text;
	const uint8_t *dot = text.len ? memrchr(text.data, '.', text.len) : NULL;
	struct slice before, behind;
	uint32_t mask;

	if (operand->asks_result)
		return state_expr(lowering, operand, text, operand->result, ret);
	if (ask_name(lowering, text) != NULL || dot == NULL)
		return state_expr(lowering, operand, text, (struct slice){ 0 }, ret);
	before = slice_make(text.data, (size_t)(dot - text.data));
	behind = slice_make(dot + 1, text.len - before.len - 1);
	if (slice_eq(behind, slice_str("code")) && ask_name(lowering, before) != NULL)
		return dag_fail(lowering->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"an exit code must be compared with a number: %.*s == 0", cut(text), (const char *)text.data);
	if (ask_name(lowering, before) != NULL && !mask_by_name(behind, &mask))
		return no_such_result(lowering, operand, behind);
	return state_expr(lowering, operand, mask_by_name(behind, &mask) ? before : text, behind, ret);
}

/* ---- comparisons ---- */

struct comparison comparison_of(enum expr_operator op)
{
	switch (op) {
	case EXPR_OP_LT:
		return (struct comparison){ EXPR_LT, false };
	case EXPR_OP_LE:
		return (struct comparison){ EXPR_LE, false };
	case EXPR_OP_GT:
		return (struct comparison){ EXPR_GT, false };
	case EXPR_OP_GE:
		return (struct comparison){ EXPR_GE, false };
	default:
		return (struct comparison){ EXPR_EQ, op == EXPR_OP_NE };
	}
}

/* Return the job in NAME.code, or NULL if the operand isn't of that form. */
static struct dag_name *code_of(const struct lowering *lowering, const struct expr_node *operand)
{
	struct slice text = operand->text;

	if (operand->kind == EXPR_STRING || operand->put_in || text.len < 6 || ask_name(lowering, text) != NULL ||
	    memcmp(text.data + text.len - 5, ".code", 5) != 0)
		return NULL;
	return ask_name(lowering, slice_make(text.data, text.len - 5));
}

static enum err code_expr(const struct lowering *lowering, uint32_t parent, const struct expr_node *left, const struct expr_node *right,
			  struct comparison how, struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(lowering, DAG_CODE);
	uint64_t code;

	if (!text_parse_u64(right->text, &code) || code > UINT8_MAX)
		return dag_fail(lowering->source->reader, right->spot.at, right->spot.len, ERR_INVALID,
				"an exit code must be a number from 0 to 255, not '%.*s'", cut(right->text),
				(const char *)right->text.data);
	expr->parent = parent;
	expr->compare = how.compare;
	expr->code = code;
	expr->spot = left->spot;
	*ret = expr;
	return ERR_NONE;
}

enum err compare_code(const struct lowering *lowering, struct dag_name *parent, const struct expr_node *left,
			     const struct expr_node *right, struct comparison how, struct dag_expr **ret)
{
	struct dag_reader *reader = lowering->source->reader;

	if (parent == lowering->source->child)
		return dag_fail(reader, left->spot.at, left->spot.len, ERR_CYCLE, "job '%.*s' needs itself",
				(int)parent->node.name.len, (const char *)parent->node.name.data);
	if (parent->node.fan)
		return dag_fail(reader, left->spot.at, left->spot.len, ERR_INVALID,
				"'%.*s' is a fan-out: each of its jobs has its own exit code, so name one job", (int)parent->node.name.len,
				(const char *)parent->node.name.data);
	return code_expr(lowering, parent->index, left, right, how, ret);
}

static enum err compare_texts(const struct lowering *lowering, const struct expr_node *left, const struct expr_node *right,
			      struct comparison how, struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(lowering, DAG_CONST);
	uint64_t one, other;

	if (text_parse_u64(left->text, &one) && text_parse_u64(right->text, &other)) {
		expr->value = expr_code_meets(how.compare, one, other);
	} else if (how.compare == EXPR_EQ) {
		expr->value = slice_eq(left->text, right->text);
	} else {
		const struct expr_node *wrong = text_parse_u64(left->text, &one) ? right : left;

		return dag_fail(lowering->source->reader, wrong->spot.at, wrong->spot.len, ERR_INVALID,
				"only numbers can be compared with < or >, not '%.*s'", cut(wrong->text),
				(const char *)wrong->text.data);
	}
	expr->compare = how.compare;
	expr->left = left->text;
	expr->right = right->text;
	*ret = expr;
	return ERR_NONE;
}

/*
 * Check an operand of a text comparison. An unquoted word that is neither a number nor a parameter was probably meant
 * as a job's name.
 */
static enum err check_text(const struct lowering *lowering, const struct expr_node *operand)
{
	uint64_t number;
	struct slice text = operand->text;

	if (operand->kind == EXPR_STRING || operand->put_in || text_parse_u64(text, &number))
		return ERR_NONE;
	if (lowering->source->own)
		return dag_fail(lowering->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"'%.*s' can't be compared here; compare the exit code of the pass, as in code == 3", cut(text),
				(const char *)text.data);
	if (text.len > 5 && memcmp(text.data + text.len - 5, ".code", 5) == 0)
		return dag_unknown_need(lowering->source->reader, lowering->source->child, slice_make(text.data, text.len - 5),
					operand->spot);
	return dag_fail(lowering->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
			"'%.*s' can't be compared; write %.*s.code for its exit code, or put a text in quotes", cut(text),
			(const char *)text.data, cut(text), (const char *)text.data);
}

enum err ask_comparison(const struct lowering *lowering, const struct expr_node *pair, struct dag_expr **ret)
{
	const struct expr_node *left = pair->of[0], *right = pair->of[1];
	const struct comparison how = comparison_of(pair->op);
	struct dag_name *parent = code_of(lowering, left);
	enum err err;

	if (lowering->source->own && left->kind != EXPR_STRING && slice_eq(left->text, slice_str("code"))) {
		err = code_expr(lowering, 0, left, right, how, ret);
	} else if (parent != NULL) {
		err = compare_code(lowering, parent, left, right, how, ret);
	} else {
		err = check_text(lowering, left);
		if (err == ERR_NONE)
			err = check_text(lowering, right);
		if (err == ERR_NONE)
			err = compare_texts(lowering, left, right, how, ret);
	}
	if (err == ERR_NONE && how.negate) {
		*ret = expr_negate(lowering, *ret);
		(*ret)->unequal = true;
	}
	return err;
}

/* ---- conditions about the job's own end ---- */

enum err ask_own(const struct lowering *lowering, const struct expr_node *operand, struct dag_expr **ret)
{
	static const char *const words[] = { "ok", "failed", "timed_out" };
	struct slice text = operand->text;

	*ret = expr_new(lowering, DAG_STATE);
	(*ret)->spot = operand->spot;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_eq(text, slice_str(words[i])) && mask_by_name(text, &(*ret)->mask))
			return ERR_NONE;
	if (slice_eq(text, slice_str("code")))
		return dag_fail(lowering->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"an exit code must be compared with a number: code == 0");
	return dag_fail(lowering->source->reader, operand->spot.at, operand->spot.len, ERR_UNKNOWN_NAME,
			"a pass has the results ok, failed and timed_out, and an exit code as in code == 3; not "
			"'%.*s'", cut(text),
			(const char *)text.data);
}
