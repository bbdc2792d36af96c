/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The operations of one request. Each works on stages: the keys as the operations before it left them. Only when all
 * have succeeded and the result fits is anything written, so a request is done whole or not at all.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/rows/durable.h"
#include "core/time/time.h"
#include "core/values/internal.h"

#define KEY_SHOWN 60                     /* most bytes of a key in an error */

static struct value_stage *stage_of(struct value_change *change, struct slice key)
{
	struct value *value = change->space ? value_find(change->space, key) : NULL;
	struct value_stage *stage;

	for (size_t i = 0; i < change->stage_count; i++)
		if (slice_eq(change->stages[i].key, key))
			return &change->stages[i];
	stage = &change->stages[change->stage_count++];
	*stage = (struct value_stage){ .key = key, .value = value };
	if (value && value->kind != VALUE_NONE) {
		stage->kind = value->kind;
		stage->version = value->version;
		stage->body = value->body ? blob_hold(value->body) : NULL;
		stage->due_ms = value->due_ms;
		stage->ttl_ms = value->ttl_ms;
	}
	return stage;
}

/* Give the stage a value, whose body it takes over. */
static void stage_put(struct value_change *change, struct value_stage *stage, uint8_t kind, struct blob *body)
{
	blob_release(stage->body);
	stage->body = body;
	stage->kind = kind;
	stage->changed = true;
	stage->version = kind == VALUE_NONE ? 0 : change->revision;
	change->changed++;
}

static void stage_end(struct value_change *change, struct value_stage *stage, uint64_t ttl_ms)
{
	stage->ttl_ms = (int64_t)ttl_ms;
	stage->due_ms = ttl_ms > 0 ? due_after(change->core, (int64_t)ttl_ms) : 0;
}

/* Say which operation failed, if the request has several. */
static enum err refuse(const struct value_change *change, enum err code, struct slice key, const char *why, struct error *error)
{
	char which[48] = "";

	if (change->op_count > 1)
		snprintf(which, sizeof(which), "operation %zu of %zu: ", change->at + 1, change->op_count);
	error_set(error, code, "%skey '%.*s' %s%s", which, (int)(key.len < KEY_SHOWN ? key.len : KEY_SHOWN),
		  (const char *)(key.data ? key.data : (const uint8_t *)""), why, change->op_count > 1 ? "; nothing was changed" : "");
	return code;
}

static enum err version_check(const struct value_change *change, const struct value_stage *stage, uint64_t wanted, struct error *error)
{
	char why[120];

	if (stage->version == wanted)
		return ERR_NONE;
	if (stage->kind == VALUE_NONE)
		snprintf(why, sizeof(why), "doesn't exist, so it hasn't revision %" PRIu64, wanted);
	else if (wanted == 0)
		snprintf(why, sizeof(why), "exists already, with revision %" PRIu64, stage->version);
	else
		snprintf(why, sizeof(why), "has revision %" PRIu64 " now, not %" PRIu64, stage->version, wanted);
	refuse(change, ERR_CHANGED, stage->key, why, error);
	return error_next(error, "titan kv get KEY --json shows value and revision");
}

/* Read a canonical decimal integer: no sign but -, no leading zeros, no blanks. */
static bool integer_read(struct slice text, int64_t *ret_number)
{
	bool negative = text.len > 0 && text.data[0] == '-';
	uint64_t number = 0, most = (uint64_t)INT64_MAX + negative;
	size_t at = negative;

	if (text.len == at || text.len - at > 19 || (text.data[at] == '0' && (text.len > 1)))
		return false;
	for (; at < text.len; at++) {
		if (text.data[at] < '0' || text.data[at] > '9')
			return false;
		number = number * 10 + (uint64_t)(text.data[at] - '0');
	}
	if (number > most)
		return false;
	*ret_number = negative ? (int64_t)(0 - number) : (int64_t)number;
	return true;
}

static enum err do_incr(struct value_change *change, struct value_stage *stage, int64_t by, int64_t *ret_sum, struct error *error)
{
	int64_t number = 0;
	char text[24];
	int len;

	if (stage->kind == VALUE_SET || (stage->kind != VALUE_NONE && !integer_read(blob_slice(stage->body), &number)))
		return refuse(change, ERR_INVALID, stage->key, "isn't an integer", error);
	if (__builtin_add_overflow(number, by, ret_sum))
		return refuse(change, ERR_INVALID, stage->key, "would leave the range of an integer of 64 bits", error);
	len = snprintf(text, sizeof(text), "%" PRId64, *ret_sum);
	stage_put(change, stage, VALUE_INTEGER, blob_make(slice_make(text, (size_t)len)));
	return ERR_NONE;
}

static enum err do_member(struct value_change *change, struct value_stage *stage, const struct rec_value_op *op,
			  int64_t *ret_changed, struct error *error)
{
	struct slice body = blob_slice(stage->body);
	bool add = op->verb == VALUES_SADD, there;
	struct blob *changed;
	size_t at;

	if (stage->kind != VALUE_NONE && stage->kind != VALUE_SET)
		return refuse(change, ERR_INVALID, stage->key, "isn't a set", error);
	if (op->value.len == 0 || op->value.len > LIMIT_VALUE_KEY_MAX)
		return error_set(error, ERR_INVALID, "a member of a set must have 1 to %d bytes; this one has %zu", LIMIT_VALUE_KEY_MAX, op->value.len);
	there = members_find(body, op->value, &at);
	*ret_changed = there != add;
	if (there == add)
		return ERR_NONE;
	if (add && body.len + MEMBER_HEAD + op->value.len > LIMIT_VALUE_MAX)
		return refuse(change, ERR_TOO_LARGE, stage->key, "is a set that has no room for another member; use several keys", error);
	changed = add ? members_with(body, at, op->value) : members_without(body, at);
	stage_put(change, stage, changed ? VALUE_SET : VALUE_NONE, changed);
	return ERR_NONE;
}

static enum err do_set(struct value_change *change, struct value_stage *stage, const struct rec_value_op *op, struct error *error)
{
	enum err err = ERR_NONE;

	if (op->value.len > LIMIT_VALUE_MAX)
		return error_set(error, ERR_TOO_LARGE, "a value may have at most %d bytes; this one has %zu", LIMIT_VALUE_MAX, op->value.len);
	if (op->verb != VALUES_SET)
		err = version_check(change, stage, op->verb == VALUES_ADD ? 0 : op->version, error);
	if (err != ERR_NONE)
		return err;
	stage_put(change, stage, VALUE_BYTES, blob_make(op->value));
	stage_end(change, stage, op->ttl_ms);
	return ERR_NONE;
}

static enum err op_check(const struct rec_value_op *op, struct error *error)
{
	if (op->key.len == 0 || op->key.len > LIMIT_VALUE_KEY_MAX)
		return error_set(error, ERR_INVALID, "a key must have 1 to %d bytes; this one has %zu", LIMIT_VALUE_KEY_MAX, op->key.len);
	if (op->ttl_ms / 1000 > LIMIT_SPAN_MAX_S)
		return error_set(error, ERR_TOO_LARGE, "a value can last at most ten years, or for ever");
	return ERR_NONE;
}

enum err change_do(struct value_change *change, const struct rec_value_op *op, struct rec_value_row *row, struct error *error)
{
	enum err err = op_check(op, error);
	struct value_stage *stage;
	int64_t number = 0;

	if (err != ERR_NONE)
		return err;
	stage = stage_of(change, op->key);
	switch (op->verb) {
	case VALUES_GET:
		break;
	case VALUES_CHECK:
		err = version_check(change, stage, op->version, error);
		break;
	case VALUES_SET:
	case VALUES_ADD:
	case VALUES_CAS:
		err = do_set(change, stage, op, error);
		break;
	case VALUES_DEL:
		number = stage->kind != VALUE_NONE;
		if (number)
			stage_put(change, stage, VALUE_NONE, NULL);
		break;
	case VALUES_INCR:
		err = do_incr(change, stage, op->by, &number, error);
		break;
	case VALUES_SADD:
	case VALUES_SREM:
		err = do_member(change, stage, op, &number, error);
		break;
	case VALUES_TOUCH:
		if (stage->kind == VALUE_NONE)
			return refuse(change, ERR_NOT_FOUND, op->key, "doesn't exist", error);
		stage_put(change, stage, stage->kind, stage->body ? blob_hold(stage->body) : NULL);
		stage_end(change, stage, op->ttl_ms);
		break;
	default:
		return error_set(error, ERR_INVALID, "operation number %" PRIu64 " is unknown, or can't be in a request with others", op->verb);
	}
	if (stage->kind == VALUE_NONE)
		stage->due_ms = stage->ttl_ms = 0;
	value_row_fill(change->core, stage, row);
	row->number = number;
	if (op->verb != VALUES_GET)
		row->value = slice_make(NULL, 0);
	return err;
}

/* What the namespace and the master would have more, in bytes; negative: less. */
static int64_t growth(const struct value_change *change, uint64_t *ret_bytes)
{
	int64_t more = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < change->stage_count; i++) {
		const struct value_stage *stage = &change->stages[i];

		if (!stage->changed)
			continue;
		*ret_bytes += stage->body ? stage->body->len : 0;
		more += (int64_t)(stage->body ? stage->body->len : 0);
		more += stage->value ? -(int64_t)value_body(stage->value).len : (int64_t)value_cost(stage->key.len, 0);
	}
	return more;
}

enum err change_fits(const struct value_change *change, struct error *error)
{
	uint64_t changed;
	int64_t more = growth(change, &changed), bytes = change->space ? (int64_t)change->space->bytes : 0;

	if (changed > LIMIT_VALUE_REQUEST_MAX)
		return error_set(error, ERR_TOO_LARGE, "a request may change at most %d KiB of values", LIMIT_VALUE_REQUEST_MAX >> 10);
	if (more <= 0)
		return ERR_NONE;
	if (bytes + more > LIMIT_VALUE_SPACE_MAX) {
		error_set(error, ERR_FULL, "the namespace would have more than its %d MiB of keys and values", LIMIT_VALUE_SPACE_MAX >> 20);
		return error_next(error, "titan kv del KEY frees room");
	}
	if ((int64_t)change->core->value_bytes + more > LIMIT_VALUES_MAX) {
		error_set(error, ERR_FULL, "all namespaces together would have more than %d MiB of keys and values", LIMIT_VALUES_MAX >> 20);
		return error_next(error, "titan prune frees the values of ended runs");
	}
	return ERR_NONE;
}

void change_write(struct value_change *change)
{
	for (size_t i = 0; i < change->stage_count; i++) {
		struct value_stage *stage = &change->stages[i];
		struct value *value = stage->value;

		if (!stage->changed || (!value && stage->kind == VALUE_NONE))
			continue;
		if (!value)
			value = value_new(change->core, change->space, stage->key);
		value_write(change->core, value, stage->kind, stage->body, change->revision);
		stage->body = NULL;
		if (value->kind != VALUE_NONE) {
			value->due_ms = stage->due_ms;
			value->ttl_ms = stage->ttl_ms;
			value_arm(change->core, value);
		}
		value_row_put(change->core, value, false);
	}
	deleted_trim(change->core, change->space);
}

void change_free(struct value_change *change)
{
	for (size_t i = 0; i < change->stage_count; i++)
		blob_release(change->stages[i].body);
	change->stage_count = 0;
}

void value_row_fill(struct core *core, const struct value_stage *stage, struct rec_value_row *row)
{
	struct slice body = blob_slice(stage->body);

	*row = (struct rec_value_row){
		.key = arena_copy(&core->outbox->arena, stage->key), .kind = stage->kind, .version = stage->version,
		.bytes = body.len, .until_ms = due_wall_ms(core, stage->due_ms),
	};
	if (stage->kind == VALUE_SET)
		row->members = members_count(body);
	if (stage->body)
		row->value = outbox_hold(core->outbox, stage->body);
}
