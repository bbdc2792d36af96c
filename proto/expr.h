/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions over a job's parents, as postfix code in the job's specification. The program that loads a graph compiles
 * them; the core checks and evaluates them. A step is one byte and its numbers, each in groups of 7 bits, lowest first:
 *
 *   TRUE, FALSE             push this value
 *   STATE first count mask  push a value for each of these needs: is its state in mask (bit = enum job_state)?
 *   CODE need compare value push: did this need end with such an exit code? False if it has none
 *   NOT                     negate the last value
 *   GATE least of           replace the last values by one: are at least so many of them true?
 *   ASK bytes               push: is the value of the code (proto/expr_value.h) in the following bytes true?
 *
 * The value of a need on a job that hasn't ended is neither true nor false; what depends on it stays open until enough is
 * known.
 */
#ifndef TITAN_PROTO_EXPR_H
#define TITAN_PROTO_EXPR_H

#include "base/buf.h"
#include "proto/error.h"
#include "proto/message.h"
#include "proto/states.h"

#define EXPR_OP_COUNT (EXPR_ASK + 1)
#define EXPR_COMPARE_COUNT (EXPR_GE + 1)

struct expr_step {
	enum expr_op op;
	uint64_t a, b, c;                /* the numbers of the step, in the order above */
};

void expr_put(struct buf *code, struct expr_step step);
/* Read the step at the front of *code and move *code behind it. False: the code ends or is malformed. */
bool expr_next(struct slice *code, struct expr_step *ret_step);
/* Take the code of a question, which follows an ASK step. */
struct slice expr_asked(struct slice *code, const struct expr_step *step);
/* Put a question with this code. */
void expr_put_ask(struct buf *code, struct slice question);
/* Check that the code can be evaluated with this many needs, within the limits. */
enum err expr_check(struct slice code, size_t needs, struct error *error);

void expr_put_number(struct buf *code, uint64_t value);
/* Take a number off the front of the code. It has at most five bytes, as none is larger than 32 bits. */
bool expr_take_number(struct slice *code, uint64_t *ret);

uint32_t expr_mask(enum trigger trigger);                /* returns the set of states that fulfil the trigger */
bool expr_code_meets(enum expr_compare compare, uint64_t code, uint64_t value);

#endif
