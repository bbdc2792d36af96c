/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of conditions. Each parenthesis and each ! is one level of recursion, limited by DEPTH_MAX. */
#include "lang/dag_expr_internal.h"

#define DEPTH_MAX 48

/* ---- places of errors ---- */

static struct dag_spot spot_of(const struct expr_parser *parser, size_t at, size_t len)
{
	const struct dag_spot *whole = &parser->source->spot;

	if (whole->len != parser->source->text.len)
		return *whole;
	return (struct dag_spot){ whole->at + at, len ? len : 1 };
}

enum err expr_fail_at(const struct expr_parser *parser, size_t at, size_t len, enum err code, const char *text)
{
	struct dag_spot spot = spot_of(parser, at, len);

	return dag_fail(parser->source->reader, spot.at, spot.len, code, "%s", text);
}

/* ---- characters ---- */

int expr_peek(const struct expr_parser *parser)
{
	return parser->at < parser->source->text.len ? parser->source->text.data[parser->at] : -1;
}

static void expr_skip(struct expr_parser *parser)
{
	while (expr_peek(parser) == ' ' || expr_peek(parser) == '\t' || expr_peek(parser) == '\n' || expr_peek(parser) == '\r')
		parser->at++;
}

bool expr_take(struct expr_parser *parser, const char *symbol)
{
	struct slice text = parser->source->text;
	size_t len = strlen(symbol);

	expr_skip(parser);
	if (text.len - parser->at < len || memcmp(text.data + parser->at, symbol, len) != 0)
		return false;
	parser->at += len;
	return true;
}

bool expr_in_word(int byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '.' || byte == '-';
}

/* Move to the end of a word. A ${..} belongs to the word up to its closing brace. */
static void word_end(struct expr_parser *parser)
{
	struct slice text = parser->source->text;

	while (parser->at < text.len) {
		if (expr_in_word(text.data[parser->at])) {
			parser->at++;
		} else if (text.data[parser->at] == '$' && parser->at + 1 < text.len && text.data[parser->at + 1] == '{') {
			const uint8_t *end = memchr(text.data + parser->at, '}', text.len - parser->at);

			parser->at = end ? (size_t)(end - text.data) + 1 : text.len;
		} else {
			return;
		}
	}
}

static enum err put_in(const struct expr_parser *parser, struct operand *operand)
{
	if (operand->text.len == 0 || memmem(operand->text.data, operand->text.len, "${", 2) == NULL)
		return ERR_NONE;
	operand->put_in = true;
	if (parser->source->expand_cb == NULL)
		return dag_fail(parser->source->reader, operand->spot.at, operand->spot.len, ERR_SYNTAX,
				"parameters can't be used here");
	return parser->source->expand_cb(parser->source->arg, operand->text, operand->spot, &operand->text);
}

enum err expr_operand(struct expr_parser *parser, const char *what, struct operand *ret)
{
	struct slice text = parser->source->text;
	struct operand operand = { 0 };
	size_t start;
	int quote;

	expr_skip(parser);
	start = parser->at;
	quote = expr_peek(parser);
	if (quote == '\'' || quote == '"') {
		const uint8_t *end = memchr(text.data + start + 1, quote, text.len - start - 1);

		if (end == NULL)
			return expr_fail_at(parser, start, 1, ERR_SYNTAX, "this quote isn't closed");
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

/* ---- nodes ---- */

struct dag_expr *expr_new(struct expr_parser *parser, enum dag_expr_kind kind)
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

/* ---- the grammar ---- */

static enum err read_either(struct expr_parser *parser, struct dag_expr **ret);

static enum err read_value(struct expr_parser *parser, struct dag_expr **ret)
{
	struct operand operand;
	struct comparison how;
	size_t start;
	enum err err;

	expr_skip(parser);
	start = parser->at;
	err = expr_operand(parser, parser->source->own ? "a result of the pass (ok, failed or timed_out)" : "a job's name", &operand);
	if (err != ERR_NONE)
		return err;
	if (!operand.quoted && !parser->source->own && expr_peek(parser) == '[')
		return expr_fail_at(parser, parser->at, 1, ERR_SYNTAX, "a condition must name the whole fan-out, not one of its jobs");
	if (expr_peek(parser) != ':' && ask_comparison_begins(parser, &how))
		return ask_comparison(parser, &operand, how, ret);
	if (!operand.quoted && ask_name(parser, operand.text) == NULL && expr_peek(parser) != ':' &&
	    (slice_eq(operand.text, slice_str("true")) || slice_eq(operand.text, slice_str("false")))) {
		*ret = expr_new(parser, DAG_CONST);
		(*ret)->value = operand.text.len == 4;
		return ERR_NONE;
	}
	if (operand.quoted)
		return expr_fail_at(parser, start, parser->at - start, ERR_SYNTAX, "a text must be compared with "
			"another text: == or != is missing");
	return parser->source->own ? ask_own(parser, &operand, ret) : ask_state(parser, &operand, ret);
}

static enum err read_unary(struct expr_parser *parser, struct dag_expr **ret)
{
	struct dag_expr *negated;
	size_t start;
	enum err err;

	expr_skip(parser);
	start = parser->at;
	if (expr_peek(parser) != '!' && expr_peek(parser) != '(')
		return read_value(parser, ret);
	if (++parser->depth > DEPTH_MAX)
		return expr_fail_at(parser, start, 1, ERR_TOO_LARGE, "this condition is nested too deep");
	if (expr_take(parser, "(")) {
		err = read_either(parser, ret);
		if (err == ERR_NONE && !expr_take(parser, ")"))
			err = expr_fail_at(parser, start, 1, ERR_SYNTAX, "this parenthesis isn't closed");
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

/* Read parts joined by one operator (&& or ||). */
static enum err read_parts(struct expr_parser *parser, const char *symbol,
			   enum err (*read)(struct expr_parser *parser, struct dag_expr **ret), struct dag_expr **ret)
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
	} while (expr_take(parser, symbol));
	*ret = count == 1 ? of[0] : dag_expr_gate(parser->arena, symbol[0] == '&' ? count : 1, of, count);
	return ERR_NONE;
}

static enum err read_both(struct expr_parser *parser, struct dag_expr **ret)
{
	return read_parts(parser, "&&", read_unary, ret);
}

static enum err read_either(struct expr_parser *parser, struct dag_expr **ret)
{
	return read_parts(parser, "||", read_both, ret);
}

enum err dag_expr_read(const struct expr_source *source, struct dag_expr **ret)
{
	struct expr_parser parser = { .source = source, .arena = source->reader->arena };
	enum err err = read_either(&parser, ret);

	if (err != ERR_NONE)
		return err;
	expr_skip(&parser);
	if (parser.at == source->text.len)
		return ERR_NONE;
	return expr_fail_at(&parser, parser.at, 1, ERR_SYNTAX, "&& or || is expected here");
}
