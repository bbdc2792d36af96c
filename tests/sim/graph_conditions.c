/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Needs and conditions that are expressions: random trees, which the oracle evaluates, and their compiled form,
 * which the core evaluates.
 */
#include "sim.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/expr.h"
#include "proto/expr_value.h"

#define DEPTH 3

static struct sim_condition *condition_new(struct sim_graph *graph, enum sim_condition_kind kind)
{
	struct sim_condition *condition = arena_zalloc(&graph->arena, 1, sizeof(*condition));

	condition->kind = kind;
	return condition;
}

static struct sim_condition *question_leaf(struct rand_state *rand, struct sim_graph *graph, size_t needs)
{
	struct sim_condition *leaf = condition_new(graph, CONDITION_ASK);

	leaf->need = rand_below(rand, needs);
	leaf->other = rand_below(rand, needs);
	leaf->needs = needs;
	leaf->value = rand_below(rand, 6);
	leaf->compare = (enum expr_compare)rand_below(rand, EXPR_COMPARE_COUNT);
	leaf->question = (enum sim_question)rand_below(rand, ASK_COUNT);
	return leaf;
}

static struct sim_condition *condition_leaf(struct rand_state *rand, struct sim_graph *graph, size_t needs)
{
	static const enum job_state ends[] = { STATE_SUCCEEDED, STATE_FAILED, STATE_TIMED_OUT, STATE_CANCELLED,
					       STATE_DENIED, STATE_SKIPPED };
	uint64_t kind = rand_below(rand, 12);
	struct sim_condition *leaf = condition_new(graph, kind == 0 ? CONDITION_CONST : kind < 4 ? CONDITION_CODE : CONDITION_STATE);

	leaf->need = rand_below(rand, needs);
	leaf->value = leaf->kind == CONDITION_CONST ? rand_below(rand, 2) : rand_below(rand, 6);
	leaf->compare = (enum expr_compare)rand_below(rand, EXPR_COMPARE_COUNT);
	if (leaf->kind == CONDITION_STATE)
		leaf->value = 1u << STATE_SUCCEEDED;
	for (size_t i = 0; leaf->kind == CONDITION_STATE && i < 6; i++)
		if (rand_below(rand, 5) == 0)
			leaf->value |= 1u << ends[i];
	return leaf;
}

static struct sim_condition *condition_make(struct rand_state *rand, struct sim_graph *graph, size_t needs, unsigned depth)
{
	struct sim_condition *condition;

	if (depth == 0 || rand_below(rand, 3) == 0)
		return rand_below(rand, 3) ? condition_leaf(rand, graph, needs) : question_leaf(rand, graph, needs);
	condition = condition_new(graph, rand_below(rand, 4) ? CONDITION_GATE : CONDITION_NOT);
	condition->count = condition->kind == CONDITION_NOT ? 1 : 1 + rand_below(rand, CONDITION_PARTS);
	condition->value = 1 + rand_below(rand, condition->count);
	for (size_t i = 0; i < condition->count; i++)
		condition->of[i] = condition_make(rand, graph, needs, depth - 1);
	return condition;
}

static void put(struct buf *code, enum expr_value_op op, uint64_t number, uint64_t width, const char *text)
{
	expr_value_put(code, &(struct expr_value_step){ .op = op, .a = number, .b = width, .text = slice_str(text) });
}

static void question_encode(const struct sim_condition *leaf, struct buf *code)
{
	static const enum expr_value_op compares[] = {
		[EXPR_EQ] = STEP_EQ, [EXPR_LT] = STEP_LT, [EXPR_LE] = STEP_LE, [EXPR_GT] = STEP_GT, [EXPR_GE] = STEP_GE,
	};
	struct buf question = { 0 };
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, leaf->value);
	put(&question, leaf->question == ASK_EXIT ? STEP_EXIT : STEP_NAME, leaf->need, 0, "first");
	switch (leaf->question) {
	case ASK_HAS:
		put(&question, STEP_HAS, 0, 0, NULL);
		break;
	case ASK_FIRST_EPOCH:
		put(&question, STEP_TEXT, 0, 0, "*.1");
		put(&question, STEP_GLOB, 0, 0, NULL);
		break;
	case ASK_EXIT:
		put(&question, STEP_NUMBER, 0, 0, number);
		put(&question, compares[leaf->compare], 0, 0, NULL);
		break;
	case ASK_SAME:
		put(&question, STEP_NAME, leaf->other, 0, "first");
		put(&question, STEP_EQ, 0, 0, NULL);
		break;
	case ASK_AMONG:
		put(&question, STEP_NAME, 0, leaf->needs, "first");
		put(&question, STEP_IN, 0, 0, NULL);
		break;
	default:
		put(&question, STEP_TEXT, 0, 0, "");
		put(&question, STEP_EQ, 0, 0, NULL);
		break;
	}
	expr_put_ask(code, buf_slice(&question));
	buf_free(&question);
}

static void condition_encode(const struct sim_condition *condition, struct buf *code)
{
	for (size_t i = 0; i < condition->count; i++)
		condition_encode(condition->of[i], code);
	switch (condition->kind) {
	case CONDITION_CONST:
		expr_put(code, (struct expr_step){ .op = condition->value ? EXPR_TRUE : EXPR_FALSE });
		break;
	case CONDITION_STATE:
		expr_put(code, (struct expr_step){ EXPR_STATE, condition->need, 1, condition->value });
		break;
	case CONDITION_CODE:
		expr_put(code, (struct expr_step){ EXPR_CODE, condition->need, condition->compare, condition->value });
		break;
	case CONDITION_ASK:
		question_encode(condition, code);
		break;
	case CONDITION_NOT:
		expr_put(code, (struct expr_step){ .op = EXPR_NOT });
		break;
	case CONDITION_GATE:
		expr_put(code, (struct expr_step){ EXPR_GATE, condition->value, condition->count, 0 });
		break;
	}
}

static struct slice condition_code(struct rand_state *rand, struct sim_graph *graph, size_t needs, struct sim_condition **ret)
{
	struct buf code = { 0 };
	struct slice copy;

	*ret = condition_make(rand, graph, needs, DEPTH);
	condition_encode(*ret, &code);
	copy = arena_copy(&graph->arena, buf_slice(&code));
	buf_free(&code);
	return copy;
}

void graph_conditions(struct rand_state *rand, struct sim_graph *graph)
{
	graph->needs_trees = arena_zalloc(&graph->arena, graph->count, sizeof(struct sim_condition *));
	graph->when_trees = arena_zalloc(&graph->arena, graph->count, sizeof(struct sim_condition *));
	for (uint32_t i = 0; i < graph->count; i++) {
		struct rec_job_spec *job = &graph->jobs[i];
		uint64_t *triggers = arena_zalloc(&graph->arena, job->needs.n + 1, sizeof(*triggers));

		if (job->needs.n == 0 || rand_below(rand, 2))
			continue;
		if (rand_below(rand, 3))
			job->needs_code = condition_code(rand, graph, job->needs.n, &graph->needs_trees[i]);
		else
			job->when_code = condition_code(rand, graph, job->needs.n, &graph->when_trees[i]);
		for (size_t k = 0; k < job->needs.n; k++)
			triggers[k] = rand_below(rand, 4) ? TRIGGER_EXPR : job->triggers.n ? job->triggers.at[k] : TRIGGER_OK;
		job->triggers = (struct u64_list){ .at = triggers, .n = job->needs.n };
	}
}
