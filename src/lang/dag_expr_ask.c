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

static bool mask_by_name(struct slice word, uint32_t *ret)
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

struct dag_name *ask_name(const struct expr_parser *parser, struct slice text)
{
	return parser->source->own ? NULL : dag_name_find(parser->source->reader, text);
}

/* Return the place of a part of the operand; of the whole operand, if it isn't written as it is read. */
static struct dag_spot part_spot(const struct operand *operand, struct slice part)
{
	bool within = part.data >= operand->text.data && part.data + part.len <= operand->text.data + operand->text.len;

	if (!within || part.len == 0 || operand->spot.len != operand->text.len)
		return operand->spot;
	return (struct dag_spot){ operand->spot.at + (size_t)(part.data - operand->text.data), part.len };
}

static enum err no_such_result(const struct expr_parser *parser, const struct operand *operand, struct slice word)
{
	struct dag_spot spot = part_spot(operand, word);

	return dag_fail(parser->source->reader, spot.at, spot.len, ERR_UNKNOWN_NAME,
			"unknown result '%.*s'; it must be ok, failed, done, cancelled, skipped, timed_out or denied", cut(word),
			(const char *)word.data);
}

/*
 * Find the job that a condition mentions. A name that the graph doesn't define may be in the run to which jobs are
 * added.
 */
static enum err find_parent(const struct expr_parser *parser, struct slice text, struct dag_spot spot, struct dag_name **ret)
{
	const struct expr_source *source = parser->source;
	struct dag_name *name = ask_name(parser, text);

	if (name == NULL)
		return dag_unknown_need(source->reader, source->child, text, spot);
	if (name == source->child)
		return dag_fail(source->reader, spot.at, spot.len, ERR_CYCLE, "job '%.*s' needs itself", cut(text),
				(const char *)text.data);
	*ret = name;
	return ERR_NONE;
}

static enum err state_expr(struct expr_parser *parser, const struct operand *operand, struct slice name, struct slice result,
			   struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(parser, DAG_STATE);
	struct dag_name *parent = NULL;
	enum err err = find_parent(parser, name, part_spot(operand, name), &parent);

	if (err != ERR_NONE)
		return err;
	if (!mask_by_name(result.len ? result : slice_str("ok"), &expr->mask))
		return no_such_result(parser, operand, result);
	expr->said = result.len > 0;
	expr->parent = parent->index;
	expr->spot = operand->spot;
	*ret = expr;
	return ERR_NONE;
}

/* Parse "a", "a:failed" or "a.failed". Names may contain dots, so the whole word is looked up first. */
enum err ask_state(struct expr_parser *parser, struct operand *operand, struct dag_expr **ret)
{
	struct slice text = operand->text;
	const uint8_t *dot = text.len ? memrchr(text.data, '.', text.len) : NULL;
	struct slice before, behind;
	uint32_t mask;

	if (expr_peek(parser) == ':') {
		size_t start = ++parser->at;

		while (expr_in_word(expr_peek(parser)))
			parser->at++;
		behind = slice_make(parser->source->text.data + start, parser->at - start);
		if (behind.len == 0)
			return expr_fail_at(parser, start, 1, ERR_SYNTAX, "a result is missing after ':'");
		return state_expr(parser, operand, text, behind, ret);
	}
	if (ask_name(parser, text) != NULL || dot == NULL)
		return state_expr(parser, operand, text, (struct slice){ 0 }, ret);
	before = slice_make(text.data, (size_t)(dot - text.data));
	behind = slice_make(dot + 1, text.len - before.len - 1);
	if (slice_eq(behind, slice_str("code")) && ask_name(parser, before) != NULL)
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"an exit code must be compared with a number: %.*s == 0", cut(text), (const char *)text.data);
	if (ask_name(parser, before) != NULL && !mask_by_name(behind, &mask))
		return no_such_result(parser, operand, behind);
	return state_expr(parser, operand, mask_by_name(behind, &mask) ? before : text, behind, ret);
}

/* ---- comparisons ---- */

bool ask_comparison_begins(struct expr_parser *parser, struct comparison *ret)
{
	static const struct { const char *symbol; struct comparison is; } symbols[] = {
		{ "==", { EXPR_EQ, false } }, { "!=", { EXPR_EQ, true } }, { "<=", { EXPR_LE, false } },
		{ ">=", { EXPR_GE, false } }, { "<", { EXPR_LT, false } }, { ">", { EXPR_GT, false } },
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (expr_take(parser, symbols[i].symbol)) {
			*ret = symbols[i].is;
			return true;
		}
	}
	return false;
}

/* Return the job in NAME.code, or NULL if the operand isn't of that form. */
static struct dag_name *code_of(const struct expr_parser *parser, const struct operand *operand)
{
	struct slice text = operand->text;

	if (operand->quoted || operand->put_in || text.len < 6 || ask_name(parser, text) != NULL ||
	    memcmp(text.data + text.len - 5, ".code", 5) != 0)
		return NULL;
	return ask_name(parser, slice_make(text.data, text.len - 5));
}

static enum err code_expr(struct expr_parser *parser, uint32_t parent, const struct operand *left, const struct operand *right,
			  struct comparison how, struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(parser, DAG_CODE);
	uint64_t code;

	if (!text_parse_u64(right->text, &code) || code > UINT8_MAX)
		return dag_fail(parser->source->reader, right->spot.at, right->spot.len, ERR_INVALID,
				"an exit code must be a number from 0 to 255, not '%.*s'", cut(right->text),
				(const char *)right->text.data);
	expr->parent = parent;
	expr->compare = how.compare;
	expr->code = code;
	expr->spot = left->spot;
	*ret = expr;
	return ERR_NONE;
}

static enum err compare_code(struct expr_parser *parser, struct dag_name *parent, const struct operand *left,
			     const struct operand *right, struct comparison how, struct dag_expr **ret)
{
	struct dag_reader *reader = parser->source->reader;

	if (parent == parser->source->child)
		return dag_fail(reader, left->spot.at, left->spot.len, ERR_CYCLE, "job '%.*s' needs itself",
				(int)parent->node.name.len, (const char *)parent->node.name.data);
	if (parent->node.fan)
		return dag_fail(reader, left->spot.at, left->spot.len, ERR_INVALID,
				"'%.*s' is a fan-out: each of its jobs has its own exit code, so name one job", (int)parent->node.name.len,
				(const char *)parent->node.name.data);
	return code_expr(parser, parent->index, left, right, how, ret);
}

static enum err compare_texts(struct expr_parser *parser, const struct operand *left, const struct operand *right,
			      struct comparison how, struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(parser, DAG_CONST);
	uint64_t one, other;

	if (text_parse_u64(left->text, &one) && text_parse_u64(right->text, &other)) {
		expr->value = expr_code_meets(how.compare, one, other);
	} else if (how.compare == EXPR_EQ) {
		expr->value = slice_eq(left->text, right->text);
	} else {
		const struct operand *wrong = text_parse_u64(left->text, &one) ? right : left;

		return dag_fail(parser->source->reader, wrong->spot.at, wrong->spot.len, ERR_INVALID,
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
static enum err check_text(const struct expr_parser *parser, const struct operand *operand)
{
	uint64_t number;
	struct slice text = operand->text;

	if (operand->quoted || operand->put_in || text_parse_u64(text, &number))
		return ERR_NONE;
	if (parser->source->own)
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"'%.*s' can't be compared here; compare the exit code of the pass, as in code == 3", cut(text),
				(const char *)text.data);
	if (text.len > 5 && memcmp(text.data + text.len - 5, ".code", 5) == 0)
		return dag_unknown_need(parser->source->reader, parser->source->child, slice_make(text.data, text.len - 5),
					operand->spot);
	return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
			"'%.*s' can't be compared; write %.*s.code for its exit code, or put a text in quotes", cut(text),
			(const char *)text.data, cut(text), (const char *)text.data);
}

enum err ask_comparison(struct expr_parser *parser, const struct operand *left, struct comparison how,
			struct dag_expr **ret)
{
	struct dag_name *parent = code_of(parser, left);
	struct operand right;
	enum err err = expr_operand(parser, "the value to compare with", &right);

	if (err != ERR_NONE)
		return err;
	if (parser->source->own && !left->quoted && slice_eq(left->text, slice_str("code"))) {
		err = code_expr(parser, 0, left, &right, how, ret);
	} else if (parent != NULL) {
		err = compare_code(parser, parent, left, &right, how, ret);
	} else {
		err = check_text(parser, left);
		if (err == ERR_NONE)
			err = check_text(parser, &right);
		if (err == ERR_NONE)
			err = compare_texts(parser, left, &right, how, ret);
	}
	if (err == ERR_NONE && how.negate) {
		struct dag_expr *negated = expr_new(parser, DAG_NOT);

		negated->of = arena_zalloc(parser->arena, 1, sizeof(*negated->of));
		negated->of[0] = *ret;
		negated->of_count = 1;
		negated->unequal = true;
		*ret = negated;
	}
	return err;
}

/* ---- conditions about the job's own end ---- */

enum err ask_own(struct expr_parser *parser, const struct operand *operand, struct dag_expr **ret)
{
	static const char *const words[] = { "ok", "failed", "timed_out" };
	struct slice text = operand->text;

	*ret = expr_new(parser, DAG_STATE);
	(*ret)->spot = operand->spot;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_eq(text, slice_str(words[i])) && mask_by_name(text, &(*ret)->mask))
			return ERR_NONE;
	if (slice_eq(text, slice_str("code")))
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"an exit code must be compared with a number: code == 0");
	return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_UNKNOWN_NAME,
			"a pass has the results ok, failed and timed_out, and an exit code as in code == 3; not "
			"'%.*s'", cut(text),
			(const char *)text.data);
}
