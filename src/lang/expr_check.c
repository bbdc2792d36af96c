/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types of expressions: every part has one before anything is evaluated, and a wrong one is an error at its place. */
#include "lang/expr.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "proto/limits.h"
#include "lang/pattern.h"

const char *const expr_type_names[EXPR_TYPE_COUNT] = {
#define TYPE(NAME, name, written) [EXPR_TYPE_##NAME] = name,
#include "lang/expr_words.def"
};

struct check {
	const struct expr_scope *scope;
	struct dag_reader *reader;
};

static int cut(struct slice text)
{
	return (int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN);
}

static enum err type_of(const struct check *check, struct expr_node *node);

static enum err wrong(const struct check *check, const struct expr_node *node, const char *needed)
{
	return dag_fail(check->reader, node->spot.at, node->spot.len, ERR_INVALID, "this is %s; %s", expr_type_names[node->type], needed);
}

/* ---- words ---- */

static void set_text(const struct check *check, struct expr_node *node, enum expr_type type, const char *text)
{
	node->type = type;
	node->text = arena_copy(check->reader->arena, slice_str(text));
}

static bool read_span(const struct check *check, struct slice text, struct expr_node *ret)
{
	char number[32];
	int64_t ms;

	/* 0 is a number, and a span without a unit is none. */
	if (text.len < 2 || text.data[0] < '0' || text.data[0] > '9' || clock_parse_span(arena_strdup(check->reader->arena, text), &ms) != 0)
		return false;
	snprintf(number, sizeof(number), "%lld", (long long)ms);
	set_text(check, ret, EXPR_TYPE_SPAN, number);
	return true;
}

/* Read a size such as 64K. */
static bool read_size(const struct check *check, struct slice text, struct expr_node *ret)
{
	static const char units[] = "KMGT";
	const char *unit = text.len > 1 ? memchr(units, text.data[text.len - 1], sizeof(units) - 1) : NULL;
	char number[32];
	uint64_t count;

	if (unit == NULL || !text_parse_u64(slice_make(text.data, text.len - 1), &count))
		return false;
	for (const char *at = units; at <= unit; at++)
		if (__builtin_mul_overflow(count, 1024, &count))
			return false;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)count);
	set_text(check, ret, EXPR_TYPE_NUMBER, number);
	return true;
}

/* Is the word a value? Then its text becomes the value as it is compiled. */
static bool read_literal(const struct check *check, struct expr_node *word)
{
	struct slice text = word->text;
	double number;

	if (word->put_in) {
		word->type = EXPR_TYPE_OUTPUT;
		return true;
	}
	if (slice_eq(text, slice_str("true")) || slice_eq(text, slice_str("false"))) {
		word->type = EXPR_TYPE_BOOL;
		return true;
	}
	if (check->scope->now_ms != 0 && slice_eq(text, slice_str("now"))) {
		char now[32];

		snprintf(now, sizeof(now), "%lld", (long long)check->scope->now_ms);
		set_text(check, word, EXPR_TYPE_TIME, now);
		return true;
	}
	if (expr_number(text, &number)) {
		word->type = EXPR_TYPE_NUMBER;
		return true;
	}
	return read_span(check, text, word) || read_size(check, text, word);
}

static enum err word_type(const struct check *check, struct expr_node *word)
{
	enum err err = ERR_NONE;
	bool known = false;

	if (!word->put_in)
		err = check->scope->name_cb(check->scope, check->reader, word, &known);
	/* The name of a parameter has become its value. */
	word->is_name = known && !word->put_in;
	if (err != ERR_NONE || known)
		return err;
	return read_literal(check, word) ? ERR_NONE : check->scope->unknown_cb(check->scope, check->reader, word);
}

/* ---- comparisons ---- */

static bool is_state(const struct expr_node *node)
{
	return node->type == EXPR_TYPE_STATE && node->is_name;
}

/* Take a word or text as the name of a state that this name can have. */
static enum err read_state(const struct check *check, const struct expr_node *name, struct expr_node *node)
{
	const char *state = check->scope->state_cb ? check->scope->state_cb(check->scope, name, node->text) : NULL;

	if (state == NULL) {
		dag_fail(check->reader, node->spot.at, node->spot.len, ERR_UNKNOWN_NAME, "unknown state '%.*s'", cut(node->text),
			 (const char *)node->text.data);
		return error_next(check->reader->error, "titan help states");
	}
	set_text(check, node, EXPR_TYPE_STATE, state);
	return ERR_NONE;
}

static bool may_be_state(const struct expr_node *node)
{
	return (node->kind == EXPR_WORD && !node->asks_result) || node->kind == EXPR_STRING;
}

static enum err read_time(const struct check *check, struct expr_node *node)
{
	char number[32];
	int64_t ms;

	if (node->text.len > 64 || when_parse(arena_strdup(check->reader->arena, node->text), check->scope->now_ms, &ms) != 0)
		return dag_fail(check->reader, node->spot.at, node->spot.len, ERR_INVALID, "'%.*s' is no time; write " WHEN_FORMS,
				cut(node->text), (const char *)node->text.data);
	snprintf(number, sizeof(number), "%lld", (long long)ms);
	set_text(check, node, EXPR_TYPE_TIME, number);
	return ERR_NONE;
}

/* Give a text that is compared with a time, and a word that is compared with a state, their types. */
static enum err type_beside(const struct check *check, const struct expr_node *other, struct expr_node *node)
{
	enum err err;

	if (is_state(other) && may_be_state(node))
		return read_state(check, other, node);
	err = type_of(check, node);
	if (err == ERR_NONE && other->type == EXPR_TYPE_TIME && node->kind == EXPR_STRING)
		return read_time(check, node);
	return err;
}

/* May values of these types be compared? ordered: by < and >. */
static bool comparable(enum expr_type a, enum expr_type b, bool ordered)
{
	if (a == EXPR_TYPE_LIST || b == EXPR_TYPE_LIST)
		return false;
	if (ordered && (a == EXPR_TYPE_BOOL || a == EXPR_TYPE_STATE || b == EXPR_TYPE_BOOL || b == EXPR_TYPE_STATE))
		return false;
	if (a == EXPR_TYPE_OUTPUT)
		return b == EXPR_TYPE_OUTPUT || b == EXPR_TYPE_STRING || b == EXPR_TYPE_NUMBER || b == EXPR_TYPE_BOOL;
	return a == b || (b == EXPR_TYPE_OUTPUT && comparable(b, a, ordered));
}

static enum err cannot_compare(const struct check *check, const struct expr_node *left, const struct expr_node *right, bool ordered)
{
	if (left->type == right->type && ordered)
		return wrong(check, right, "< and > compare numbers, spans, times and texts");
	if (left->type == EXPR_TYPE_LIST || right->type == EXPR_TYPE_LIST) {
		dag_fail(check->reader, right->spot.at, right->spot.len, ERR_INVALID, "%s can't be compared with %s; write x in LIST",
			 expr_type_names[left->type], expr_type_names[right->type]);
		return ERR_INVALID;
	}
	dag_fail(check->reader, right->spot.at, right->spot.len, ERR_INVALID, "%s can't be compared with %s",
		 expr_type_names[left->type], expr_type_names[right->type]);
	if (left->type == EXPR_TYPE_SPAN && right->type == EXPR_TYPE_NUMBER)
		error_next(check->reader->error, "write a unit, such as %.*ss", cut(right->text), (const char *)right->text.data);
	return ERR_INVALID;
}

/* Find the types of the entries of [a, b], each of which is compared with left. */
static enum err entries_type(const struct check *check, const struct expr_node *left, struct expr_node *list)
{
	enum err err = ERR_NONE;

	list->type = EXPR_TYPE_LIST;
	for (size_t i = 0; i < list->of_count && err == ERR_NONE; i++) {
		err = type_beside(check, left, list->of[i]);
		if (err == ERR_NONE && !comparable(left->type, list->of[i]->type, false))
			err = cannot_compare(check, left, list->of[i], false);
	}
	return err;
}

static enum err in_type(const struct check *check, struct expr_node *left, struct expr_node *right)
{
	enum err err = type_of(check, left);

	if (err != ERR_NONE)
		return err;
	if (right->kind == EXPR_ITEMS)
		return entries_type(check, left, right);
	err = type_of(check, right);
	if (err == ERR_NONE && right->type != EXPR_TYPE_LIST)
		return wrong(check, right, "behind in there must be a list, such as [\"a\", \"b\"]");
	if (err == ERR_NONE && !comparable(EXPR_TYPE_OUTPUT, left->type, false))
		return wrong(check, left, "the entries of the list are texts");
	return err;
}

/* Place of a part of a text in quotes. */
static struct dag_spot inner_spot(const struct expr_node *text, size_t at)
{
	if (text->spot.len != text->text.len + 2)
		return text->spot;
	return (struct dag_spot){ text->spot.at + 1 + at, 1 };
}

static enum err pattern_type(const struct check *check, enum expr_operator op, struct expr_node *left, struct expr_node *pattern)
{
	char fault[PATTERN_FAULT_SIZE];
	struct dag_spot spot;
	size_t at;
	enum err err = type_of(check, left);

	if (err != ERR_NONE)
		return err;
	if (left->type != EXPR_TYPE_STRING && left->type != EXPR_TYPE_OUTPUT && left->type != EXPR_TYPE_STATE)
		return wrong(check, left, "only a text can be compared with a pattern");
	err = pattern->kind == EXPR_STRING ? ERR_NONE : type_of(check, pattern);
	if (err != ERR_NONE)
		return err;
	if (pattern->kind != EXPR_STRING)
		return dag_fail(check->reader, pattern->spot.at, pattern->spot.len, ERR_SYNTAX, "a pattern must be a text in quotes");
	pattern->type = EXPR_TYPE_STRING;
	if (pattern->text.len > LIMIT_PATTERN_MAX)
		return dag_fail(check->reader, pattern->spot.at, pattern->spot.len, ERR_TOO_LARGE, "a pattern may have at most %d bytes",
				LIMIT_PATTERN_MAX);
	if (op == EXPR_OP_GLOB || pattern_check(pattern->text, &at, fault))
		return ERR_NONE;
	spot = inner_spot(pattern, at);
	return dag_fail(check->reader, spot.at, spot.len, ERR_SYNTAX, "wrong pattern: %s", fault);
}

static enum err comparison_type(const struct check *check, enum expr_operator op, struct expr_node *left, struct expr_node *right)
{
	bool ordered = op != EXPR_OP_EQ && op != EXPR_OP_NE;
	enum err err = ERR_NONE;

	/* A text on the left may get its type from a time or a state on the right. */
	if (left->kind == EXPR_STRING && right->kind != EXPR_STRING) {
		err = type_of(check, right);
		if (err == ERR_NONE)
			err = type_beside(check, right, left);
	} else {
		err = type_of(check, left);
		if (err == ERR_NONE)
			err = type_beside(check, left, right);
	}
	if (err == ERR_NONE && !comparable(left->type, right->type, ordered))
		return cannot_compare(check, left, right, ordered);
	return err;
}

/* ---- sums ---- */

static bool sum_type(enum expr_operator op, enum expr_type a, enum expr_type b, enum expr_type *ret)
{
	bool numbers = (a == EXPR_TYPE_NUMBER || a == EXPR_TYPE_OUTPUT) && (b == EXPR_TYPE_NUMBER || b == EXPR_TYPE_OUTPUT);

	if (numbers || (a == EXPR_TYPE_SPAN && b == EXPR_TYPE_SPAN)) {
		*ret = numbers ? EXPR_TYPE_NUMBER : EXPR_TYPE_SPAN;
		return true;
	}
	if (a == EXPR_TYPE_TIME && b == EXPR_TYPE_SPAN) {
		*ret = EXPR_TYPE_TIME;
		return true;
	}
	*ret = EXPR_TYPE_SPAN;
	return op == EXPR_OP_SUB && a == EXPR_TYPE_TIME && b == EXPR_TYPE_TIME;
}

static enum err pair_type(const struct check *check, struct expr_node *pair)
{
	struct expr_node *left = pair->of[0], *right = pair->of[1];
	enum err err;

	pair->type = EXPR_TYPE_BOOL;
	if (expr_operators[pair->op].level != EXPR_LEVEL_SUM)
		return pair->op == EXPR_OP_IN ? in_type(check, left, right) :
		       pair->op == EXPR_OP_GLOB || pair->op == EXPR_OP_MATCHES ? pattern_type(check, pair->op, left, right) :
										 comparison_type(check, pair->op, left, right);
	err = type_of(check, left);
	if (err == ERR_NONE)
		err = type_beside(check, left, right);
	if (err != ERR_NONE || sum_type(pair->op, left->type, right->type, &pair->type))
		return err;
	return dag_fail(check->reader, right->spot.at, right->spot.len, ERR_INVALID, "%s %s %s has no meaning",
			expr_type_names[left->type], expr_operators[pair->op].symbol, expr_type_names[right->type]);
}

/* ---- all ---- */

static enum err call_type(const struct check *check, struct expr_node *call)
{
	struct expr_node *of = call->of[0];
	enum err err = type_of(check, of);

	if (err != ERR_NONE)
		return err;
	call->type = call->call == EXPR_CALL_HAS ? EXPR_TYPE_BOOL : EXPR_TYPE_NUMBER;
	if (call->call == EXPR_CALL_HAS && !of->is_name)
		return dag_fail(check->reader, of->spot.at, of->spot.len, ERR_INVALID, "has needs a name, such as has(%s)",
				check->scope->results ? "jobs.build.outputs.version" : "worker");
	if (call->call == EXPR_CALL_SIZE && of->type != EXPR_TYPE_STRING && of->type != EXPR_TYPE_OUTPUT && of->type != EXPR_TYPE_LIST)
		return wrong(check, of, "size needs a text or a list");
	return ERR_NONE;
}

static enum err truth_type(const struct check *check, struct expr_node *node)
{
	enum err err = type_of(check, node);

	if (err != ERR_NONE || node->type == EXPR_TYPE_BOOL)
		return err;
	if (node->kind == EXPR_STRING)
		return dag_fail(check->reader, node->spot.at, node->spot.len, ERR_SYNTAX, "a text must be compared with "
				"another text: == or != is missing");
	return wrong(check, node, "a condition is needed here, such as a == b");
}

static enum err parts_type(const struct check *check, struct expr_node *node)
{
	enum err err = ERR_NONE;

	node->type = EXPR_TYPE_BOOL;
	for (size_t i = 0; i < node->of_count && err == ERR_NONE; i++)
		err = truth_type(check, node->of[i]);
	return err;
}

static enum err type_of(const struct check *check, struct expr_node *node)
{
	switch (node->kind) {
	case EXPR_WORD:
		return word_type(check, node);
	case EXPR_STRING:
		node->type = node->put_in ? EXPR_TYPE_OUTPUT : EXPR_TYPE_STRING;
		return ERR_NONE;
	case EXPR_ITEMS:
		return dag_fail(check->reader, node->spot.at, node->spot.len, ERR_SYNTAX, "a list can only stand behind in");
	case EXPR_JOINED:
	case EXPR_NOT_OF:
		return parts_type(check, node);
	case EXPR_PAIR:
		return pair_type(check, node);
	case EXPR_CALL_OF:
		return call_type(check, node);
	}
	return ERR_NONE;
}

enum err expr_type_of(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *node)
{
	return type_of(&(struct check){ scope, reader }, node);
}

enum err expr_check_types(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *node)
{
	return truth_type(&(struct check){ scope, reader }, node);
}
