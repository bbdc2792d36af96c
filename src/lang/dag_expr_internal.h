/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that turn the tree of an expression into a condition. */
#ifndef TITAN_LANG_DAG_EXPR_INTERNAL_H
#define TITAN_LANG_DAG_EXPR_INTERNAL_H

#include "lang/dag_expr.h"

struct lowering {
	const struct expr_source *source;
	const struct expr_scope *scope;
	struct arena *arena;
};

struct comparison {
	enum expr_compare compare;
	bool negate;                     /* the operator was != */
};

/* dag_expr.c */
struct dag_expr *expr_new(const struct lowering *lowering, enum dag_expr_kind kind);
struct dag_expr *expr_negate(const struct lowering *lowering, struct dag_expr *of);

/* dag_expr_ask.c: questions about how a parent or the job's own pass ended; comparisons of texts and exit codes */
struct dag_name *ask_name(const struct lowering *lowering, struct slice text);        /* NULL: no such name */
bool mask_by_name(struct slice word, uint32_t *ret);
enum err no_such_result(const struct lowering *lowering, const struct expr_node *operand, struct slice word);
enum err ask_state(const struct lowering *lowering, const struct expr_node *operand, struct dag_expr **ret);
enum err ask_own(const struct lowering *lowering, const struct expr_node *operand, struct dag_expr **ret);
struct comparison comparison_of(enum expr_operator op);
/* Compare an exit code with a number, or two texts. */
enum err ask_comparison(const struct lowering *lowering, const struct expr_node *pair, struct dag_expr **ret);
enum err compare_code(const struct lowering *lowering, struct dag_name *parent, const struct expr_node *left,
		      const struct expr_node *right, struct comparison how, struct dag_expr **ret);

/* dag_expr_value.c: names such as jobs.JOB.outputs.NAME, and what is compared with them */
bool is_value_name(const struct lowering *lowering, const struct expr_node *node);
/* Turn a comparison or call in which there are such names, lists or functions into a question. */
enum err ask_value(const struct lowering *lowering, struct expr_node *node, struct dag_expr **ret);
enum err value_name(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *word, bool *ret_known);
enum err value_unknown(const struct expr_scope *scope, struct dag_reader *reader, const struct expr_node *word);

#endif
