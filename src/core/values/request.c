/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A request about values: check it, do its operations, answer. An answer is revealed when all turns up to its own are
 * durable, so nobody reads what a crash could take back.
 */
#include <inttypes.h>

#include "base/planted.h"
#include "core/rows/durable.h"
#include "core/time/time.h"
#include "core/values/internal.h"

#define LIST_BYTES (128 << 10)           /* most bytes of keys or members in one answer */

static void listed(struct core *core, const struct value *value, struct rec_value_row *row)
{
	const struct value_stage stage = {
		.key = value_key(value), .kind = value->kind, .body = value->body, .version = value->version, .due_ms = value->due_ms,
	};

	value_row_fill(core, &stage, row);
	row->value = slice_make(NULL, 0);
}

static bool begins_with(struct slice key, struct slice prefix)
{
	return key.len >= prefix.len && (prefix.len == 0 || memcmp(key.data, prefix.data, prefix.len) == 0);
}

static size_t rows_wanted(uint64_t limit)
{
	return limit > 0 && limit < LIMIT_QUERY_ROWS_MAX ? (size_t)limit : LIMIT_QUERY_ROWS_MAX;
}

static void keys_list(struct core *core, const struct value_space *space, const struct rec_value_op *op, struct msg_valued *ret)
{
	size_t most = rows_wanted(op->limit), bytes = 0;
	const struct value *value = space ? value_from(space, op->value.len > 0 ? op->value : op->key) : NULL;

	ret->rows.at = arena_alloc(&core->outbox->arena, most * sizeof(*ret->rows.at));
	for (; value && begins_with(value_key(value), op->key); value = value->next[0]) {
		if (value->kind == VALUE_NONE || (op->value.len > 0 && slice_eq(value_key(value), op->value)))
			continue;
		if (ret->rows.n == most || bytes > LIST_BYTES) {
			ret->more = true;
			return;
		}
		bytes += value->key_len + 64u;
		listed(core, value, &ret->rows.at[ret->rows.n++]);
	}
}

static enum err members_list(struct core *core, const struct value_space *space, const struct rec_value_op *op, struct msg_valued *ret,
			     struct error *error)
{
	const struct value *value = space ? value_find(space, op->key) : NULL;
	size_t most = rows_wanted(op->limit);
	struct slice body, member, after = op->value;
	bool past = after.len == 0;

	if (!value || value->kind == VALUE_NONE)
		return ERR_NONE;
	if (value->kind != VALUE_SET)
		return error_set(error, ERR_INVALID, "key '%.*s' isn't a set", (int)(op->key.len < 60 ? op->key.len : 60), (const char *)op->key.data);
	body = outbox_hold(core->outbox, value->body);
	ret->rows.at = arena_alloc(&core->outbox->arena, most * sizeof(*ret->rows.at));
	while (members_next(&body, &member)) {
		size_t len = member.len < after.len ? member.len : after.len;
		int order = past ? 1 : memcmp(member.data, after.data, len);

		past = past || order > 0 || (order == 0 && member.len > after.len);
		if (!past)
			continue;
		if (ret->rows.n == most) {
			ret->more = true;
			break;
		}
		ret->rows.at[ret->rows.n++] = (struct rec_value_row){ .key = member, .kind = VALUE_BYTES };
	}
	return ERR_NONE;
}

/* Does the request end with the operation that keeps the others from changing anything? */
static bool is_dry(const struct msg_values *msg)
{
	return msg->ops.n > 1 && msg->ops.at[msg->ops.n - 1].verb == VALUES_DRY_RUN;
}

static enum err ask_check(const struct msg_values *msg, struct error *error)
{
	if (msg->ops.n == 0 || msg->ops.n > (size_t)LIMIT_VALUE_OPS_MAX + is_dry(msg))
		return error_set(error, ERR_TOO_LARGE, "a request about values must have 1 to %d operations; this one has %zu", LIMIT_VALUE_OPS_MAX, msg->ops.n);
	if (msg->request.len != 0 && msg->request.len != 16)
		return error_set(error, ERR_INVALID, "a request key must have 16 bytes");
	for (size_t i = 0; i < msg->ops.n; i++)
		if (msg->ops.at[i].key.len > LIMIT_VALUE_KEY_MAX)
			return error_set(error, ERR_INVALID, "a key must have 1 to %d bytes", LIMIT_VALUE_KEY_MAX);
	return ERR_NONE;
}

/* Do all operations, or none. Sets *ret_changed to how many changed something. */
static enum err ops_do(struct core *core, const struct core_input *input, struct value_space *space, uint64_t run, struct slice definition,
		       struct slice owner, struct msg_valued *ret, uint64_t *ret_changed, struct error *error)
{
	const struct msg_values *msg = &input->values.msg;
	uint64_t read = 0;
	struct value_change change = { .core = core, .space = space, .revision = core->revision + 1, .op_count = msg->ops.n - is_dry(msg) };
	enum err err = ERR_NONE;

	ret->rows.at = arena_alloc(&core->outbox->arena, msg->ops.n * sizeof(*ret->rows.at));
	for (; change.at < change.op_count && err == ERR_NONE; change.at++) {
		err = change_do(&change, &msg->ops.at[change.at], &ret->rows.at[ret->rows.n], error);
		read += err == ERR_NONE ? ret->rows.at[ret->rows.n++].value.len : 0;
		if (read > LIMIT_VALUE_REQUEST_MAX)
			err = error_set(error, ERR_TOO_LARGE, "a request may read at most %d KiB of values; read fewer at a time", LIMIT_VALUE_REQUEST_MAX >> 10);
	}
	if (err == ERR_NONE)
		err = change_fits(&change, error);
	if (is_dry(msg))
		change.changed = 0;
	if ((err == ERR_NONE || PLANTED(value_half_of_a_request)) && change.changed > 0) {
		change.space = space_make(core, run, definition, owner);
		change_write(&change);
		revision_next(core);
	}
	*ret_changed = err == ERR_NONE ? change.changed : 0;
	change_free(&change);
	return err;
}

static enum err request_do(struct core *core, const struct core_input *input, struct msg_valued *ret, uint64_t *ret_changed, struct error *error)
{
	const struct msg_values *msg = &input->values.msg;
	bool writes = values_change(msg);
	const struct value_request *known;
	struct value_space *space;
	struct slice definition, owner;
	uint64_t run;
	enum err err = ask_check(msg, error);

	if (err != ERR_NONE)
		return err;
	/* What was done is answered again also when it couldn't be done any more, as after the end of its run. */
	known = writes && msg->request.len > 0 ? repeated_find(core, input) : NULL;
	if (known)
		return repeated_answer(core, known, input, ret, error);
	err = values_allowed(core, input, writes, &definition, &run, &owner, error);
	if (err != ERR_NONE)
		return err;
	space = space_find(core, run, definition);
	if (msg->ops.n == 1 && msg->ops.at[0].verb == VALUES_LIST)
		keys_list(core, space, &msg->ops.at[0], ret);
	else if (msg->ops.n == 1 && msg->ops.at[0].verb == VALUES_MEMBERS)
		err = members_list(core, space, &msg->ops.at[0], ret, error);
	else
		err = ops_do(core, input, space, run, definition, owner, ret, ret_changed, error);
	ret->revision = core->revision;
	if (err == ERR_NONE && *ret_changed > 0 && msg->request.len > 0)
		repeated_keep(core, input, ret);
	return err;
}

uint64_t values_step(struct core *core, const struct core_input *input)
{
	struct msg_valued valued = { .id = input->request };
	uint64_t changed = 0;
	struct error error;

	if (request_do(core, input, &valued, &changed, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return STEP_REFUSED;
	}
	if (input->conn != 0)
		outbox_frame(core->outbox, input->conn, OP_VALUED)->valued = valued;
	return changed;
}

/* ---- words of acts ---- */

bool values_is_act(const struct core_input *input)
{
	return input->by.caller.job == 0 && input->values.msg.space != SPACE_RUN && values_change(&input->values.msg);
}

void values_target_words(const struct core_input *input, struct buf *out)
{
	const struct msg_values *msg = &input->values.msg;
	struct slice key = msg->ops.n > 0 ? msg->ops.at[0].key : slice_make(NULL, 0);

	if (msg->ops.n > 1)
		buf_addf(out, "%zu values of ", msg->ops.n);
	else
		buf_add_str(out, "value ");
	buf_add_str(out, msg->space == SPACE_CLUSTER ? "cluster:" : "def/");
	if (msg->space == SPACE_DEFINITION)
		buf_addf(out, "%.*s:", (int)msg->definition.len, (const char *)msg->definition.data);
	if (msg->ops.n == 1)
		buf_add_slice(out, slice_make(key.data, key.len < 100 ? key.len : 100));
}

void values_state_words(const struct core *core, const struct core_input *input, struct buf *out)
{
	const struct msg_values *msg = &input->values.msg;
	const struct value_space *space = space_find(core, 0, msg->space == SPACE_DEFINITION ? msg->definition : slice_make(NULL, 0));
	const struct value *value;

	if (msg->ops.n != 1 || !space)
		return;
	value = value_find(space, msg->ops.at[0].key);
	if (value && value->kind != VALUE_NONE)
		buf_addf(out, "revision %" PRIu64 ", %zu bytes", value->version, value_body(value).len);
}
