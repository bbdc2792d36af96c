/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions: a job starts only if its needs allow it, it is skipped only if its needs or its condition demand it,
 * and a job whose expression has an answer doesn't wait on.
 */
#include "oracle.h"

#include "proto/job_output.h"

enum answer { NO, YES, OPEN };

static enum answer answer_leaf(struct sim_world *world, const struct sim_condition *leaf, uint64_t parent)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, parent);
	enum job_state state = row ? (enum job_state)row->job.state : STATE_WAITING;
	uint64_t code = row ? (uint64_t)row->job.code : 0;

	if (!state_terminal(state))
		return OPEN;
	if (leaf->kind == CONDITION_STATE)
		return leaf->value & 1u << oracle_result(world, parent, state) ? YES : NO;
	if (row->job.outcome != OUTCOME_EXIT)
		return NO;
	switch (leaf->compare) {
	case EXPR_EQ:
		return code == leaf->value ? YES : NO;
	case EXPR_LT:
		return code < leaf->value ? YES : NO;
	case EXPR_LE:
		return code <= leaf->value ? YES : NO;
	case EXPR_GT:
		return code > leaf->value ? YES : NO;
	default:
		return code >= leaf->value ? YES : NO;
	}
}

/* ---- questions about values ---- */

/* Find what the ended job put out as first, in its durable row. False: nothing. */
static bool first_output(struct sim_world *world, uint64_t serial, struct arena *arena, struct slice *ret)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, serial);
	struct slice rest = row ? row->job.outputs : slice_make(NULL, 0);
	struct rec_job_output output;

	while (job_output_next(&rest, arena, &output)) {
		if (output.fault != OUTPUT_NONE || !slice_eq(output.name, slice_str("first")))
			continue;
		*ret = output.value;
		return true;
	}
	return false;
}

static bool has_ended(struct sim_world *world, uint64_t serial)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, serial);

	return row && state_terminal((enum job_state)row->job.state);
}

static enum answer answer_question(struct sim_world *world, const struct sim_condition *leaf, const struct rec_job_spec *spec,
				   const struct sim_graph *graph)
{
	uint64_t need = oracle_need(graph, spec->needs.at[leaf->need]), other = oracle_need(graph, spec->needs.at[leaf->other]);
	struct sim_condition code = *leaf;
	struct slice value, second;
	struct arena arena = { 0 };
	bool open = !has_ended(world, need), there, same;

	for (size_t i = 0; leaf->question == ASK_AMONG && i < leaf->needs; i++)
		open = open || !has_ended(world, oracle_need(graph, spec->needs.at[i]));
	if (open || (leaf->question == ASK_SAME && !has_ended(world, other)))
		return OPEN;
	code.kind = CONDITION_CODE;
	if (leaf->question == ASK_EXIT)
		return answer_leaf(world, &code, need);
	there = first_output(world, need, &arena, &value);
	same = leaf->question == ASK_SAME && there && first_output(world, other, &arena, &second) && slice_eq(value, second);
	if (leaf->question == ASK_FIRST_EPOCH)
		there = there && value.len > 2 && memcmp(value.data + value.len - 2, ".1", 2) == 0;
	arena_free(&arena);
	if (leaf->question == ASK_SAME)
		return same ? YES : NO;
	return there && leaf->question != ASK_EMPTY ? YES : NO;
}

static enum answer ask(struct sim_world *world, const struct sim_condition *condition, const struct rec_job_spec *spec,
		       const struct sim_graph *graph)
{
	uint64_t sure = 0, possible = 0;
	enum answer answer;

	if (!condition)
		return YES;
	if (condition->kind == CONDITION_CONST)
		return condition->value ? YES : NO;
	if (condition->kind == CONDITION_STATE || condition->kind == CONDITION_CODE)
		return answer_leaf(world, condition, oracle_need(graph, spec->needs.at[condition->need]));
	if (condition->kind == CONDITION_ASK)
		return answer_question(world, condition, spec, graph);
	for (size_t i = 0; i < condition->count; i++) {
		answer = ask(world, condition->of[i], spec, graph);
		sure += answer == YES;
		possible += answer != NO;
	}
	if (condition->kind == CONDITION_NOT)
		return sure ? NO : possible ? OPEN : YES;
	return sure >= condition->value ? YES : possible < condition->value ? NO : OPEN;
}

static void conditions_start(struct sim_world *world, const struct oracle_start *start)
{
	size_t index = (size_t)(start->spec - start->graph->jobs);

	if (start->row->flags & ROW_JOB_LOOSE || !start->graph->needs_trees)
		return;
	if (ask(world, start->graph->needs_trees[index], start->spec, start->graph) != YES ||
	    ask(world, start->graph->when_trees[index], start->spec, start->graph) != YES)
		world_fail(world, "job %u starts against its condition", (unsigned)start->job->job);
}

static void child_told(struct sim_world *world, const struct sim_graph *graph, uint32_t index, uint64_t parent)
{
	const struct rec_job_spec *spec = &graph->jobs[index];
	const struct row *row = disk_get(&world->disk, TABLE_job, oracle_serial(graph, index));
	bool asks = false;

	for (size_t k = 0; k < spec->needs.n; k++)
		asks = asks || oracle_need(graph, spec->needs.at[k]) == parent;
	if (!asks || (!graph->needs_trees[index] && !graph->when_trees[index]) || (row && row->job.flags & ROW_JOB_LOOSE))
		return;
	if (ask(world, graph->needs_trees[index], spec, graph) != NO && ask(world, graph->when_trees[index], spec, graph) != NO)
		return;
	if (!row || !state_terminal((enum job_state)row->job.state))
		world_fail(world, "job %u is decided against and goes on", (unsigned)oracle_serial(graph, index));
}

/*
 * Check that when a parent ended, each job whose expression can no longer become true was skipped in the same
 * transaction.
 */
static void conditions_told(struct sim_world *world, uint64_t run, uint64_t parent)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];

		for (uint32_t k = 0; graph->durable_run == run && graph->needs_trees && k < graph->count; k++)
			child_told(world, graph, k, parent);
	}
}

static void conditions_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			     const struct rec_job_spec *spec, int64_t wall_ms)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, event->job, &first);
	size_t index = graph ? (size_t)(event->job - first) : 0;

	(void)wall_ms;
	/*
	 * The rows show the end of the turn. They say nothing about an event of an earlier round in the same turn.
	 */
	if (!graph || !spec || (uint64_t)job->row.round != job->event_round)
		return;
	if (event->event == EVENT_CONDITION_FALSE && !(job->row.flags & ROW_JOB_LOOSE) && graph->when_trees &&
	    ask(world, graph->when_trees[index], spec, graph) != NO)
		world_fail(world, "job %u is skipped, and its condition isn't false", (unsigned)event->job);
	if (state_terminal((enum job_state)event->to) && event->to == (uint64_t)job->row.state)
		conditions_told(world, graph->durable_run, event->job);
}

const struct oracle_check oracle_conditions = { .event = conditions_event, .start = conditions_start };
