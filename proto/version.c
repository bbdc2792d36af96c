/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames for a peer of the version before: a walk over the bytes of a frame that is already encoded, so that the codec
 * knows of one version only and connections of this version pay nothing. The frames are our own, so their counts are
 * trusted. A record inside a binary field stays as it is: its reader skips the keys that it doesn't know.
 */
#include "proto/version.h"

#include "base/check.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/pack.h"

/* The keys that each message and record had, with 0 behind the last. */
#define VERSION_BEFORE(number) _Static_assert((number) == PROTOCOL_BEFORE, "proto/before.def has another version");
#define HAD_RECORD(name) static const uint8_t had_rec_##name[] = {
#define HAD_MESSAGE(NAME) static const uint8_t had_msg_##NAME[] = {
#define HAD(key, type, need) key,
#define END_HAD 0 };
#include "proto/before.def"
#undef VERSION_BEFORE
#undef HAD_RECORD
#undef HAD_MESSAGE
#undef HAD
#undef END_HAD

#define VERSION_BEFORE(number)
#define HAD(key, type, need)
#define END_HAD
static const uint8_t *const had_records[REC_COUNT] = {
#define HAD_RECORD(name) [REC_##name] = had_rec_##name,
#define HAD_MESSAGE(NAME)
#include "proto/before.def"
#undef HAD_RECORD
#undef HAD_MESSAGE
};

static const uint8_t *const had_messages[OP_LIMIT] = {
#define HAD_RECORD(name)
#define HAD_MESSAGE(NAME) [OP_##NAME] = had_msg_##NAME,
#include "proto/before.def"
#undef HAD_RECORD
#undef HAD_MESSAGE
};
#undef VERSION_BEFORE
#undef HAD
#undef END_HAD

uint64_t version_choose(uint64_t lowest, uint64_t highest)
{
	uint64_t version = highest < PROTOCOL_VERSION ? highest : PROTOCOL_VERSION;

	return version >= lowest && version >= PROTOCOL_BEFORE ? version : 0;
}

uint64_t version_highest(const struct msg_hello *hello)
{
	return hello->newest > hello->version ? hello->newest : hello->version;
}

static const uint8_t *had_keys(const struct shape *shape)
{
	if (shape->opcode != 0)
		return had_messages[shape->opcode];
	for (int kind = 0; kind < REC_COUNT; kind++)
		if (record_shape((enum record_kind)kind) == shape)
			return had_records[kind];
	return NULL;
}

static size_t had_count(const uint8_t *had)
{
	return strlen((const char *)had);
}

static bool has_key(const uint8_t *had, uint64_t key)
{
	return key > 0 && key <= UINT8_MAX && strchr((const char *)had, (int)key) != NULL;
}

bool version_had_shape(const struct shape *shape)
{
	return had_keys(shape) != NULL;
}

bool version_had_field(const struct shape *shape, unsigned key)
{
	const uint8_t *had = had_keys(shape);

	return had && has_key(had, key);
}

/* Does the version before have every field of the shape, and of the records in its lists? */
static bool had_all(const struct shape *shape, const uint8_t *had)
{
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field_info *field = &shape->fields[i];

		if (!has_key(had, field->key))
			return false;
		if (field->type == TYPE_RECORDS &&
		    !had_all(record_shape((enum record_kind)field->record), had_records[field->record]))
			return false;
	}
	return true;
}

/* ---- a walk over the bytes of a frame ---- */

static uint64_t take_number(struct slice *rest, size_t bytes)
{
	uint64_t value = 0;

	CHECK(rest->len >= bytes);
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | rest->data[i];
	*rest = slice_make(rest->data + bytes, rest->len - bytes);
	return value;
}

/* Take the first bytes of a list or map, and return the number of its values or pairs. */
static uint64_t take_count(struct slice *rest)
{
	uint64_t byte = take_number(rest, 1);

	switch (byte) {
	case 0xdc:
	case 0xde:
		return take_number(rest, 2);
	case 0xdd:
	case 0xdf:
		return take_number(rest, 4);
	default:
		return byte & 0x0f;
	}
}

static uint64_t take_key(struct slice *rest)
{
	uint64_t byte = take_number(rest, 1);

	return byte == 0xcc ? take_number(rest, 1) : byte;
}

static struct slice take_value(struct slice *rest)
{
	struct slice value = *rest;

	CHECK(frame_check(*rest, &value.len, NULL) == ERR_NONE);
	*rest = slice_make(rest->data + value.len, rest->len - value.len);
	return value;
}

static void narrow_shape(struct buf *out, const struct shape *shape, const uint8_t *had, struct slice *rest);

static void narrow_value(struct buf *out, const struct field_info *field, struct slice *rest)
{
	const struct shape *record = field->type == TYPE_RECORDS ? record_shape((enum record_kind)field->record) : NULL;
	const uint8_t *had = record ? had_records[field->record] : NULL;
	uint64_t count;

	if (!record || had_all(record, had)) {
		buf_add_slice(out, take_value(rest));
		return;
	}
	count = take_count(rest);
	pack_array(out, count);
	for (uint64_t i = 0; i < count; i++)
		narrow_shape(out, record, had, rest);
}

static void narrow_list(struct buf *out, const struct shape *shape, const uint8_t *had, struct slice *rest)
{
	uint64_t count = take_count(rest), kept = had_count(had);

	if (kept > count)
		kept = count;
	pack_array(out, kept);
	for (uint64_t i = 0; i < count; i++)
		if (i < kept)
			narrow_value(out, &shape->fields[i], rest);
		else
			take_value(rest);
}

static const struct field_info *field_with(const struct shape *shape, uint64_t key)
{
	for (size_t i = 0; i < shape->field_count; i++)
		if (shape->fields[i].key == key)
			return &shape->fields[i];
	return NULL;
}

static void narrow_map(struct buf *out, const struct shape *shape, const uint8_t *had, struct slice *rest)
{
	uint64_t count = take_count(rest), kept = 0;
	struct slice pairs = *rest;

	for (uint64_t i = 0; i < count; i++) {
		kept += has_key(had, take_key(&pairs));
		take_value(&pairs);
	}
	pack_map(out, kept);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t key = take_key(rest);
		const struct field_info *field = field_with(shape, key);

		if (!field || !has_key(had, key)) {
			take_value(rest);
			continue;
		}
		pack_u64(out, key);
		narrow_value(out, field, rest);
	}
}

static void narrow_shape(struct buf *out, const struct shape *shape, const uint8_t *had, struct slice *rest)
{
	if (shape->array)
		narrow_list(out, shape, had, rest);
	else
		narrow_map(out, shape, had, rest);
}

static void narrow_frame(struct buf *out, const struct frame *frame)
{
	const uint8_t *had = had_messages[frame->opcode];
	size_t start = out->len;
	struct slice body = frame->body;

	if (!had)
		return;
	buf_reserve(out, FRAME_HEADER_SIZE);
	out->len += FRAME_HEADER_SIZE;
	narrow_shape(out, message_shape(frame->opcode), had, &body);
	frame_header(out->data + start, frame->opcode, (uint32_t)(out->len - start - FRAME_HEADER_SIZE));
}

static bool as_before(unsigned opcode)
{
	const struct shape *shape = message_shape(opcode);

	return !shape || (had_messages[opcode] && had_all(shape, had_messages[opcode]));
}

bool version_narrow(struct buf *frames, size_t from)
{
	struct buf out = { 0 };
	size_t at = from, size, len = frames->len;
	struct frame frame;

	while (frame_read(slice_make(frames->data + at, len - at), LIMIT_FRAME_MAX, &frame, &size, NULL) == FRAME_WHOLE) {
		if (as_before(frame.opcode))
			buf_add(&out, frames->data + at, size);
		else
			narrow_frame(&out, &frame);
		at += size;
	}
	CHECK(at == len);
	buf_cut(frames, from);
	buf_add_slice(frames, buf_slice(&out));
	buf_free(&out);
	return frames->len < len;
}
