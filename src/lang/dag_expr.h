/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions as people write them: a && (b:failed || !c), check.code == 3, jobs.build.outputs.changed == "yes". They are
 * parsed when all names are known, and compiled to the code of proto/expr.h when jobs are made.
 */
#ifndef TITAN_LANG_DAG_EXPR_H
#define TITAN_LANG_DAG_EXPR_H

#include "lang/expr.h"
#include "proto/expr.h"

enum dag_expr_kind { DAG_CONST, DAG_STATE, DAG_CODE, DAG_ASK, DAG_NOT, DAG_GATE };

struct dag_expr {
	enum dag_expr_kind kind;
	bool value;                      /* of a CONST node: the constant's value */
	bool each;                       /* of a STATE inside a GATE: each job of a fan-out counts separately */
	bool said;                       /* of a STATE: the state was written and isn't the default */
	uint32_t parent;                 /* of STATE and CODE: index of the job's name */
	uint32_t mask;                   /* of a STATE: the set of states that make it true */
	enum expr_compare compare;       /* of a CODE, or a CONST made of two texts: the comparison */
	struct slice left, right;        /* of a CONST: the two texts that were compared */
	bool unequal;                    /* of a NOT node: it was written with != */
	uint64_t code;
	struct expr_node *asked;         /* of an ASK: the question about values; of a CONST: what was evaluated, or NULL */
	struct dag_spot spot;
	/* of a GATE: how many parts must be true; 0: all. A NOT has one part and doesn't use this field. */
	uint64_t least;
	struct dag_expr **of;
	size_t of_count;
};

struct expr_source {
	struct dag_reader *reader;       /* the reader that knows the names, and gets the error and its place */
	struct slice text;
	/*
	 * Place of the condition in the file. If its length equals the text's length, the bytes there are the text
	 * unchanged.
	 */
	struct dag_spot spot;
	const struct dag_name *child;    /* the job that has this condition */
	/* the condition is about the end of the job itself: ok, failed, timed_out, code == 3 */
	bool own;
	/* Called to replace words that contain ${..}; NULL: such words are refused. */
	enum err (*expand_cb)(void *arg, struct slice word, struct dag_spot spot, struct slice *ret);
	void *arg;
};

enum err dag_expr_read(const struct expr_source *source, struct dag_expr **ret);
/* Make an inner node (GATE) over these parts. */
struct dag_expr *dag_expr_gate(struct arena *arena, uint64_t least, struct dag_expr **of, size_t count);
/*
 * Add edges to the child from all jobs that the condition mentions. plain: a simple a or b:failed gives its edge that
 * result as trigger. False: there are too many edges.
 */
bool dag_expr_edges(struct dag_reader *reader, const struct dag_expr *expr, const struct dag_name *child, bool plain);
/* Is the condition just a list of results that must all be true? Such a list can be stored as plain needs. */
bool dag_expr_plain(const struct dag_expr *expr);
/* Compile a condition for a job. The node's needs must be ascending by parent. */
struct slice dag_expr_code(const struct dagline *dag, const struct dag_node *node, const struct dag_expr *expr,
			   struct arena *arena);
/* Compile a condition about the job's own end, or write it as text. */
struct slice dag_expr_own_code(const struct dag_expr *expr, struct arena *arena);
struct slice dag_expr_own_text(const struct dag_expr *expr, struct arena *arena);
/* Write a condition as a person would. */
struct slice dag_expr_text(const struct dag_reader *reader, const struct dag_expr *expr);
enum err dag_unknown_need(struct dag_reader *reader, const struct dag_name *child, struct slice text, struct dag_spot spot);

#endif
