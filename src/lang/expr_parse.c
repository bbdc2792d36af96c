/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar of expressions:
 *
 *   either:  both { or both }          both: unary { and unary }
 *   unary:   not unary | pair          pair: sum [ comparison sum ]
 *   sum:     part { + part }           part: ( either ) | [ either, ... ] | function ( either ) | word | "text"
 *
 * A word has letters, digits, _ . - and ${..}. Words of operators count only where an operator can stand, so that a job may have
 * such a name. Each parenthesis and each not is one level of recursion, limited by DEPTH_MAX.
 */
#include "lang/expr.h"

#include "base/text.h"

#define DEPTH_MAX 48

struct parser {
	const struct expr_input *input;
	struct arena *arena;
	const char *what;                /* what the next operand is, for an error; NULL: as the scope says */
	size_t at;
	unsigned depth;
};

const struct expr_operator_info expr_operators[EXPR_OPERATOR_COUNT] = {
#define OPERATOR(NAME, LEVEL, step, symbol, other, example, meaning) \
	[EXPR_OP_##NAME] = { EXPR_LEVEL_##LEVEL, STEP_##step, symbol, other, example, meaning },
#include "lang/expr_words.def"
};

const struct expr_function_info expr_functions[EXPR_FUNCTION_COUNT] = {
#define FUNCTION(NAME, step, word, example, meaning) [EXPR_CALL_##NAME] = { STEP_##step, word, example, meaning },
#include "lang/expr_words.def"
};

/* ---- places of errors ---- */

static struct dag_spot spot_of(const struct parser *parser, size_t at, size_t len)
{
	const struct dag_spot *whole = &parser->input->spot;

	if (whole->len != parser->input->text.len)
		return *whole;
	return (struct dag_spot){ whole->at + at, len ? len : 1 };
}

static enum err fail_at(const struct parser *parser, size_t at, size_t len, enum err code, const char *text)
{
	struct dag_spot spot = spot_of(parser, at, len);

	return dag_fail(parser->input->reader, spot.at, spot.len, code, "%s", text);
}

/* ---- characters ---- */

static int peek(const struct parser *parser)
{
	return parser->at < parser->input->text.len ? parser->input->text.data[parser->at] : -1;
}

static void skip(struct parser *parser)
{
	while (peek(parser) == ' ' || peek(parser) == '\t' || peek(parser) == '\n' || peek(parser) == '\r')
		parser->at++;
}

static bool take(struct parser *parser, char symbol)
{
	skip(parser);
	if (peek(parser) != symbol)
		return false;
	parser->at++;
	return true;
}

static bool in_word(int byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '.' || byte == '-';
}

/* The end of the word that begins here. A ${..} belongs to the word up to its closing brace. */
static size_t word_end(const struct parser *parser, size_t at)
{
	struct slice text = parser->input->text;

	while (at < text.len) {
		if (in_word(text.data[at])) {
			at++;
		} else if (text.data[at] == '$' && at + 1 < text.len && text.data[at + 1] == '{') {
			const uint8_t *end = memchr(text.data + at, '}', text.len - at);

			at = end ? (size_t)(end - text.data) + 1 : text.len;
		} else {
			break;
		}
	}
	return at;
}

/* Does this symbol, which may be a word, stand at the present place? */
static bool stands(const struct parser *parser, const char *symbol)
{
	struct slice text = parser->input->text;
	size_t len = symbol ? strlen(symbol) : 0;

	if (len == 0 || text.len - parser->at < len || memcmp(text.data + parser->at, symbol, len) != 0)
		return false;
	return !in_word(symbol[0]) || word_end(parser, parser->at) == parser->at + len;
}

/* Take an operator of this level. */
static bool take_operator(struct parser *parser, enum expr_level level, enum expr_operator *ret)
{
	skip(parser);
	for (int op = 0; op < EXPR_OPERATOR_COUNT; op++) {
		const struct expr_operator_info *info = &expr_operators[op];
		const char *symbol = stands(parser, info->symbol) ? info->symbol : stands(parser, info->other) ? info->other : NULL;

		if (info->level != level || symbol == NULL)
			continue;
		parser->at += strlen(symbol);
		*ret = (enum expr_operator)op;
		return true;
	}
	return false;
}

/* ---- nodes ---- */

static struct expr_node *node_new(struct parser *parser, enum expr_node_kind kind)
{
	struct expr_node *node = arena_zalloc(parser->arena, 1, sizeof(*node));

	node->kind = kind;
	return node;
}

static void node_add(struct parser *parser, struct expr_node *node, struct expr_node *part)
{
	/* The room doubles whenever the count is a power of two. */
	if ((node->of_count & (node->of_count - 1)) == 0) {
		struct expr_node **more = arena_zalloc(parser->arena, node->of_count ? 2 * node->of_count : 1, sizeof(struct expr_node *));

		if (node->of_count > 0)
			memcpy(more, node->of, node->of_count * sizeof(struct expr_node *));
		node->of = more;
	}
	node->of[node->of_count++] = part;
}

static enum err deeper(struct parser *parser, size_t start)
{
	if (++parser->depth > DEPTH_MAX)
		return fail_at(parser, start, 1, ERR_TOO_LARGE, "this condition is nested too deep");
	return ERR_NONE;
}

/* ---- operands ---- */

static enum err put_in(const struct parser *parser, struct expr_node *node)
{
	const struct expr_input *input = parser->input;

	if (node->text.len == 0 || memmem(node->text.data, node->text.len, "${", 2) == NULL)
		return ERR_NONE;
	node->put_in = true;
	if (input->expand_cb == NULL)
		return dag_fail(input->reader, node->spot.at, node->spot.len, ERR_SYNTAX, "parameters can't be used here");
	return input->expand_cb(input->arg, node->text, node->spot, &node->text);
}

static enum err read_text(struct parser *parser, struct expr_node **ret)
{
	struct slice text = parser->input->text;
	size_t start = parser->at;
	const uint8_t *end = memchr(text.data + start + 1, text.data[start], text.len - start - 1);

	if (end == NULL)
		return fail_at(parser, start, 1, ERR_SYNTAX, "this quote isn't closed");
	parser->at = (size_t)(end - text.data) + 1;
	*ret = node_new(parser, EXPR_STRING);
	(*ret)->text = slice_make(text.data + start + 1, parser->at - start - 2);
	(*ret)->spot = spot_of(parser, start, parser->at - start);
	return put_in(parser, *ret);
}

/* Read the result behind WORD: */
static enum err read_result(struct parser *parser, struct expr_node *word)
{
	size_t start = ++parser->at;

	while (in_word(peek(parser)))
		parser->at++;
	word->asks_result = true;
	word->result = slice_make(parser->input->text.data + start, parser->at - start);
	word->result_spot = spot_of(parser, start, parser->at - start);
	return word->result.len > 0 ? ERR_NONE : fail_at(parser, start, 1, ERR_SYNTAX, "a result is missing after ':'");
}

static enum err read_either(struct parser *parser, struct expr_node **ret);

static enum err read_call(struct parser *parser, const struct expr_node *word, size_t start, struct expr_node **ret)
{
	const char *words[EXPR_FUNCTION_COUNT], *near;
	size_t open = parser->at++;
	struct expr_node *of = NULL;
	enum err err = deeper(parser, start);
	int call = 0;

	while (call < EXPR_FUNCTION_COUNT && !slice_eq(word->text, slice_str(expr_functions[call].word)))
		call++;
	if (call == EXPR_FUNCTION_COUNT) {
		err = dag_fail(parser->input->reader, word->spot.at, word->spot.len, ERR_UNKNOWN_NAME,
			       "unknown function '%.*s'; the functions are has and size", (int)(word->text.len < 128 ? word->text.len : 128),
			       (const char *)word->text.data);
		for (int i = 0; i < EXPR_FUNCTION_COUNT; i++)
			words[i] = expr_functions[i].word;
		near = text_nearest(arena_strdup(parser->arena, word->text), words, EXPR_FUNCTION_COUNT);
		if (near != NULL)
			error_next(parser->input->reader->error, "did you mean '%s'?", near);
		return err;
	}
	if (err == ERR_NONE)
		err = read_either(parser, &of);
	if (err == ERR_NONE && !take(parser, ')'))
		err = fail_at(parser, open, 1, ERR_SYNTAX, "this parenthesis isn't closed");
	parser->depth--;
	if (err != ERR_NONE)
		return err;
	*ret = node_new(parser, EXPR_CALL_OF);
	(*ret)->call = (enum expr_function)call;
	(*ret)->spot = spot_of(parser, start, parser->at - start);
	node_add(parser, *ret, of);
	return ERR_NONE;
}

static enum err read_word(struct parser *parser, struct expr_node **ret)
{
	const struct expr_scope *scope = parser->input->scope;
	size_t start = parser->at;
	struct expr_node *word = node_new(parser, EXPR_WORD);
	struct slice text = parser->input->text;
	enum err err;

	parser->at = word_end(parser, start);
	word->text = slice_make(text.data + start, parser->at - start);
	word->spot = spot_of(parser, start, parser->at - start);
	if (word->text.len == 0) {
		word->spot = spot_of(parser, start, 1);
		return dag_fail(parser->input->reader, word->spot.at, word->spot.len, ERR_SYNTAX,
				start == text.len ? "%s is missing at the end" : "%s is expected here",
				parser->what ? parser->what : scope->operand);
	}
	err = put_in(parser, word);
	if (err != ERR_NONE)
		return err;
	*ret = word;
	if (peek(parser) == '(' && !word->put_in)
		return read_call(parser, word, start, ret);
	if (peek(parser) == '[' && scope->results)
		return fail_at(parser, parser->at, 1, ERR_SYNTAX, "a condition must name the whole fan-out, not one of its jobs");
	return peek(parser) == ':' && scope->results ? read_result(parser, word) : ERR_NONE;
}

static enum err read_items(struct parser *parser, struct expr_node **ret)
{
	size_t start = parser->at++;
	struct expr_node *list = node_new(parser, EXPR_ITEMS);
	enum err err = deeper(parser, start);

	while (err == ERR_NONE && !take(parser, ']')) {
		struct expr_node *item = NULL;

		if (list->of_count > 0 && !take(parser, ','))
			return fail_at(parser, start, 1, ERR_SYNTAX, "this list isn't closed");
		err = read_either(parser, &item);
		if (err == ERR_NONE)
			node_add(parser, list, item);
	}
	parser->depth--;
	list->spot = spot_of(parser, start, parser->at - start);
	*ret = list;
	return err;
}

static enum err read_part(struct parser *parser, struct expr_node **ret)
{
	size_t start;
	enum err err;

	skip(parser);
	start = parser->at;
	if (peek(parser) == '\'' || peek(parser) == '"')
		return read_text(parser, ret);
	if (peek(parser) == '[')
		return read_items(parser, ret);
	if (peek(parser) != '(')
		return read_word(parser, ret);
	parser->at++;
	err = deeper(parser, start);
	if (err == ERR_NONE)
		err = read_either(parser, ret);
	if (err == ERR_NONE && !take(parser, ')'))
		err = fail_at(parser, start, 1, ERR_SYNTAX, "this parenthesis isn't closed");
	parser->depth--;
	return err;
}

/* ---- operators ---- */

static struct expr_node *pair_of(struct parser *parser, enum expr_operator op, struct expr_node *left, struct expr_node *right)
{
	struct expr_node *pair = node_new(parser, EXPR_PAIR);
	size_t end = right->spot.at + right->spot.len;

	pair->op = op;
	pair->spot = left->spot;
	if (end > left->spot.at)
		pair->spot.len = end - left->spot.at;
	node_add(parser, pair, left);
	node_add(parser, pair, right);
	return pair;
}

static enum err read_sum(struct parser *parser, struct expr_node **ret)
{
	enum expr_operator op;
	enum err err = read_part(parser, ret);

	while (err == ERR_NONE && take_operator(parser, EXPR_LEVEL_SUM, &op)) {
		struct expr_node *right = NULL;

		err = read_part(parser, &right);
		if (err == ERR_NONE)
			*ret = pair_of(parser, op, *ret, right);
	}
	return err;
}

static enum err read_pair(struct parser *parser, struct expr_node **ret)
{
	struct expr_node *right = NULL;
	enum expr_operator op;
	enum err err = read_sum(parser, ret);

	if (err != ERR_NONE || !take_operator(parser, EXPR_LEVEL_COMPARE, &op))
		return err;
	parser->what = "the value to compare with";
	err = read_sum(parser, &right);
	parser->what = NULL;
	if (err == ERR_NONE)
		*ret = pair_of(parser, op, *ret, right);
	return err;
}

/* Take a not. A job may be called so, too: then no operand follows. */
static bool take_not(struct parser *parser)
{
	size_t start = parser->at;
	enum expr_operator op;
	bool operand;

	if (!take_operator(parser, EXPR_LEVEL_NOT, &op))
		return false;
	if (parser->input->text.data[start] == '!')
		return true;
	skip(parser);
	operand = peek(parser) >= 0 && (in_word(peek(parser)) || strchr("(['\"!$", peek(parser)) != NULL);
	for (int i = 0; i < EXPR_OPERATOR_COUNT && operand; i++)
		if (expr_operators[i].level != EXPR_LEVEL_NOT &&
		    (stands(parser, expr_operators[i].symbol) || stands(parser, expr_operators[i].other)))
			operand = false;
	if (!operand)
		parser->at = start;
	return parser->at != start;
}

static enum err read_unary(struct parser *parser, struct expr_node **ret)
{
	struct expr_node *of = NULL;
	size_t start;
	enum err err;

	skip(parser);
	start = parser->at;
	if (!take_not(parser))
		return read_pair(parser, ret);
	err = deeper(parser, start);
	if (err == ERR_NONE)
		err = read_unary(parser, &of);
	parser->depth--;
	if (err != ERR_NONE)
		return err;
	*ret = node_new(parser, EXPR_NOT_OF);
	(*ret)->spot = spot_of(parser, start, parser->at - start);
	node_add(parser, *ret, of);
	return ERR_NONE;
}

/* Read parts joined by one operator (and, or). */
static enum err read_joined(struct parser *parser, enum expr_level level,
			    enum err (*read)(struct parser *parser, struct expr_node **ret), struct expr_node **ret)
{
	struct expr_node *joined = NULL, *part = NULL;
	enum expr_operator op;
	size_t start = parser->at;
	enum err err = read(parser, &part);

	*ret = part;
	while (err == ERR_NONE && take_operator(parser, level, &op)) {
		if (joined == NULL) {
			joined = node_new(parser, EXPR_JOINED);
			joined->op = op;
			node_add(parser, joined, part);
			*ret = joined;
		}
		err = read(parser, &part);
		if (err == ERR_NONE)
			node_add(parser, joined, part);
	}
	if (joined != NULL)
		joined->spot = spot_of(parser, start, parser->at - start);
	return err;
}

static enum err read_both(struct parser *parser, struct expr_node **ret)
{
	return read_joined(parser, EXPR_LEVEL_AND, read_unary, ret);
}

static enum err read_either(struct parser *parser, struct expr_node **ret)
{
	return read_joined(parser, EXPR_LEVEL_OR, read_both, ret);
}

enum err expr_parse(const struct expr_input *input, struct expr_node **ret)
{
	struct parser parser = { .input = input, .arena = input->reader->arena };
	enum err err = read_either(&parser, ret);

	if (err != ERR_NONE)
		return err;
	skip(&parser);
	if (parser.at == input->text.len)
		return ERR_NONE;
	return fail_at(&parser, parser.at, 1, ERR_SYNTAX, input->scope->joint);
}
