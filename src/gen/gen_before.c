/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proto/before.def: the fields of today's messages, for the version of the protocol that comes next. */
#include "gen/gen.h"

#include "proto/message.h"

#define COLUMNS 110

static const char *const types[] = {
	[TYPE_U64] = "U64", [TYPE_I64] = "I64", [TYPE_BOOL] = "BOOL", [TYPE_STR] = "STR",
	[TYPE_BIN] = "BIN", [TYPE_U64S] = "U64S", [TYPE_STRS] = "STRS", [TYPE_RECORDS] = "RECORDS",
};

static void fields(const struct shape *shape, struct buf *out)
{
	size_t column = 0;

	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field_info *field = &shape->fields[i];
		size_t before = out->len;

		buf_addf(out, "%sHAD(%u, %s, %s)", column == 0 ? "\t" : " ", field->key, types[field->type], field->must ? "MUST" : "MAY");
		column += out->len - before;
		if (column > COLUMNS - sizeof("HAD(100, RECORDS, MUST)") || i + 1 == shape->field_count) {
			buf_add_byte(out, '\n');
			column = 0;
		}
	}
	buf_add_str(out, "END_HAD\n");
}

void gen_before(struct buf *out)
{
	buf_add_str(out, "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
		    "/*\n"
		    " * The messages and records of the version of the protocol before this one, with the key, type and need of each field.\n"
		    " * \"make freeze-protocol\" writes this file when a new version begins; it isn't edited. proto/version.c keeps everything\n"
		    " * else from peers that speak the version before.\n"
		    " */\n");
	buf_addf(out, "VERSION_BEFORE(%d)\n", PROTOCOL_VERSION);
	for (int kind = 0; kind < REC_COUNT; kind++) {
		buf_addf(out, "HAD_RECORD(%s)\n", record_shape((enum record_kind)kind)->name);
		fields(record_shape((enum record_kind)kind), out);
	}
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const struct shape *shape = message_shape(op);

		if (!shape)
			continue;
		buf_addf(out, "HAD_MESSAGE(%s)\n", shape->name);
		fields(shape, out);
	}
}
