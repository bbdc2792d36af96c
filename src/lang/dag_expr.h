/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions as people write them: a && (b:failed || !c), check.code == 3, ${params.env} == 'prod'. They are
 * read once all names are known, and become the code of proto/expr.h when jobs are made of the names.
 */
#ifndef TITAN_LANG_DAG_EXPR_H
#define TITAN_LANG_DAG_EXPR_H

#include "lang/dagline_internal.h"
#include "proto/expr.h"

enum dag_expr_kind { DAG_CONST, DAG_STATE, DAG_CODE, DAG_NOT, DAG_GATE };

struct dag_expr {
	enum dag_expr_kind kind;
	bool value;                      /* CONST */
	bool each;                       /* STATE: within a GATE, each job of a fan-out counts for itself */
	bool said;                       /* STATE: the state was written */
	uint32_t parent;                 /* STATE, CODE: index of a name */
	uint32_t mask;                   /* STATE */
	enum expr_compare compare;       /* CODE, and of CONST with texts */
	struct slice left, right;        /* CONST: the texts that were compared */
	bool unequal;                    /* NOT: it was written as != */
	uint64_t code;
	struct dag_spot spot;
	uint64_t least;                  /* GATE: so many of these; NOT: of one */
	struct dag_expr **of;
	size_t of_count;
};

struct expr_source {
	struct dag_reader *reader;       /* its names, its spot, its error */
	struct slice text;
	struct dag_spot spot;            /* of the text; its bytes are there as they are if the lengths agree */
	const struct dag_name *child;    /* whose condition it is */
	bool own;                        /* it asks how that itself ended: ok, failed, timed_out, code == 3 */
	/* What a word with ${..} in it stands for; NULL: such words are refused. */
	enum err (*expand_cb)(void *arg, struct slice word, struct dag_spot spot, struct slice *ret);
	void *arg;
};

enum err dag_expr_read(const struct expr_source *source, struct dag_expr **ret);
/* An inner one, over these. */
struct dag_expr *dag_expr_gate(struct arena *arena, uint64_t least, struct dag_expr **of, size_t count);
/* The child needs whatever is asked about, in its own words for plain ones: a, b:failed. False: too many edges. */
bool dag_expr_edges(struct dag_reader *reader, const struct dag_expr *expr, const struct dag_name *child, bool plain);
/* Is it only results that must all be there: what a list of needs can say? */
bool dag_expr_plain(const struct dag_expr *expr);
/* needs: of the job, ascending by parent as dag_node has them. */
struct slice dag_expr_code(const struct dagline *dag, const struct dag_node *node, const struct dag_expr *expr,
			   struct arena *arena);
/* Of one over a job's own end. */
struct slice dag_expr_own_code(const struct dag_expr *expr, struct arena *arena);
struct slice dag_expr_own_text(const struct dag_expr *expr, struct arena *arena);
/* As one would write it. */
struct slice dag_expr_text(const struct dag_reader *reader, const struct dag_expr *expr);
enum err dag_unknown_need(struct dag_reader *reader, const struct dag_name *child, struct slice text, struct dag_spot spot);

#endif
