/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gates that wait for people: the master's list of approvals, with what a person must know to decide. */
#include "base/mem.h"
#include "proto/limits.h"
#include "tui/model_internal.h"

void model_free_gates(struct model *model)
{
	arena_free(&model->gate_arena);
	model->gate_rows = NULL;
	model->gate_count = 0;
}

static struct slice_list keep_list(struct arena *arena, struct slice_list list)
{
	struct slice_list copy = { .at = arena_alloc(arena, (list.n + 1) * sizeof *copy.at), .n = list.n };

	for (size_t i = 0; i < list.n; i++)
		copy.at[i] = arena_copy(arena, list.at[i]);
	return copy;
}

/* The people and teams who may decide, as one text. */
static struct slice who_may(struct arena *arena, const struct rec_job_row *row)
{
	const struct slice_list *who = row->gate_shown.n > 0 ? &row->gate_shown : &row->gate_from;
	struct buf text = { 0 };
	struct slice copy;

	for (size_t i = 0; i < who->n; i++) {
		buf_add_str(&text, i ? ", " : "");
		buf_add_slice(&text, who->at[i]);
	}
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

void model_apply_gates(struct model *model, const struct msg_snapshot *msg)
{
	struct arena *arena = &model->gate_arena;

	model_free_gates(model);
	model->gate_rows = arena_alloc(arena, (msg->jobs.n + 1) * sizeof *model->gate_rows);
	for (size_t i = 0; i < msg->jobs.n; i++) {
		const struct rec_job_row *row = &msg->jobs.at[i];
		struct tui_gate *gate;

		if (row->state != STATE_APPROVAL || row->index >= LIMIT_RUN_JOBS_MAX)
			continue;        /* the list has unknown jobs too; they are among the failures */
		gate = arena_alloc(arena, sizeof *gate);
		*gate = (struct tui_gate){
			.run = row->run, .name = arena_copy(arena, row->name), .have = row->gate_have, .count = row->gate_count,
			.due_ms = row->due_ms, .index = (uint32_t)row->index, .question = arena_copy(arena, row->gate_message),
			.who = who_may(arena, row), .unblocks = keep_list(arena, row->unblocks), .will = keep_list(arena, row->will),
		};
		model->gate_rows[model->gate_count++] = gate;
	}
}

const struct tui_gate *model_gate(const struct model *model, uint64_t run)
{
	for (size_t i = 0; i < model->gate_count; i++)
		if (model->gate_rows[i]->run == run)
			return model->gate_rows[i];
	return NULL;
}

uint64_t model_gates_waiting(const struct model *model)
{
	uint64_t count = 0;

	if (model->sums_known)
		return model->live_jobs[STATE_APPROVAL];
	for (size_t i = 0; i < model->run_count; i++)
		count += model->runs[i]->counts[STATE_APPROVAL];
	return count;
}
