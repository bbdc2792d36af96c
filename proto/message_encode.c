/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Encodes structs into bytes, by the tables. Equal structs give equal bytes. A message that doesn't fit a
 * frame stops the program: the sender should have split it.
 */
#include "proto/message.h"

#include "base/check.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/pack.h"

#define FIELDS_MAX 128

/* The common layout of all fields of type RECORDS. */
struct record_list {
	const uint8_t *at;
	size_t n;
};

static struct record_list list_at(const void *value)
{
	struct record_list list;

	memcpy(&list, value, sizeof(list));
	return list;
}

static void encode_shape(struct buf *out, const struct shape *shape, const uint8_t *base);

static void encode_u64s(struct buf *out, const struct u64_list *list)
{
	pack_array(out, list->n);
	for (size_t i = 0; i < list->n; i++)
		pack_u64(out, list->at[i]);
}

static void encode_strs(struct buf *out, const struct slice_list *list)
{
	pack_array(out, list->n);
	for (size_t i = 0; i < list->n; i++)
		pack_str(out, list->at[i]);
}

static void encode_records(struct buf *out, const struct field_info *field, struct record_list list)
{
	const struct shape *shape = record_shape((enum record_kind)field->record);

	pack_array(out, list.n);
	for (size_t i = 0; i < list.n; i++)
		encode_shape(out, shape, list.at + i * shape->size);
}

static void encode_field(struct buf *out, const struct field_info *field, const uint8_t *base)
{
	const void *value = base + field->offset;

	switch (field->type) {
	case TYPE_U64: pack_u64(out, *(const uint64_t *)value); break;
	case TYPE_I64: pack_i64(out, *(const int64_t *)value); break;
	case TYPE_BOOL: pack_bool(out, *(const bool *)value); break;
	case TYPE_STR: pack_str(out, *(const struct slice *)value); break;
	case TYPE_BIN: pack_bin(out, *(const struct slice *)value); break;
	case TYPE_U64S: encode_u64s(out, value); break;
	case TYPE_STRS: encode_strs(out, value); break;
	case TYPE_RECORDS: encode_records(out, field, list_at(value)); break;
	}
}

/* Must this field be sent? Optional fields that are zero or empty are left out. */
static inline bool is_sent(const struct field_info *field, const uint8_t *base)
{
	const uint8_t *value = base + field->offset;

	_Static_assert(TYPE_U64 < TYPE_BOOL && TYPE_I64 < TYPE_BOOL && TYPE_BOOL < TYPE_STR, "all types behind BOOL have a length");
	_Static_assert(offsetof(struct slice, len) == offsetof(struct u64_list, n) &&
		       offsetof(struct slice, len) == offsetof(struct slice_list, n) &&
		       offsetof(struct slice, len) == offsetof(struct record_list, n), "in the same place");
	if (field->must)
		return true;
	if (field->type < TYPE_BOOL)
		return *(const uint64_t *)(const void *)value != 0;
	if (field->type == TYPE_BOOL)
		return *(const bool *)value;
	return *(const size_t *)(const void *)(value + offsetof(struct slice, len)) != 0;
}

static void encode_map(struct buf *out, const struct shape *shape, const uint8_t *base)
{
	const struct field_info *end = shape->fields + shape->field_count, *sent[FIELDS_MAX];
	size_t count = 0;

	CHECK(shape->field_count <= FIELDS_MAX);
	for (const struct field_info *field = shape->fields; field < end; field++)
		if (is_sent(field, base))
			sent[count++] = field;
	pack_map(out, count);
	for (size_t i = 0; i < count; i++) {
		pack_u64(out, sent[i]->key);
		encode_field(out, sent[i], base);
	}
}

static void encode_shape(struct buf *out, const struct shape *shape, const uint8_t *base)
{
	if (!shape->array) {
		encode_map(out, shape, base);
		return;
	}
	pack_array(out, shape->field_count);
	for (size_t i = 0; i < shape->field_count; i++)
		encode_field(out, &shape->fields[i], base);
}

void message_encode(struct buf *out, enum opcode op, const void *msg)
{
	const struct shape *shape = message_shape(op);
	size_t start = out->len, body_len;

	CHECK(shape != NULL);
	buf_reserve(out, FRAME_HEADER_SIZE);
	out->len += FRAME_HEADER_SIZE;
	encode_shape(out, shape, msg);
	body_len = out->len - start - FRAME_HEADER_SIZE;
	CHECK(body_len <= LIMIT_FRAME_MAX);
	frame_header(out->data + start, shape->opcode, (uint32_t)body_len);
}

void record_encode(struct buf *out, enum record_kind kind, const void *rec)
{
	const struct shape *shape = record_shape(kind);

	CHECK(shape != NULL);
	encode_shape(out, shape, rec);
}
