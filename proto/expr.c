/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proto/expr.h"

#include "proto/expr_value.h"
#include "proto/limits.h"

static const uint8_t numbers[EXPR_OP_COUNT] = { [EXPR_STATE] = 3, [EXPR_CODE] = 3, [EXPR_GATE] = 2, [EXPR_ASK] = 1 };

void expr_put_number(struct buf *code, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		buf_add_byte(code, (uint8_t)(value | 128));
	buf_add_byte(code, (uint8_t)value);
}

void expr_put(struct buf *code, struct expr_step step)
{
	const uint64_t values[] = { step.a, step.b, step.c };

	buf_add_byte(code, (uint8_t)step.op);
	for (size_t i = 0; i < numbers[step.op]; i++)
		expr_put_number(code, values[i]);
}

bool expr_take_number(struct slice *code, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 5 && i < code->len; i++) {
		value |= (uint64_t)(code->data[i] & 127) << (7 * i);
		if (code->data[i] & 128)
			continue;
		if (value > UINT32_MAX || (i > 0 && code->data[i] == 0))
			return false;
		*code = slice_make(code->data + i + 1, code->len - i - 1);
		*ret = value;
		return true;
	}
	return false;
}

bool expr_next(struct slice *code, struct expr_step *ret_step)
{
	struct slice rest = *code;
	struct expr_step step = { 0 };
	uint64_t *const values[] = { &step.a, &step.b, &step.c };

	if (rest.len == 0 || rest.data[0] < EXPR_TRUE || rest.data[0] >= EXPR_OP_COUNT)
		return false;
	step.op = (enum expr_op)rest.data[0];
	rest = slice_make(rest.data + 1, rest.len - 1);
	for (size_t i = 0; i < numbers[step.op]; i++)
		if (!expr_take_number(&rest, values[i]))
			return false;
	if (step.op == EXPR_ASK && step.a > rest.len)
		return false;
	*code = rest;
	*ret_step = step;
	return true;
}

struct slice expr_asked(struct slice *code, const struct expr_step *step)
{
	struct slice question = slice_make(code->data, (size_t)step->a);

	*code = slice_make(code->data + step->a, code->len - (size_t)step->a);
	return question;
}

void expr_put_ask(struct buf *code, struct slice question)
{
	expr_put(code, (struct expr_step){ .op = EXPR_ASK, .a = question.len });
	buf_add_slice(code, question);
}

uint32_t expr_mask(enum trigger trigger)
{
	uint32_t mask = 0;

	if (trigger == TRIGGER_OK)
		return 1u << STATE_SUCCEEDED;
	if (trigger == TRIGGER_FAILED)
		return 1u << STATE_FAILED | 1u << STATE_TIMED_OUT | 1u << STATE_DENIED | 1u << STATE_QUARANTINED;
	for (int state = 0; state < STATE_COUNT; state++)
		if (state_terminal((enum job_state)state))
			mask |= 1u << state;
	return mask;
}

bool expr_code_meets(enum expr_compare compare, uint64_t code, uint64_t value)
{
	switch (compare) {
	case EXPR_EQ:
		return code == value;
	case EXPR_LT:
		return code < value;
	case EXPR_LE:
		return code <= value;
	case EXPR_GT:
		return code > value;
	case EXPR_GE:
		return code >= value;
	}
	return false;
}

/* ---- checking ---- */

static const char *step_fault(const struct expr_step *step, size_t needs, const struct buf *depths, size_t leaves)
{
	switch (step->op) {
	case EXPR_STATE:
		if (step->b == 0 || step->a + step->b > needs)
			return "it uses a need that doesn't exist";
		if (step->c == 0 || step->c & ~(uint64_t)expr_mask(TRIGGER_DONE))
			return "it tests for a state that isn't terminal";
		return leaves + step->b > LIMIT_EXPR_LEAVES_MAX ? "it has too many steps" : NULL;
	case EXPR_CODE:
		if (step->a >= needs)
			return "it uses a need that doesn't exist";
		return step->b >= EXPR_COMPARE_COUNT ? "it uses an unknown comparison" : NULL;
	case EXPR_NOT:
		return depths->len == 0 ? "a value is missing" : NULL;
	case EXPR_GATE:
		if (step->b == 0 || step->b > depths->len)
			return "a value is missing";
		return step->a == 0 || step->a > step->b ? "it requires more values than there are, or none" : NULL;
	default:
		return leaves + 1 > LIMIT_EXPR_LEAVES_MAX ? "it has too many steps" : NULL;
	}
}

/* What is wrong with a question about values? */
static const char *ask_fault(struct slice question, size_t needs, size_t *leaves)
{
	const char *fault = expr_value_fault(question, needs, false);
	struct expr_value_step step;
	bool names = false;

	while (!fault && expr_value_next(&question, &step)) {
		names = names || step.op == STEP_NAME || step.op == STEP_EXIT;
		if (step.op != STEP_NAME)
			continue;
		*leaves += step.b;
		if (step.b > LIMIT_TAKE_JOBS_MAX || *leaves > LIMIT_EXPR_LEAVES_MAX)
			fault = "it uses the outputs of too many jobs";
	}
	return fault ? fault : names ? NULL : "a question names no need";
}

/* Update the stack for one step. depths: the nesting depth of each value on the stack. */
static void step_apply(const struct expr_step *step, struct buf *depths, size_t *leaves)
{
	size_t taken = step->op == EXPR_NOT ? 1 : step->op == EXPR_GATE ? (size_t)step->b : 0;
	size_t made = step->op == EXPR_STATE ? (size_t)step->b : 1;
	uint8_t depth = 0;

	for (size_t i = 0; i < taken; i++)
		if (depths->data[depths->len - 1 - i] > depth)
			depth = depths->data[depths->len - 1 - i];
	depths->len -= taken;
	*leaves += taken == 0 ? made : 0;
	for (size_t i = 0; i < made; i++)
		buf_add_byte(depths, (uint8_t)(depth + 1));
}

enum err expr_check(struct slice code, size_t needs, struct error *error)
{
	struct buf depths = { 0 };
	const char *fault = code.len > LIMIT_EXPR_BYTES_MAX ? "it is too long" : NULL;
	struct expr_step step;
	size_t leaves = 0, asks = 0;

	while (!fault && code.len > 0) {
		if (!expr_next(&code, &step)) {
			fault = "it can't be decoded";
			break;
		}
		fault = step_fault(&step, needs, &depths, leaves);
		if (!fault && step.op == EXPR_ASK)
			fault = ++asks > LIMIT_EXPR_ASKS_MAX ? "it has too many questions" : ask_fault(expr_asked(&code, &step), needs, &leaves);
		if (fault)
			break;
		step_apply(&step, &depths, &leaves);
		if (depths.data[depths.len - 1] > LIMIT_EXPR_DEPTH)
			fault = "it is nested too deep";
	}
	if (!fault && depths.len != 1)
		fault = "it doesn't leave exactly one value";
	buf_free(&depths);
	return fault ? error_set(error, ERR_INVALID, "%s", fault) : ERR_NONE;
}
