/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acts on objects that are no runs: which file decides them, and the answer. A kind is one case here and
 * one file of its own.
 */
#include "core/internal.h"

static enum err set_decide(struct core *core, const struct input_set *input, uint64_t *ret_changed,
			   struct error *error)
{
	switch ((enum object_kind)input->set.kind) {
	case OBJECT_WORKER:
		return worker_set(core, input, ret_changed, error);
	case OBJECT_POOL:
		return pool_set(core, input, ret_changed, error);
	case OBJECT_TENANT:
		return tenant_set(core, input, ret_changed, error);
	case OBJECT_GROUP:
		return group_set(core, &input->set, ret_changed, error);
	case OBJECT_SCHEDULE:
		return schedule_set(core, &input->set, ret_changed, error);
	default:
		return error_set(error, ERR_INVALID, "an unknown kind of object: %llu",
				 (unsigned long long)input->set.kind);
	}
}

void set_step(struct core *core, const struct core_input *input)
{
	struct error error = { 0 };
	uint64_t changed = 0;

	if (set_decide(core, &input->set, &changed, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){
			.id = input->request, .count = changed,
		};
}
