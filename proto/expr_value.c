/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proto/expr_value.h"

#include "base/check.h"
#include "base/text.h"
#include "proto/expr.h"
#include "proto/limits.h"

#define DIGITS_MAX 15                    /* a double has every number of so many digits exactly */

struct step_shape {                           /* what follows the operation, and how it changes the stack */
	uint8_t numbers;
	bool text;
	uint8_t taken;                   /* values taken off the stack; MANY: as many as the step's number says */
};

#define MANY UINT8_MAX

static const struct step_shape shapes[EXPR_VALUE_OP_COUNT] = {
	[STEP_TEXT] = { .text = true }, [STEP_NUMBER] = { .text = true }, [STEP_NAME] = { .numbers = 2, .text = true },
	[STEP_EXIT] = { .numbers = 1 }, [STEP_LIST] = { 1, false, MANY }, [STEP_EQ] = { .taken = 2 }, [STEP_LT] = { .taken = 2 },
	[STEP_LE] = { .taken = 2 }, [STEP_GT] = { .taken = 2 }, [STEP_GE] = { .taken = 2 }, [STEP_IN] = { .taken = 2 },
	[STEP_GLOB] = { .taken = 2 }, [STEP_MATCHES] = { .taken = 2 }, [STEP_ADD] = { .taken = 2 }, [STEP_SUB] = { .taken = 2 },
	[STEP_NOT] = { .taken = 1 }, [STEP_ALL] = { 1, false, MANY }, [STEP_ANY] = { 1, false, MANY }, [STEP_HAS] = { .taken = 1 },
	[STEP_SIZE] = { .taken = 1 },
};

/* ---- code ---- */

void expr_value_put(struct buf *code, const struct expr_value_step *step)
{
	const struct step_shape *shape = &shapes[step->op];

	buf_add_byte(code, (uint8_t)step->op);
	if (shape->numbers > 0)
		expr_put_number(code, step->a);
	if (shape->numbers > 1)
		expr_put_number(code, step->b);
	if (shape->text) {
		expr_put_number(code, step->text.len);
		buf_add_slice(code, step->text);
	}
}

bool expr_value_next(struct slice *code, struct expr_value_step *ret)
{
	struct slice rest = *code;
	struct expr_value_step step = { 0 };
	const struct step_shape *shape;
	uint64_t len;

	if (rest.len == 0 || rest.data[0] < STEP_TRUE || rest.data[0] >= EXPR_VALUE_OP_COUNT)
		return false;
	step.op = (enum expr_value_op)rest.data[0];
	shape = &shapes[step.op];
	rest = slice_make(rest.data + 1, rest.len - 1);
	if ((shape->numbers > 0 && !expr_take_number(&rest, &step.a)) || (shape->numbers > 1 && !expr_take_number(&rest, &step.b)))
		return false;
	if (shape->text) {
		if (!expr_take_number(&rest, &len) || len > rest.len)
			return false;
		step.text = slice_make(rest.data, (size_t)len);
		rest = slice_make(rest.data + len, rest.len - (size_t)len);
	}
	*code = rest;
	*ret = step;
	return true;
}

size_t expr_value_taken(const struct expr_value_step *step)
{
	return shapes[step->op].taken == MANY ? (size_t)step->a : shapes[step->op].taken;
}

static const char *step_fault(const struct expr_value_step *step, uint64_t names, bool searches, size_t depth)
{
	const struct step_shape *shape = &shapes[step->op];
	uint64_t taken = shape->taken == MANY ? step->a : shape->taken;
	double number;

	if (taken > depth || (step->op != STEP_LIST && shape->taken == MANY && taken == 0))
		return "a value is missing";
	if ((step->op == STEP_NAME && (step->a >= names || step->b > names - step->a)) || (step->op == STEP_EXIT && step->a >= names))
		return "it uses a need that doesn't exist";
	if (step->op == STEP_NUMBER && !expr_number(step->text, &number))
		return "it has a number that can't be read";
	if (step->op == STEP_MATCHES && !searches)
		return "it has a regular expression";
	return depth - (size_t)taken + 1 > LIMIT_EXPR_STACK ? "it holds too many values at once" : NULL;
}

const char *expr_value_fault(struct slice code, uint64_t names, bool searches)
{
	const char *fault = code.len > LIMIT_EXPR_BYTES_MAX ? "it is too long" : NULL;
	struct expr_value_step step;
	size_t depth = 0;

	while (!fault && code.len > 0) {
		if (!expr_value_next(&code, &step))
			return "it can't be decoded";
		fault = step_fault(&step, names, searches, depth);
		if (!fault)
			depth += 1 - expr_value_taken(&step);
	}
	if (!fault && depth != 1)
		fault = "it doesn't leave exactly one value";
	return fault;
}

/* ---- values ---- */

bool expr_number(struct slice text, double *ret)
{
	bool minus = text.len > 0 && text.data[0] == '-', point = false;
	uint64_t digits = 0, behind = 1;
	unsigned count = 0, after = 0;

	for (size_t i = minus; i < text.len; i++) {
		if (text.data[i] == '.' && !point && count > 0) {
			point = true;
			continue;
		}
		if (text.data[i] < '0' || text.data[i] > '9' || ++count > DIGITS_MAX)
			return false;
		digits = digits * 10 + (uint64_t)(text.data[i] - '0');
		behind *= point ? 10 : 1;
		after += point;
	}
	if (count == 0 || (point && after == 0))
		return false;
	*ret = (double)digits / (double)behind;
	if (minus && digits > 0)
		*ret = -*ret;
	return true;
}

static bool as_number(const struct expr_value *value, double *ret)
{
	if (value->kind == EXPR_TEXT)
		return expr_number(value->text, ret);
	*ret = value->number;
	return value->kind == EXPR_NUMBER;
}

static bool spend(struct expr_world *world, uint64_t steps)
{
	if (steps > world->steps) {
		world->steps = 0;
		world->spent = true;
		return false;
	}
	world->steps -= steps;
	return true;
}

static int text_order(struct slice a, struct slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Compare two values. False: they can't be compared. */
static bool order_of(struct expr_world *world, const struct expr_value *a, const struct expr_value *b, int *ret)
{
	double one, other;

	if (as_number(a, &one) && as_number(b, &other)) {
		*ret = (one > other) - (one < other);
		return true;
	}
	if (a->kind == EXPR_TEXT && b->kind == EXPR_TEXT && spend(world, a->text.len < b->text.len ? a->text.len : b->text.len)) {
		*ret = text_order(a->text, b->text);
		return true;
	}
	return false;
}

static bool as_truth(const struct expr_value *value, bool *ret)
{
	bool yes = value->kind == EXPR_TEXT && slice_eq(value->text, slice_str("true"));

	*ret = value->kind == EXPR_BOOL ? value->truth : yes;
	return value->kind == EXPR_BOOL || yes || (value->kind == EXPR_TEXT && slice_eq(value->text, slice_str("false")));
}

static bool equal(struct expr_world *world, const struct expr_value *a, const struct expr_value *b)
{
	bool one, other;
	int order;

	if (a->kind == EXPR_BOOL || b->kind == EXPR_BOOL)
		return as_truth(a, &one) && as_truth(b, &other) && one == other;
	return order_of(world, a, b, &order) && order == 0;
}

static bool compare(struct expr_world *world, enum expr_value_op op, const struct expr_value *a, const struct expr_value *b)
{
	int order;

	if (op == STEP_EQ)
		return equal(world, a, b);
	if (a->kind == EXPR_BOOL || b->kind == EXPR_BOOL || !order_of(world, a, b, &order))
		return false;
	return op == STEP_LT ? order < 0 : op == STEP_LE ? order <= 0 : op == STEP_GT ? order > 0 : order >= 0;
}

static bool is_in(struct expr_world *world, const struct expr_value *value, const struct expr_value *list)
{
	for (size_t i = 0; list->kind == EXPR_LIST && i < list->count; i++)
		if (spend(world, 1) && equal(world, value, &list->items[i]))
			return true;
	return false;
}

static bool meets_pattern(struct expr_world *world, enum expr_value_op op, const struct expr_value *value,
			  const struct expr_value *pattern)
{
	bool spent = false, found;

	if (value->kind != EXPR_TEXT || pattern->kind != EXPR_TEXT)
		return false;
	if (op == STEP_GLOB)
		return pattern->text.len <= LIMIT_PATTERN_MAX && spend(world, pattern->text.len * value->text.len) &&
		       text_matches(pattern->text, value->text);
	if (!spend(world, LIMIT_PATTERN_STEPS))
		return false;
	found = world->search_cb(pattern->text, value->text, &spent);
	world->spent = world->spent || spent;
	return found;
}

static struct expr_value sum_of(enum expr_value_op op, const struct expr_value *a, const struct expr_value *b)
{
	double one, other;

	if (!as_number(a, &one) || !as_number(b, &other))
		return (struct expr_value){ 0 };
	return (struct expr_value){ .kind = EXPR_NUMBER, .number = op == STEP_ADD ? one + other : one - other };
}

static struct expr_value size_of(const struct expr_value *value)
{
	if (value->kind != EXPR_TEXT && value->kind != EXPR_LIST)
		return (struct expr_value){ 0 };
	return (struct expr_value){ .kind = EXPR_NUMBER, .number = (double)(value->kind == EXPR_TEXT ? value->text.len : value->count) };
}

static struct expr_value truth_of(bool truth)
{
	return (struct expr_value){ .kind = EXPR_BOOL, .truth = truth };
}

/* Are all of these values true, or (any) one of them? */
static bool joined(const struct expr_value *values, size_t count, bool any)
{
	for (size_t i = 0; i < count; i++) {
		bool truth = false;

		as_truth(&values[i], &truth);
		if (truth == any)
			return any;
	}
	return !any;
}

/* Compute the value of a step from the values that it takes off the stack. */
static struct expr_value step_value(struct expr_world *world, struct arena *arena, const struct expr_value_step *step,
				    const struct expr_value *taken, size_t count)
{
	struct expr_value value = { 0 };

	switch (step->op) {
	case STEP_TRUE:
	case STEP_FALSE:
		return truth_of(step->op == STEP_TRUE);
	case STEP_TEXT:
		return (struct expr_value){ .kind = EXPR_TEXT, .text = step->text };
	case STEP_NUMBER:
		value.kind = EXPR_NUMBER;
		CHECK(expr_number(step->text, &value.number));
		return value;
	case STEP_NAME:
	case STEP_EXIT:
		world->name_cb(world->arg, step, arena, &value);
		return value;
	case STEP_LIST:
		value = (struct expr_value){ .kind = EXPR_LIST, .count = count };
		value.items = memcpy(arena_zalloc(arena, count + 1, sizeof(value)), taken, count * sizeof(value));
		return value;
	case STEP_IN:
		return truth_of(is_in(world, &taken[0], &taken[1]));
	case STEP_GLOB:
	case STEP_MATCHES:
		return truth_of(meets_pattern(world, step->op, &taken[0], &taken[1]));
	case STEP_ADD:
	case STEP_SUB:
		return sum_of(step->op, &taken[0], &taken[1]);
	case STEP_NOT:
		return truth_of(!joined(taken, count, false));
	case STEP_ALL:
	case STEP_ANY:
		return truth_of(joined(taken, count, step->op == STEP_ANY));
	case STEP_HAS:
		return truth_of(taken[0].kind != EXPR_MISSING);
	case STEP_SIZE:
		return size_of(&taken[0]);
	default:
		return truth_of(compare(world, step->op, &taken[0], &taken[1]));
	}
}

bool expr_value_true(struct slice code, struct expr_world *world, struct arena *arena)
{
	/* Each step adds one value at most. */
	struct expr_value *stack = arena_zalloc(arena, code.len < LIMIT_EXPR_STACK ? code.len + 1 : LIMIT_EXPR_STACK, sizeof(*stack));
	struct expr_value_step step;
	size_t depth = 0;
	bool truth = false;

	while (expr_value_next(&code, &step)) {
		size_t count = expr_value_taken(&step);

		if (!spend(world, 1 + count))
			return false;
		depth -= count;
		stack[depth] = step_value(world, arena, &step, stack + depth, count);
		depth++;
	}
	as_truth(&stack[0], &truth);
	return truth && !world->spent;
}
