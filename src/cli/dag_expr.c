/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of conditions. Recursion is one level a parenthesis or a !, DEPTH_MAX at most. */
#include "cli/dag_expr.h"

#include "base/text.h"
#include "proto/limits.h"

#define DEPTH_MAX 48

struct parser {
	const struct expr_source *source;
	struct arena *arena;
	size_t at;
	unsigned depth;
};

struct operand {                         /* a word, or a text in quotes */
	struct slice text;
	struct dag_spot spot;
	bool quoted;
	bool put_in;                     /* a parameter stood there: it names no job */
};

static int cut(struct slice text)
{
	return (int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN);
}

/* ---- places ---- */

static struct dag_spot spot_of(const struct parser *parser, size_t at, size_t len)
{
	const struct dag_spot *whole = &parser->source->spot;

	if (whole->len != parser->source->text.len)
		return *whole;
	return (struct dag_spot){ whole->at + at, len ? len : 1 };
}

static enum err fail_at(const struct parser *parser, size_t at, size_t len, enum err code, const char *text)
{
	struct dag_spot spot = spot_of(parser, at, len);

	return dag_fail(parser->source->reader, spot.at, spot.len, code, "%s", text);
}

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

/* ---- characters ---- */

static int peek(const struct parser *parser)
{
	return parser->at < parser->source->text.len ? parser->source->text.data[parser->at] : -1;
}

static void skip(struct parser *parser)
{
	while (peek(parser) == ' ' || peek(parser) == '\t' || peek(parser) == '\n' || peek(parser) == '\r')
		parser->at++;
}

static bool take(struct parser *parser, const char *symbol)
{
	struct slice text = parser->source->text;
	size_t len = strlen(symbol);

	skip(parser);
	if (text.len - parser->at < len || memcmp(text.data + parser->at, symbol, len) != 0)
		return false;
	parser->at += len;
	return true;
}

static bool in_word(int byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '.' || byte == '-';
}

/* A ${..} is part of a word, up to its brace. */
static void word_end(struct parser *parser)
{
	struct slice text = parser->source->text;

	while (parser->at < text.len) {
		if (in_word(text.data[parser->at])) {
			parser->at++;
		} else if (text.data[parser->at] == '$' && parser->at + 1 < text.len && text.data[parser->at + 1] == '{') {
			const uint8_t *end = memchr(text.data + parser->at, '}', text.len - parser->at);

			parser->at = end ? (size_t)(end - text.data) + 1 : text.len;
		} else {
			return;
		}
	}
}

static enum err put_in(const struct parser *parser, struct operand *operand)
{
	if (operand->text.len == 0 || memmem(operand->text.data, operand->text.len, "${", 2) == NULL)
		return ERR_NONE;
	operand->put_in = true;
	if (parser->source->expand_cb == NULL)
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"there are no parameters here");
	return parser->source->expand_cb(parser->source->arg, operand->text, operand->spot, &operand->text);
}

static enum err read_operand(struct parser *parser, const char *what, struct operand *ret)
{
	struct slice text = parser->source->text;
	struct operand operand = { 0 };
	size_t start;
	int quote;

	skip(parser);
	start = parser->at;
	quote = peek(parser);
	if (quote == '\'' || quote == '"') {
		const uint8_t *end = memchr(text.data + start + 1, quote, text.len - start - 1);

		if (end == NULL)
			return fail_at(parser, start, 1, ERR_SYNTAX, "this quote isn't closed");
		parser->at = (size_t)(end - text.data) + 1;
		operand.quoted = true;
		operand.text = slice_make(text.data + start + 1, parser->at - start - 2);
	} else {
		word_end(parser);
		operand.text = slice_make(text.data + start, parser->at - start);
		operand.spot = spot_of(parser, start, 1);
		if (operand.text.len == 0)
			return dag_fail(parser->source->reader, operand.spot.at, operand.spot.len, ERR_SYNTAX,
					start == text.len ? "%s is missing at the end" : "%s is expected here", what);
	}
	operand.spot = spot_of(parser, start, parser->at - start);
	*ret = operand;
	return put_in(parser, ret);
}

/* ---- what asks ---- */

static struct dag_expr *expr_new(struct parser *parser, enum dag_expr_kind kind)
{
	struct dag_expr *expr = arena_zalloc(parser->arena, 1, sizeof(*expr));

	expr->kind = kind;
	return expr;
}

struct dag_expr *dag_expr_gate(struct arena *arena, uint64_t least, struct dag_expr **of, size_t count)
{
	struct dag_expr *gate = arena_zalloc(arena, 1, sizeof(*gate));

	*gate = (struct dag_expr){ .kind = DAG_GATE, .least = least, .of = of, .of_count = count };
	return gate;
}

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

static struct dag_name *name_find(const struct parser *parser, struct slice text)
{
	return parser->source->own ? NULL : dag_name_find(parser->source->reader, text);
}

static enum err no_such_result(const struct parser *parser, const struct operand *operand, struct slice word)
{
	return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_UNKNOWN_NAME,
			"a result is ok, failed, done, cancelled, skipped, timed_out or denied, not '%.*s'", cut(word),
			(const char *)word.data);
}

/* The name that a condition asks about. One that isn't here may be in the run that the jobs are added to. */
static enum err find_parent(const struct parser *parser, struct slice text, struct dag_spot spot, struct dag_name **ret)
{
	const struct expr_source *source = parser->source;
	struct dag_name *name = name_find(parser, text);

	if (name == NULL)
		return dag_unknown_need(source->reader, source->child, text, spot);
	if (name == source->child)
		return dag_fail(source->reader, spot.at, spot.len, ERR_CYCLE, "job '%.*s' needs itself", cut(text),
				(const char *)text.data);
	*ret = name;
	return ERR_NONE;
}

static enum err ask_state(struct parser *parser, const struct operand *operand, struct slice name, struct slice result,
			  struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(parser, DAG_STATE);
	struct dag_name *parent = NULL;
	enum err err = find_parent(parser, name, operand->spot, &parent);

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

/* "a", "a:failed" and "a.failed": a name may have dots itself, so the whole is looked for first. */
static enum err read_state(struct parser *parser, struct operand *operand, struct dag_expr **ret)
{
	struct slice text = operand->text;
	const uint8_t *dot = text.len ? memrchr(text.data, '.', text.len) : NULL;
	struct slice before, behind;
	uint32_t mask;

	if (peek(parser) == ':') {
		size_t start = ++parser->at;

		while (in_word(peek(parser)))
			parser->at++;
		behind = slice_make(parser->source->text.data + start, parser->at - start);
		if (behind.len == 0)
			return fail_at(parser, start, 1, ERR_SYNTAX, "a result is missing behind ':'");
		return ask_state(parser, operand, text, behind, ret);
	}
	if (name_find(parser, text) != NULL || dot == NULL)
		return ask_state(parser, operand, text, (struct slice){ 0 }, ret);
	before = slice_make(text.data, (size_t)(dot - text.data));
	behind = slice_make(dot + 1, text.len - before.len - 1);
	if (slice_eq(behind, slice_str("code")) && name_find(parser, before) != NULL)
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"a code is compared with a number: %.*s == 0", cut(text), (const char *)text.data);
	if (name_find(parser, before) != NULL && !mask_by_name(behind, &mask))
		return no_such_result(parser, operand, behind);
	return ask_state(parser, operand, mask_by_name(behind, &mask) ? before : text, behind, ret);
}

/* ---- comparisons ---- */

struct comparison {
	enum expr_compare compare;
	bool negate;                     /* != */
};

static bool take_comparison(struct parser *parser, struct comparison *ret)
{
	static const struct { const char *symbol; struct comparison is; } symbols[] = {
		{ "==", { EXPR_EQ, false } }, { "!=", { EXPR_EQ, true } }, { "<=", { EXPR_LE, false } },
		{ ">=", { EXPR_GE, false } }, { "<", { EXPR_LT, false } }, { ">", { EXPR_GT, false } },
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (take(parser, symbols[i].symbol)) {
			*ret = symbols[i].is;
			return true;
		}
	}
	return false;
}

/* The job whose code is meant, or NULL. */
static struct dag_name *code_of(const struct parser *parser, const struct operand *operand)
{
	struct slice text = operand->text;

	if (operand->quoted || operand->put_in || text.len < 6 || name_find(parser, text) != NULL ||
	    memcmp(text.data + text.len - 5, ".code", 5) != 0)
		return NULL;
	return name_find(parser, slice_make(text.data, text.len - 5));
}

static enum err code_expr(struct parser *parser, uint32_t parent, const struct operand *left, const struct operand *right,
			  struct comparison how, struct dag_expr **ret)
{
	struct dag_expr *expr = expr_new(parser, DAG_CODE);
	uint64_t code;

	if (!text_parse_u64(right->text, &code) || code > UINT8_MAX)
		return dag_fail(parser->source->reader, right->spot.at, right->spot.len, ERR_INVALID,
				"an exit code is a number from 0 to 255, not '%.*s'", cut(right->text),
				(const char *)right->text.data);
	expr->parent = parent;
	expr->compare = how.compare;
	expr->code = code;
	expr->spot = left->spot;
	*ret = expr;
	return ERR_NONE;
}

static enum err compare_code(struct parser *parser, struct dag_name *parent, const struct operand *left,
			     const struct operand *right, struct comparison how, struct dag_expr **ret)
{
	struct dag_reader *reader = parser->source->reader;

	if (parent == parser->source->child)
		return dag_fail(reader, left->spot.at, left->spot.len, ERR_CYCLE, "job '%.*s' needs itself",
				(int)parent->node.name.len, (const char *)parent->node.name.data);
	if (parent->node.fan)
		return dag_fail(reader, left->spot.at, left->spot.len, ERR_INVALID,
				"'%.*s' is a fan-out: its jobs have a code each", (int)parent->node.name.len,
				(const char *)parent->node.name.data);
	return code_expr(parser, parent->index, left, right, how, ret);
}

static enum err compare_texts(struct parser *parser, const struct operand *left, const struct operand *right,
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
				"only numbers are larger or smaller, not '%.*s'", cut(wrong->text),
				(const char *)wrong->text.data);
	}
	expr->compare = how.compare;
	expr->left = left->text;
	expr->right = right->text;
	*ret = expr;
	return ERR_NONE;
}

/* A word that is neither in quotes nor a number nor put in was meant for a job. */
static enum err check_text(const struct parser *parser, const struct operand *operand)
{
	uint64_t number;
	struct slice text = operand->text;

	if (operand->quoted || operand->put_in || text_parse_u64(text, &number))
		return ERR_NONE;
	if (parser->source->own)
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"'%.*s' is compared: what a pass ended with is 'code', as in code == 3", cut(text),
				(const char *)text.data);
	if (text.len > 5 && memcmp(text.data + text.len - 5, ".code", 5) == 0)
		return dag_unknown_need(parser->source->reader, parser->source->child, slice_make(text.data, text.len - 5),
					operand->spot);
	return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
			"'%.*s' is compared: a job's code is '%.*s.code', a text stands in quotes", cut(text),
			(const char *)text.data, cut(text), (const char *)text.data);
}

static enum err read_comparison(struct parser *parser, const struct operand *left, struct comparison how,
				struct dag_expr **ret)
{
	struct dag_name *parent = code_of(parser, left);
	struct operand right;
	enum err err = read_operand(parser, "what it is compared with", &right);

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

/* ---- a job's own end ---- */

static enum err read_own(struct parser *parser, const struct operand *operand, struct dag_expr **ret)
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
				"a code is compared with a number: code == 0");
	return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_UNKNOWN_NAME,
			"a pass is ok, failed or timed_out, or has a code as in code == 3; not '%.*s'", cut(text),
			(const char *)text.data);
}

/* ---- the grammar ---- */

static enum err read_either(struct parser *parser, struct dag_expr **ret);

static enum err read_value(struct parser *parser, struct dag_expr **ret)
{
	struct operand operand;
	struct comparison how;
	size_t start;
	enum err err;

	skip(parser);
	start = parser->at;
	err = read_operand(parser, parser->source->own ? "a result of the pass" : "a job's name", &operand);
	if (err != ERR_NONE)
		return err;
	if (peek(parser) != ':' && take_comparison(parser, &how))
		return read_comparison(parser, &operand, how, ret);
	if (!operand.quoted && name_find(parser, operand.text) == NULL && peek(parser) != ':' &&
	    (slice_eq(operand.text, slice_str("true")) || slice_eq(operand.text, slice_str("false")))) {
		*ret = expr_new(parser, DAG_CONST);
		(*ret)->value = operand.text.len == 4;
		return ERR_NONE;
	}
	if (operand.quoted)
		return fail_at(parser, start, parser->at - start, ERR_SYNTAX, "a text is compared with another: == or != is missing");
	return parser->source->own ? read_own(parser, &operand, ret) : read_state(parser, &operand, ret);
}

static enum err read_unary(struct parser *parser, struct dag_expr **ret)
{
	struct dag_expr *negated;
	size_t start;
	enum err err;

	skip(parser);
	start = parser->at;
	if (peek(parser) != '!' && peek(parser) != '(')
		return read_value(parser, ret);
	if (++parser->depth > DEPTH_MAX)
		return fail_at(parser, start, 1, ERR_TOO_LARGE, "this is nested too deep");
	if (take(parser, "(")) {
		err = read_either(parser, ret);
		if (err == ERR_NONE && !take(parser, ")"))
			err = fail_at(parser, start, 1, ERR_SYNTAX, "this parenthesis isn't closed");
	} else {
		parser->at++;
		negated = expr_new(parser, DAG_NOT);
		negated->of = arena_zalloc(parser->arena, 1, sizeof(*negated->of));
		negated->of_count = 1;
		err = read_unary(parser, negated->of);
		*ret = negated;
	}
	parser->depth--;
	return err;
}

/* Parts with a symbol between them. */
static enum err read_parts(struct parser *parser, const char *symbol,
			   enum err (*read)(struct parser *parser, struct dag_expr **ret), struct dag_expr **ret)
{
	struct dag_expr **of = NULL;
	size_t count = 0, room = 0;

	do {
		struct dag_expr *part = NULL;
		enum err err = read(parser, &part);

		if (err != ERR_NONE)
			return err;
		if (count == room) {
			struct dag_expr **more = arena_zalloc(parser->arena, room ? 2 * room : 4, sizeof(*more));

			if (count > 0)
				memcpy(more, of, count * sizeof(struct dag_expr *));
			of = more;
			room = room ? 2 * room : 4;
		}
		of[count++] = part;
	} while (take(parser, symbol));
	*ret = count == 1 ? of[0] : dag_expr_gate(parser->arena, symbol[0] == '&' ? count : 1, of, count);
	return ERR_NONE;
}

static enum err read_both(struct parser *parser, struct dag_expr **ret)
{
	return read_parts(parser, "&&", read_unary, ret);
}

static enum err read_either(struct parser *parser, struct dag_expr **ret)
{
	return read_parts(parser, "||", read_both, ret);
}

enum err dag_expr_read(const struct expr_source *source, struct dag_expr **ret)
{
	struct parser parser = { .source = source, .arena = source->reader->arena };
	enum err err = read_either(&parser, ret);

	if (err != ERR_NONE)
		return err;
	skip(&parser);
	if (parser.at == source->text.len)
		return ERR_NONE;
	return fail_at(&parser, parser.at, 1, ERR_SYNTAX, "&& or || is expected here");
}
