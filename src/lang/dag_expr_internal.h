/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the grammar of conditions (dag_expr.c) and the meaning of their words (dag_expr_ask.c). */
#ifndef TITAN_LANG_DAG_EXPR_INTERNAL_H
#define TITAN_LANG_DAG_EXPR_INTERNAL_H

#include "lang/dag_expr.h"

struct expr_parser {
	const struct expr_source *source;
	struct arena *arena;
	size_t at;
	unsigned depth;
};

struct operand {                         /* operand of a comparison: a word, or a text in quotes */
	struct slice text;
	struct dag_spot spot;
	bool quoted;
	bool put_in;                     /* the value of a parameter was inserted, so the text isn't a job's name */
};

struct comparison {
	enum expr_compare compare;
	bool negate;                     /* the operator was != */
};

/* dag_expr.c: characters */
/* The next character; -1: end of the text. */
int expr_peek(const struct expr_parser *parser);
bool expr_take(struct expr_parser *parser, const char *symbol);
bool expr_in_word(int byte);
enum err expr_operand(struct expr_parser *parser, const char *what, struct operand *ret);
enum err expr_fail_at(const struct expr_parser *parser, size_t at, size_t len, enum err code, const char *text);
struct dag_expr *expr_new(struct expr_parser *parser, enum dag_expr_kind kind);

/* dag_expr_ask.c: questions about a parent or the job's own end; comparisons */
struct dag_name *ask_name(const struct expr_parser *parser, struct slice text);       /* NULL: no such name */
enum err ask_state(struct expr_parser *parser, struct operand *operand, struct dag_expr **ret);
enum err ask_own(struct expr_parser *parser, const struct operand *operand, struct dag_expr **ret);
/* Is the next thing a comparison operator? If so, take it. */
bool ask_comparison_begins(struct expr_parser *parser, struct comparison *ret);
enum err ask_comparison(struct expr_parser *parser, const struct operand *left, struct comparison how,
			struct dag_expr **ret);

#endif
