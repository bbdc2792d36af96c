/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acts on objects that aren't runs: call the file that decides, and send the answer. Each kind of object is one case
 * here and one file.
 */
#include "core/set.h"

#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"
#include "core/time/time.h"
#include "core/values/values.h"

static enum err set_apply(struct core *core, const struct input_set *input, struct msg_ok *ok, struct error *error)
{
	switch ((enum object_kind)input->set.kind) {
	case OBJECT_WORKER:
		return worker_set(core, input, &ok->count, error);
	case OBJECT_POOL:
		return pool_set(core, input, &ok->count, error);
	case OBJECT_TOPIC:
		return topic_set(core, input, &ok->count, error);
	case OBJECT_TENANT:
		return tenant_set(core, input, &ok->count, error);
	case OBJECT_GROUP:
		return group_set(core, &input->set, &ok->count, error);
	case OBJECT_LOCK:
		return lock_set(core, input, &ok->count, &ok->number, error);
	case OBJECT_SCHEDULE:
		return schedule_set(core, input, &ok->count, error);
	case OBJECT_ASSET:
		return asset_set(core, input, &ok->count, &ok->number, error);
	case OBJECT_TOKEN:
		return token_set(core, input, &ok->count, error);
	default:
		return error_set(error, ERR_INVALID, "unknown kind of object: %llu",
				 (unsigned long long)input->set.kind);
	}
}

uint64_t set_step(struct core *core, const struct core_input *input)
{
	struct error error = { 0 };
	struct msg_ok ok = { .id = input->request };

	if (set_apply(core, &input->set, &ok, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return STEP_REFUSED;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_OK)->ok = ok;
	return ok.count;
}
