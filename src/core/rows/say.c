/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Additions to a turn's outbox that any part of core may make: an error reply, a counter, an event. */
#include "core/rows/durable.h"

void error_send(struct core *core, uint64_t conn, uint64_t request, const struct error *error, bool close)
{
	struct outgoing *frame;

	if (conn == 0)
		return;
	frame = outbox_frame(core->outbox, conn, OP_ERROR);
	frame->close = close;
	frame->error = (struct msg_error){
		.id = request, .code = error->code,
		.text = arena_copy(&core->outbox->arena, slice_str(error->text)),
		.next = arena_copy(&core->outbox->arena, slice_str(error->next)),
	};
}

void happened(struct core *core, enum happening_kind kind, uint64_t number, struct slice name, uint64_t detail)
{
	const struct rec_happening record = { .kind = kind, .number = number, .name = name, .detail = detail };

	record_encode(&core->events, REC_happening, &record);
}

void meta_put(struct core *core, const char *name, uint64_t value)
{
	struct row *row = outbox_row(core->outbox, TABLE_meta);

	row->meta = (struct row_meta){ .name = slice_str(name), .value = (int64_t)value };
}
