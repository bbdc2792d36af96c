/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What requests about values must find and leave, one after the other: the values as a plain array, without revisions of their
 * own, memory to free or anything to load.
 */
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put(struct sim_value_trial *trial, struct sim_value *value, unsigned key, enum value_kind kind, const char *bytes, size_t len)
{
	value->kind = kind;
	value->version = kind == VALUE_NONE ? 0 : trial->revision;
	value->len = len;
	memmove(value->bytes, bytes, len);
	if (kind == VALUE_NONE)
		value->ttl_ms = 0;
	trial->changed = trial->touched[key] = true;
}

static enum err trial_set(struct sim_value_trial *trial, struct sim_value *value, const struct sim_value_op *op)
{
	if ((op->verb == VALUES_ADD && value->kind != VALUE_NONE) || (op->verb == VALUES_CAS && value->version != op->version))
		return ERR_CHANGED;
	put(trial, value, op->key, VALUE_BYTES, op->text, strlen(op->text));
	value->ttl_ms = (int64_t)op->ttl_ms;
	value->since_ns = trial->now_ns;
	return ERR_NONE;
}

/* Only what clients here write can be a number: small, without signs and zeros in front. */
static enum err trial_incr(struct sim_value_trial *trial, struct sim_value *value, const struct sim_value_op *op, int64_t *ret_number)
{
	char text[VALUE_SIZE + 1] = "", *end;

	memcpy(text, value->bytes, value->len);
	*ret_number = op->by;
	if (value->kind == VALUE_SET)
		return ERR_INVALID;
	if (value->kind != VALUE_NONE) {
		*ret_number += strtoll(text, &end, 10);
		if (end == text || *end)
			return ERR_INVALID;
	}
	snprintf(text, sizeof(text), "%" PRId64, *ret_number);
	put(trial, value, op->key, VALUE_INTEGER, text, strlen(text));
	return ERR_NONE;
}

/* A set has members of one byte, each behind its length of two bytes, in order. */
static enum err trial_member(struct sim_value_trial *trial, struct sim_value *value, const struct sim_value_op *op, int64_t *ret_number)
{
	bool has[256] = { false }, adds = op->verb == VALUES_SADD;
	uint8_t member = (uint8_t)op->text[0];
	char bytes[VALUE_SIZE];
	size_t len = 0;

	if (value->kind != VALUE_NONE && value->kind != VALUE_SET)
		return ERR_INVALID;
	for (size_t i = 2; i < value->len; i += 3)
		has[(uint8_t)value->bytes[i]] = true;
	*ret_number = has[member] != adds;
	has[member] = adds;
	for (unsigned i = 0; i < 256; i++) {
		if (!has[i])
			continue;
		bytes[len++] = 1;
		bytes[len++] = 0;
		bytes[len++] = (char)i;
	}
	if (*ret_number)
		put(trial, value, op->key, len ? VALUE_SET : VALUE_NONE, bytes, len);
	return ERR_NONE;
}

static enum err trial_op(struct sim_value_trial *trial, struct sim_value *value, const struct sim_value_op *op, int64_t *ret_number)
{
	*ret_number = 0;
	switch (op->verb) {
	case VALUES_GET:
		return ERR_NONE;
	case VALUES_CHECK:
		return value->version == op->version ? ERR_NONE : ERR_CHANGED;
	case VALUES_DEL:
		*ret_number = value->kind != VALUE_NONE;
		if (*ret_number)
			put(trial, value, op->key, VALUE_NONE, "", 0);
		return ERR_NONE;
	case VALUES_INCR:
		return trial_incr(trial, value, op, ret_number);
	case VALUES_SADD:
	case VALUES_SREM:
		return trial_member(trial, value, op, ret_number);
	case VALUES_TOUCH:
		if (value->kind == VALUE_NONE)
			return ERR_NOT_FOUND;
		put(trial, value, op->key, value->kind, value->bytes, value->len);
		value->ttl_ms = (int64_t)op->ttl_ms;
		value->since_ns = trial->now_ns;
		return ERR_NONE;
	default:
		return trial_set(trial, value, op);
	}
}

static void trial_list(const struct sim_value_model *model, struct sim_ask *ask)
{
	const char *prefix = sim_value_keys[ask->ops[0].key];

	for (unsigned key = 0; key < VALUE_KEYS; key++)
		if (strncmp(sim_value_keys[key], prefix, strlen(prefix)) == 0 && model->at[ask->space][key].kind != VALUE_NONE)
			ask->rows[ask->row_count++] = (struct sim_value_result){ .key = key, .value = model->at[ask->space][key] };
}

void values_model_do(struct sim_value_trial *trial, struct sim_ask *ask)
{
	ask->code = ERR_NONE;
	ask->row_count = 0;
	if (ask->ops[0].verb == VALUES_LIST) {
		trial_list(&trial->model, ask);
		return;
	}
	for (size_t i = 0; i < ask->count && ask->code == ERR_NONE; i++) {
		const struct sim_value_op *op = &ask->ops[i];
		struct sim_value *value = &trial->model.at[ask->space][op->key];
		struct sim_value_result *row = &ask->rows[ask->row_count++];

		*row = (struct sim_value_result){ .key = op->key, .read = op->verb == VALUES_GET };
		ask->code = trial_op(trial, value, op, &row->number);
		row->value = *value;
	}
}
