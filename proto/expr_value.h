/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions over values, compiled to postfix code (enum expr_value_op): --where over the fields of a row, and the
 * questions of a condition about outputs and exit codes. Types were checked when the expression was compiled. The
 * evaluation is total: it ends within a number of steps, and an operation that has no result gives the absent value. A
 * comparison with an absent value is false; a != b is always the opposite of a == b.
 */
#ifndef TITAN_PROTO_EXPR_VALUE_H
#define TITAN_PROTO_EXPR_VALUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "proto/message.h"

#define EXPR_VALUE_OP_COUNT (STEP_SIZE + 1)

enum expr_value_kind { EXPR_MISSING, EXPR_BOOL, EXPR_NUMBER, EXPR_TEXT, EXPR_LIST };

struct expr_value {
	enum expr_value_kind kind;
	bool truth;
	double number;
	struct slice text;
	const struct expr_value *items;
	size_t count;
};

struct expr_value_step {
	enum expr_value_op op;
	uint64_t a, b;                   /* the numbers of the step */
	struct slice text;               /* of TEXT, NUMBER and NAME */
};

struct expr_world {                      /* where an evaluation finds the values of names */
	/* Set *ret, which is EXPR_MISSING before, to the value of a NAME or EXIT step. */
	void (*name_cb)(void *arg, const struct expr_value_step *name, struct arena *arena, struct expr_value *ret);
	/*
	 * Does a part of the text match the regular expression? *ret_spent: the search took too many steps. NULL: the code has no
	 * such step.
	 */
	bool (*search_cb)(struct slice pattern, struct slice text, bool *ret_spent);
	void *arg;
	uint64_t steps;                  /* how many more steps may be taken */
	bool spent;                      /* the steps didn't suffice, so the result is false */
};

void expr_value_put(struct buf *code, const struct expr_value_step *step);
/* Read the step at the front of *code and move *code behind it. False: the code ends or is malformed. */
bool expr_value_next(struct slice *code, struct expr_value_step *ret);
size_t expr_value_taken(const struct expr_value_step *step);     /* returns the number of values that it takes off the stack */
/*
 * Return the reason why the code can't be evaluated, for an error; NULL: it can. names: the number of needs or fields.
 * searches: regular expressions are allowed.
 */
const char *expr_value_fault(struct slice code, uint64_t names, bool searches);
/* Evaluate code that expr_value_fault has accepted. Returns whether its value is true. */
bool expr_value_true(struct slice code, struct expr_world *world, struct arena *arena);

/* Read a decimal number with at most 15 digits, such as -3 or 0.25. */
bool expr_number(struct slice text, double *ret);

#endif
