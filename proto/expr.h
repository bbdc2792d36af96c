/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions over a job's parents, as postfix code in its specification. Whoever loads a graph compiles them,
 * the core checks and evaluates them. A step is a byte and its numbers, 7 bits a byte, the low ones first:
 *
 *   TRUE, FALSE
 *   STATE first count mask   a value for each of these needs: is its state in the mask (bit = enum job_state)?
 *   CODE need compare value  did it end with such an exit code? False of what has none
 *   NOT
 *   GATE least of            are at least so many of the last values true?
 *
 * A need that hasn't settled is neither true nor false: what it decides stays open until enough is known.
 */
#ifndef TITAN_PROTO_EXPR_H
#define TITAN_PROTO_EXPR_H

#include "base/buf.h"
#include "proto/error.h"
#include "proto/message.h"
#include "proto/states.h"

#define EXPR_OP_COUNT (EXPR_GATE + 1)
#define EXPR_COMPARE_COUNT (EXPR_GE + 1)

struct expr_step {
	enum expr_op op;
	uint64_t a, b, c;                /* its numbers, in the order above */
};

void expr_put(struct buf *code, struct expr_step step);
/* The step at the front of *code, which moves behind it. False when there is none that can be read. */
bool expr_next(struct slice *code, struct expr_step *ret_step);
/* Can it be evaluated with this many needs, and within the limits? */
enum err expr_check(struct slice code, size_t needs, struct error *error);

uint32_t expr_mask(enum trigger trigger);                /* the states that meet it */
bool expr_code_meets(enum expr_compare compare, uint64_t code, uint64_t value);

#endif
