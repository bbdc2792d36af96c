/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns checked expressions into the code of proto/expr_value.h and into text, and lists the words of expressions. */
#include "lang/expr.h"

/* ---- code ---- */

static void put(struct buf *code, enum expr_value_op op, uint64_t number, struct slice text)
{
	expr_value_put(code, &(struct expr_value_step){ .op = op, .a = number, .text = text });
}

static void put_word(struct buf *code, const struct expr_node *word)
{
	if (word->is_name)
		expr_value_put(code, &(struct expr_value_step){ .op = word->is_exit ? STEP_EXIT : STEP_NAME, .a = word->name, .b = word->width,
								 .text = word->name_text });
	else if (word->type == EXPR_TYPE_BOOL)
		put(code, slice_eq(word->text, slice_str("true")) ? STEP_TRUE : STEP_FALSE, 0, (struct slice){ 0 });
	else if (word->type == EXPR_TYPE_NUMBER || word->type == EXPR_TYPE_SPAN || word->type == EXPR_TYPE_TIME)
		put(code, STEP_NUMBER, 0, word->text);
	else
		put(code, STEP_TEXT, 0, word->text);
}

void expr_compile(const struct expr_node *node, struct buf *code)
{
	struct slice none = { 0 };

	if (node->kind == EXPR_WORD || node->kind == EXPR_STRING) {
		put_word(code, node);
		return;
	}
	for (size_t i = 0; i < node->of_count; i++)
		expr_compile(node->of[i], code);
	switch (node->kind) {
	case EXPR_ITEMS:
		put(code, STEP_LIST, node->of_count, none);
		break;
	case EXPR_CALL_OF:
		put(code, expr_functions[node->call].step, 0, none);
		break;
	case EXPR_NOT_OF:
		put(code, STEP_NOT, 0, none);
		break;
	case EXPR_PAIR:
	case EXPR_JOINED:
		put(code, expr_operators[node->op].step, node->kind == EXPR_JOINED ? node->of_count : 0, none);
		if (node->op == EXPR_OP_NE)
			put(code, STEP_NOT, 0, none);
		break;
	case EXPR_WORD:
	case EXPR_STRING:
		break;
	}
}

/* ---- text ---- */

static void write_list(struct buf *out, const struct expr_node *node, const char *between, bool inner)
{
	for (size_t i = 0; i < node->of_count; i++) {
		if (i > 0)
			buf_add_str(out, between);
		expr_write(out, node->of[i], inner);
	}
}

static void write_text(struct buf *out, struct slice text)
{
	char quote = text.len > 0 && memchr(text.data, '\'', text.len) != NULL ? '"' : '\'';

	buf_add_byte(out, (uint8_t)quote);
	buf_add_slice(out, text);
	buf_add_byte(out, (uint8_t)quote);
}

void expr_write(struct buf *out, const struct expr_node *node, bool inner)
{
	bool closed = inner && (node->kind == EXPR_JOINED || node->kind == EXPR_PAIR || node->kind == EXPR_NOT_OF);

	if (closed)
		buf_add_byte(out, '(');
	switch (node->kind) {
	case EXPR_WORD:
	case EXPR_STRING:
		if (node->kind == EXPR_STRING || node->put_in)
			write_text(out, node->text);
		else
			buf_add_slice(out, node->text);
		break;
	case EXPR_ITEMS:
		buf_add_byte(out, '[');
		write_list(out, node, ", ", false);
		buf_add_byte(out, ']');
		break;
	case EXPR_CALL_OF:
		buf_addf(out, "%s(", expr_functions[node->call].word);
		write_list(out, node, ", ", false);
		buf_add_byte(out, ')');
		break;
	case EXPR_NOT_OF:
		buf_add_str(out, "not ");
		write_list(out, node, "", true);
		break;
	case EXPR_JOINED:
		write_list(out, node, node->op == EXPR_OP_AND ? " and " : " or ", true);
		break;
	case EXPR_PAIR:
		expr_write(out, node->of[0], true);
		buf_addf(out, " %s ", expr_operators[node->op].symbol);
		expr_write(out, node->of[1], true);
		break;
	}
	if (closed)
		buf_add_byte(out, ')');
}

/* ---- words ---- */

void expr_words(void (*line_cb)(void *arg, const char *heading, const char *word, const char *meaning), void *arg)
{
#define OPERATOR(NAME, LEVEL, step, symbol, other, example, meaning) line_cb(arg, "Operators, the weakest first", example, meaning);
#define FUNCTION(NAME, step, word, example, meaning) line_cb(arg, "Functions", example, meaning);
#define TYPE(NAME, name, written) line_cb(arg, "Values", name, written);
#define JOB_NAME(name, type, meaning) line_cb(arg, "Names in pipelines (needs, when)", name, meaning);
#include "lang/expr_words.def"
}
