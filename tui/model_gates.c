/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gates that wait for people: the master's list of approvals, as far as Home has room for it. */
#include "base/mem.h"
#include "tui/model_internal.h"

void model_free_gates(struct model *model)
{
	for (size_t i = 0; i < model->gate_count; i++)
		mem_free((void *)model->gates[i].name.data);
	mem_free(model->gates);
	model->gates = NULL;
	model->gate_count = 0;
}

void model_apply_gates(struct model *model, const struct msg_snapshot *msg)
{
	model_free_gates(model);
	model->gates = mem_array(msg->jobs.n + 1, sizeof *model->gates);
	for (size_t i = 0; i < msg->jobs.n; i++) {
		const struct rec_job_row *row = &msg->jobs.at[i];

		if (row->state != STATE_APPROVAL)
			continue;        /* the list has unknown jobs too; they are among the failures */
		model->gates[model->gate_count++] = (struct tui_gate){
			.run = row->run, .name = slice_make(mem_text(row->name), row->name.len), .have = row->gate_have,
			.count = row->gate_count, .due_ms = row->due_ms,
		};
	}
}

const struct tui_gate *model_gate(const struct model *model, uint64_t run)
{
	for (size_t i = 0; i < model->gate_count; i++)
		if (model->gates[i].run == run)
			return &model->gates[i];
	return NULL;
}
