/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs whose needs or condition is an expression. The expression is kept as a tree: a leaf is a question about how a
 * parent ended, and an inner node (knot) counts the yes and no answers below it. A knot has an answer as soon as the
 * open answers can't change it any more, and passes it to the knot above. So when a parent ends only the questions
 * about that parent cost anything, and a job is decided at the earliest possible moment. Loading and checking evaluate
 * the expression directly over all parents, because only the rows are the truth.
 */
#include "core/graph/graph.h"

#include <stdlib.h>

#include "base/planted.h"
#include "core/graph/internal.h"

#define NONE UINT32_MAX
#define KNOT (UINT32_C(1) << 31)         /* bit of a stack entry: the value is a knot, not a leaf */

enum truth { FALSE, TRUE, OPEN };

struct leaf {                            /* one question about a parent's end, in an expression */
	uint32_t parent;                 /* index of the parent asked about; NONE: constant */
	uint32_t knot;
	uint32_t value;                  /* mask of states, exit code to compare with, or constant answer */
	uint8_t compare;                 /* enum expr_compare + 1; 0: value is a mask */
};

/* Of a leaf below a question: its parent has ended, which is all that the question waits for. */
#define ENDED UINT32_MAX

struct knot {
	uint32_t up;
	uint32_t least, of;
	uint32_t yes, no;
	bool negate;
	/* A knot of a question is open until all parents below it have ended; then it has the answer of its code. */
	struct slice question;
	bool answer;
};

struct condition {
	const struct run *run;
	uint32_t job;
	uint32_t leaf_count, knot_count;
	struct leaf *leaves;             /* the questions of the expression, by rising parent */
	/* all knots: the root of the job's needs, the root of its condition, then the others */
	struct knot *knots;
};

struct net {                             /* state while the tree of a condition is built from its postfix code */
	struct condition *condition;
	size_t leaf_cap, knot_cap;
	uint32_t *stack;
	size_t depth, stack_cap;
};

/* --- building --- */

static uint32_t knot_new(struct net *net, uint32_t least, uint32_t of, bool negate)
{
	struct condition *condition = net->condition;
	size_t count = condition->knot_count;

	GROW(condition->knots, count, net->knot_cap);
	condition->knots[count] = (struct knot){ .up = NONE, .least = least, .of = of, .negate = negate };
	return condition->knot_count++;
}

static void push(struct net *net, uint32_t value)
{
	GROW(net->stack, net->depth, net->stack_cap);
	net->stack[net->depth++] = value;
}

static void push_leaf(struct net *net, struct leaf leaf)
{
	struct condition *condition = net->condition;
	size_t count = condition->leaf_count;

	GROW(condition->leaves, count, net->leaf_cap);
	condition->leaves[count] = leaf;
	push(net, condition->leaf_count++);
}

/* Pop the last `count` values from the stack and make them inputs of this knot. */
static void pop_into(struct net *net, uint32_t knot, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t value = net->stack[--net->depth];

		if (value & KNOT)
			net->condition->knots[value & ~KNOT].up = knot;
		else
			net->condition->leaves[value].knot = knot;
	}
}

/* Push a question, with a leaf for each parent that it names. */
static void push_question(struct net *net, const struct rec_job_spec *spec, struct slice question)
{
	uint32_t knot = knot_new(net, 0, 0, false), count = 0;
	struct slice rest = question;
	uint64_t first, width;

	while (ask_next(&rest, &first, &width))
		for (uint64_t i = first; i < first + width; i++, count++)
			push_leaf(net, (struct leaf){ .parent = (uint32_t)spec->needs.at[i], .value = ENDED });
	pop_into(net, knot, count);
	net->condition->knots[knot].least = net->condition->knots[knot].of = count;
	net->condition->knots[knot].question = question;
	push(net, knot | KNOT);
}

static void net_code(struct net *net, const struct rec_job_spec *spec, struct slice code)
{
	struct expr_step step;
	uint32_t knot;

	while (expr_next(&code, &step)) {
		switch (step.op) {
		case EXPR_STATE:
			for (uint64_t i = 0; i < step.b; i++)
				push_leaf(net, (struct leaf){ .parent = (uint32_t)spec->needs.at[step.a + i],
							      .value = (uint32_t)step.c });
			break;
		case EXPR_CODE:
			push_leaf(net, (struct leaf){ .parent = (uint32_t)spec->needs.at[step.a],
						      .value = (uint32_t)step.c, .compare = (uint8_t)(step.b + 1) });
			break;
		case EXPR_ASK:
			push_question(net, spec, expr_asked(&code, &step));
			break;
		case EXPR_NOT:
			knot = knot_new(net, 1, 1, true);
			pop_into(net, knot, 1);
			push(net, knot | KNOT);
			break;
		case EXPR_GATE:
			knot = knot_new(net, (uint32_t)step.a, (uint32_t)step.b, false);
			pop_into(net, knot, step.b);
			push(net, knot | KNOT);
			break;
		default:
			push_leaf(net, (struct leaf){ .parent = NONE, .value = step.op == EXPR_TRUE });
			break;
		}
	}
}

/* Make all values on the stack inputs of a root knot; all of them must be true. */
static void net_root(struct net *net, uint32_t root)
{
	net->condition->knots[root].least = (uint32_t)net->depth;
	net->condition->knots[root].of = (uint32_t)net->depth;
	pop_into(net, root, net->depth);
}

static int leaf_order(const void *a, const void *b)
{
	const struct leaf *one = a, *other = b;

	return (one->parent > other->parent) - (one->parent < other->parent);
}

static struct condition *condition_new(const struct run *run, uint32_t job, const struct rec_job_spec *spec)
{
	struct condition *condition = mem_zalloc(sizeof(*condition));
	struct net net = { .condition = condition };

	condition->run = run;
	condition->job = job;
	knot_new(&net, 0, 0, false);
	knot_new(&net, 0, 0, false);
	for (size_t i = 0; i < spec->needs.n; i++) {
		enum trigger trigger = spec->triggers.n ? (enum trigger)spec->triggers.at[i] : TRIGGER_OK;

		if (trigger != TRIGGER_EXPR)
			push_leaf(&net, (struct leaf){ .parent = (uint32_t)spec->needs.at[i], .value = expr_mask(trigger) });
	}
	net_code(&net, spec, spec->needs_code);
	net_root(&net, 0);
	net_code(&net, spec, spec->when_code);
	net_root(&net, 1);
	if (condition->leaf_count > 0)
		qsort(condition->leaves, condition->leaf_count, sizeof(*condition->leaves), leaf_order);
	mem_free(net.stack);
	return condition;
}

static void condition_free(struct condition *condition)
{
	mem_free(condition->leaves);
	mem_free(condition->knots);
	mem_free(condition);
}

/* --- answers --- */

static enum truth knot_truth(const struct knot *knot)
{
	if (knot->question.len > 0)
		return knot->yes < knot->of ? OPEN : knot->answer ? TRUE : FALSE;
	if (knot->yes >= knot->least)
		return knot->negate ? FALSE : TRUE;
	if (knot->no + (PLANTED(join_gives_up_early) && knot->no > 0) > knot->of - knot->least)
		return knot->negate ? TRUE : FALSE;
	return OPEN;
}

/* All parents that the question names have ended: what is its answer? */
static bool question_true(const struct condition *condition, struct slice question)
{
	struct slice bytes = job_spec_bytes(run_job(condition->run, condition->job));
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	bool yes;

	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	yes = ask_true(condition->run, &spec, question);
	arena_free(&arena);
	return yes;
}

static void answer(struct condition *condition, uint32_t at, bool yes)
{
	while (at != NONE) {
		struct knot *knot = &condition->knots[at];
		bool was_open = knot_truth(knot) == OPEN;

		knot->yes += yes;
		knot->no += !yes;
		if (knot->question.len > 0 && knot->yes == knot->of)
			knot->answer = question_true(condition, knot->question);
		if (!was_open || knot_truth(knot) == OPEN)
			return;
		yes = knot_truth(knot) == TRUE;
		at = knot->up;
	}
}

static bool job_meets_code(const struct job *job, uint64_t compare, uint64_t value)
{
	return (job->outcome == OUTCOME_EXIT || PLANTED(code_of_a_signal)) &&
	       expr_code_meets((enum expr_compare)compare, job->code, value);
}

static bool leaf_true(const struct leaf *leaf, const struct job *parent)
{
	if (leaf->value == ENDED)
		return true;
	return leaf->compare ? job_meets_code(parent, leaf->compare - 1U, leaf->value) : leaf->value >> job_result(parent) & 1;
}

static uint32_t leaf_first(const struct condition *condition, uint32_t parent)
{
	uint32_t low = 0, high = condition->leaf_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (condition->leaves[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum outlook condition_outlook(const struct condition *condition)
{
	enum truth needs = knot_truth(&condition->knots[0]), when = knot_truth(&condition->knots[1]);

	if (needs == FALSE)
		return OUTLOOK_AGAINST;
	if (when == FALSE)
		return OUTLOOK_CONDITION_FALSE;
	return needs == TRUE && when == TRUE ? OUTLOOK_GO : OUTLOOK_OPEN;
}

static struct condition *condition_of(const struct job *job)
{
	const struct run *run = job->run;
	size_t low = 0, high = run->condition_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (run->conditions[middle]->job <= job->index)
			low = middle;
		else
			high = middle;
	}
	CHECK(low < run->condition_count && run->conditions[low]->job == job->index);
	return run->conditions[low];
}

enum outlook job_outlook(const struct job *job)
{
	return condition_outlook(condition_of(job));
}

enum outlook job_answered(const struct job *job, const struct job *parent)
{
	struct condition *condition = condition_of(job);

	for (uint32_t i = leaf_first(condition, parent->index);
	     i < condition->leaf_count && condition->leaves[i].parent == parent->index; i++)
		answer(condition, condition->leaves[i].knot, leaf_true(&condition->leaves[i], parent));
	return condition_outlook(condition);
}

static void condition_reset(const struct run *run, struct condition *condition)
{
	for (uint32_t i = 0; i < condition->knot_count; i++)
		condition->knots[i].yes = condition->knots[i].no = 0;
	for (uint32_t i = 0; i < condition->leaf_count; i++) {
		const struct leaf *leaf = &condition->leaves[i];
		const struct job *parent = leaf->parent == NONE ? NULL : run_job(run, leaf->parent);

		if (!parent)
			answer(condition, leaf->knot, leaf->value != 0);
		else if (state_terminal(parent->state))
			answer(condition, leaf->knot, leaf_true(leaf, parent));
	}
}

void job_ask_again(const struct job *job)
{
	condition_reset(job->run, condition_of(job));
}

/* --- conditions of a run --- */

void condition_add(struct run *run, const struct job *job, const struct rec_job_spec *spec)
{
	GROW(run->conditions, run->condition_count, run->condition_cap);
	run->conditions[run->condition_count++] = condition_new(run, job->index, spec);
}

void condition_wait(const struct job *job, uint32_t parent)
{
	struct condition *condition = condition_of(job);
	uint32_t at = leaf_first(condition, parent);

	condition->leaves = mem_resize(condition->leaves, condition->leaf_count + 1, sizeof(*condition->leaves));
	memmove(&condition->leaves[at + 1], &condition->leaves[at],
		(condition->leaf_count++ - at) * sizeof(*condition->leaves));
	condition->leaves[at] = (struct leaf){ .parent = parent, .knot = 0, .value = expr_mask(TRIGGER_DONE) };
	condition->knots[0].least++;
	condition->knots[0].of++;
}

void conditions_drop(struct run *run, uint32_t from)
{
	while (run->condition_count > 0 && run->conditions[run->condition_count - 1]->job >= from)
		condition_free(run->conditions[--run->condition_count]);
	if (from > 0)
		return;
	mem_free(run->conditions);
	run->conditions = NULL;
	run->condition_cap = 0;
}

/* --- direct evaluation --- */

static enum truth gate_truth(const uint8_t *values, uint64_t least, uint64_t of)
{
	uint64_t yes = 0, no = 0;

	for (uint64_t i = 0; i < of; i++) {
		yes += values[i] == TRUE;
		no += values[i] == FALSE;
	}
	return yes >= least ? TRUE : no > of - least ? FALSE : OPEN;
}

struct subject {                         /* the jobs whose ends an expression asks about */
	const struct run *run;
	/* Specification of the job that asks; NULL: the end of a loop's pass is asked. */
	const struct rec_job_spec *spec;
	const struct job *pass;
	enum job_state end;
};

static enum truth asked(const struct subject *of, uint64_t need, const struct expr_step *step)
{
	const struct job *parent = of->spec ? run_job(of->run, (uint32_t)of->spec->needs.at[need]) : of->pass;

	if (of->spec && !state_terminal(parent->state))
		return OPEN;
	if (step->op == EXPR_CODE)
		return job_meets_code(parent, step->b, step->c) ? TRUE : FALSE;
	return step->c >> (of->spec ? job_result(parent) : of->end) & 1 ? TRUE : FALSE;
}

static enum truth question_truth(const struct subject *of, struct slice question)
{
	if (!of->spec)
		return ask_pass(of->pass, question) ? TRUE : FALSE;
	if (!ask_ready(of->run, of->spec, question))
		return OPEN;
	return ask_true(of->run, of->spec, question) ? TRUE : FALSE;
}

static enum truth code_truth(const struct subject *of, struct slice code)
{
	struct buf stack = { 0 };
	struct expr_step step;
	enum truth truth;

	if (code.len == 0)
		return TRUE;
	while (expr_next(&code, &step)) {
		switch (step.op) {
		case EXPR_STATE:
			for (uint64_t i = 0; i < step.b; i++)
				buf_add_byte(&stack, (uint8_t)asked(of, step.a + i, &step));
			break;
		case EXPR_CODE:
			buf_add_byte(&stack, (uint8_t)asked(of, step.a, &step));
			break;
		case EXPR_ASK:
			buf_add_byte(&stack, (uint8_t)question_truth(of, expr_asked(&code, &step)));
			break;
		case EXPR_NOT:
			truth = (enum truth)stack.data[stack.len - 1];
			stack.data[stack.len - 1] = (uint8_t)(truth == OPEN ? OPEN : truth == TRUE ? FALSE : TRUE);
			break;
		case EXPR_GATE:
			truth = gate_truth(stack.data + stack.len - step.b, step.a, step.b);
			stack.len -= step.b;
			buf_add_byte(&stack, (uint8_t)truth);
			break;
		default:
			buf_add_byte(&stack, step.op == EXPR_TRUE ? TRUE : FALSE);
			break;
		}
	}
	truth = (enum truth)stack.data[0];
	buf_free(&stack);
	return truth;
}

void job_stand(const struct job *job, struct standing *standing)
{
	struct slice bytes = job_spec_bytes(job);
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	const struct subject of = { .run = job->run, .spec = &spec };
	enum truth needs, when;

	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	needs = code_truth(&of, spec.needs_code);
	when = code_truth(&of, spec.when_code);
	standing->against |= needs == FALSE;
	standing->condition_false = when == FALSE;
	if (needs == OPEN || when == OPEN)
		standing->asked++;
	arena_free(&arena);
}

bool pass_meets(const struct job *job, enum job_state end, struct slice code)
{
	const struct subject of = { .pass = job, .end = end };

	return code_truth(&of, code) == TRUE;
}

enum outlook standing_outlook(struct standing standing)
{
	if (standing.against)
		return OUTLOOK_AGAINST;
	if (standing.condition_false)
		return OUTLOOK_CONDITION_FALSE;
	return standing.asked > 0 ? OUTLOOK_OPEN : OUTLOOK_GO;
}

/* Check that the knots' counts equal a recount. */
void condition_check(const struct job *job)
{
	const struct condition *condition = condition_of(job);
	struct condition again = *condition;

	again.knots = mem_alloc(condition->knot_count * sizeof(*again.knots));
	memcpy(again.knots, condition->knots, condition->knot_count * sizeof(*again.knots));
	condition_reset(job->run, &again);
	for (uint32_t i = 0; i < condition->knot_count; i++)
		CHECK(again.knots[i].yes == condition->knots[i].yes && again.knots[i].no == condition->knots[i].no &&
		      knot_truth(&again.knots[i]) == knot_truth(&condition->knots[i]));
	mem_free(again.knots);
}
