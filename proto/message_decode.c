/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes bytes into structs, by the tables. Only bytes that frame_check has passed are unpacked. The result
 * is written last, and only if all of it is valid.
 */
#include "proto/message.h"

#include <msgpack.h>
#include <stdalign.h>

#include "base/check.h"
#include "proto/frame.h"

#define FIELDS_MAX 128

struct decoding {
	struct arena *arena;
	const struct shape *root;        /* named in errors: the message, or the record decoded by itself */
	struct error *error;
};

static enum err decode_shape(struct decoding *decoding, const struct shape *shape,
			     const msgpack_object *object, uint8_t *base);

static enum err wrong_type(const struct decoding *decoding, const struct shape *shape,
			   const struct field_info *field)
{
	static const char *const wanted[] = {
		"an unsigned number", "a number", "a boolean", "a string", "bytes",
		"a list of unsigned numbers", "a list of strings", "a list of records",
	};

	return error_set(decoding->error, ERR_WRONG_TYPE, "%s: field %s (%u) of %s must be %s",
			 decoding->root->name, field->name, field->key, shape->name, wanted[field->type]);
}

static enum err missing_field(const struct decoding *decoding, const struct shape *shape,
			      const struct field_info *field)
{
	return error_set(decoding->error, ERR_MISSING_FIELD, "%s: field %s (%u) of %s is missing",
			 decoding->root->name, field->name, field->key, shape->name);
}

static bool decode_u64s(struct decoding *decoding, const msgpack_object *object, struct u64_list *list)
{
	size_t n = object->via.array.size;

	if (object->type != MSGPACK_OBJECT_ARRAY)
		return false;
	list->n = n;
	list->at = n > 0 ? arena_alloc(decoding->arena, n * sizeof(*list->at)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const msgpack_object *item = &object->via.array.ptr[i];

		if (item->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			return false;
		list->at[i] = item->via.u64;
	}
	return true;
}

static bool decode_strs(struct decoding *decoding, const msgpack_object *object, struct slice_list *list)
{
	size_t n = object->via.array.size;

	if (object->type != MSGPACK_OBJECT_ARRAY)
		return false;
	list->n = n;
	list->at = n > 0 ? arena_alloc(decoding->arena, n * sizeof(*list->at)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const msgpack_object *item = &object->via.array.ptr[i];

		if (item->type != MSGPACK_OBJECT_STR)
			return false;
		list->at[i] = slice_make(item->via.str.ptr, item->via.str.size);
	}
	return true;
}

static enum err decode_records(struct decoding *decoding, const struct shape *owner,
			       const struct field_info *field, const msgpack_object *object, uint8_t *value)
{
	const struct shape *shape = record_shape((enum record_kind)field->record);
	struct { uint8_t *at; size_t n; } list = { 0 };
	enum err code;

	if (object->type != MSGPACK_OBJECT_ARRAY)
		return wrong_type(decoding, owner, field);
	list.n = object->via.array.size;
	if (list.n > 0)
		list.at = arena_alloc(decoding->arena, list.n * shape->size);
	for (size_t i = 0; i < list.n; i++) {
		code = decode_shape(decoding, shape, &object->via.array.ptr[i], list.at + i * shape->size);
		if (code != ERR_NONE)
			return code;
	}
	memcpy(value, &list, sizeof(list));
	return ERR_NONE;
}

static enum err decode_field(struct decoding *decoding, const struct shape *shape,
			     const struct field_info *field, const msgpack_object *object, uint8_t *base)
{
	void *value = base + field->offset;
	bool right = false;

	switch (field->type) {
	case TYPE_U64:
		right = object->type == MSGPACK_OBJECT_POSITIVE_INTEGER;
		*(uint64_t *)value = object->via.u64;
		break;
	case TYPE_I64:
		right = object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER ||
			(object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= INT64_MAX);
		*(int64_t *)value = object->via.i64;
		break;
	case TYPE_BOOL:
		right = object->type == MSGPACK_OBJECT_BOOLEAN;
		*(bool *)value = right && object->via.boolean;
		break;
	case TYPE_STR:
		right = object->type == MSGPACK_OBJECT_STR;
		*(struct slice *)value = slice_make(object->via.str.ptr, object->via.str.size);
		break;
	case TYPE_BIN:
		right = object->type == MSGPACK_OBJECT_BIN;
		*(struct slice *)value = slice_make(object->via.bin.ptr, object->via.bin.size);
		break;
	case TYPE_U64S:
		right = decode_u64s(decoding, object, value);
		break;
	case TYPE_STRS:
		right = decode_strs(decoding, object, value);
		break;
	case TYPE_RECORDS:
		return decode_records(decoding, shape, field, object, value);
	}
	return right ? ERR_NONE : wrong_type(decoding, shape, field);
}

static enum err decode_array(struct decoding *decoding, const struct shape *shape,
			     const msgpack_object *object, uint8_t *base)
{
	size_t have = object->via.array.size;
	enum err code;

	if (have < shape->field_count)
		memset(base, 0, shape->size);
	/* values behind the known fields come from a newer sender */
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field_info *field = &shape->fields[i];

		if (i >= have) {
			if (field->must)
				return missing_field(decoding, shape, field);
			continue;
		}
		code = decode_field(decoding, shape, field, &object->via.array.ptr[i], base);
		if (code != ERR_NONE)
			return code;
	}
	return ERR_NONE;
}

/* Find a field by its key. Senders write keys in the order of the table, so the next field is tried first. */
static const struct field_info *find_field(const struct shape *shape, size_t *hint, uint64_t key)
{
	if (*hint < shape->field_count && shape->fields[*hint].key == key)
		return &shape->fields[(*hint)++];
	for (size_t i = 0; i < shape->field_count; i++) {
		if (shape->fields[i].key != key)
			continue;
		*hint = i + 1;
		return &shape->fields[i];
	}
	return NULL;
}

static enum err decode_map(struct decoding *decoding, const struct shape *shape, const msgpack_object *object,
			   uint8_t *base)
{
	bool seen[FIELDS_MAX] = { false };
	size_t hint = 0, missing = shape->must_count;
	enum err code;

	CHECK(shape->field_count <= FIELDS_MAX);
	memset(base, 0, shape->size);
	for (size_t i = 0; i < object->via.map.size; i++) {
		const msgpack_object_kv *entry = &object->via.map.ptr[i];
		const struct field_info *field;

		if (entry->key.type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			continue;
		field = find_field(shape, &hint, entry->key.via.u64);
		if (!field)
			continue;
		if (seen[field - shape->fields])
			return error_set(decoding->error, ERR_INVALID,
					 "%s: field %s (%u) of %s is given twice", decoding->root->name,
					 field->name, field->key, shape->name);
		seen[field - shape->fields] = true;
		missing -= field->must;
		code = decode_field(decoding, shape, field, &entry->val, base);
		if (code != ERR_NONE)
			return code;
	}
	for (size_t i = 0; i < shape->field_count && missing > 0; i++)
		if (shape->fields[i].must && !seen[i])
			return missing_field(decoding, shape, &shape->fields[i]);
	return ERR_NONE;
}

static enum err decode_shape(struct decoding *decoding, const struct shape *shape,
			     const msgpack_object *object, uint8_t *base)
{
	msgpack_object_type wanted = shape->array ? MSGPACK_OBJECT_ARRAY : MSGPACK_OBJECT_MAP;

	if (object->type != wanted)
		return error_set(decoding->error, ERR_WRONG_TYPE, "%s: %s must be %s", decoding->root->name,
				 shape->name, shape->array ? "a list" : "a map");
	return shape->array ? decode_array(decoding, shape, object, base)
			    : decode_map(decoding, shape, object, base);
}

/* Decode one value that frame_check has passed. */
static enum err decode_checked(struct decoding *decoding, struct slice bytes, void *ret_value)
{
	const struct shape *shape = decoding->root;
	alignas(max_align_t) uint8_t value[MESSAGE_STRUCT_MAX];
	msgpack_unpacked unpacked;
	msgpack_unpack_return status;
	size_t offset = 0;
	enum err code;

	CHECK(shape->size <= sizeof(value));
	msgpack_unpacked_init(&unpacked);
	status = msgpack_unpack_next(&unpacked, (const char *)bytes.data, bytes.len, &offset);
	CHECK(status != MSGPACK_UNPACK_NOMEM_ERROR);
	/* if frame_check and msgpack-c ever disagree, the sender loses its connection, but we don't crash */
	if (status == MSGPACK_UNPACK_SUCCESS && offset == bytes.len)
		code = decode_shape(decoding, shape, &unpacked.data, value);
	else
		code = error_set(decoding->error, ERR_FRAME, "can't unpack %s", shape->name);
	msgpack_unpacked_destroy(&unpacked);
	if (code == ERR_NONE)
		memcpy(ret_value, value, shape->size);
	return code;
}

enum err message_decode(enum opcode op, struct slice body, struct arena *arena, void *ret_msg,
			struct error *error)
{
	struct decoding decoding = { .arena = arena, .root = message_shape(op), .error = error };
	enum err code;

	if (!decoding.root)
		return error_set(error, ERR_UNKNOWN_OP, "unknown message number %02x", (unsigned)op);
	code = frame_check(body, NULL, error);
	if (code != ERR_NONE)
		return code;
	return decode_checked(&decoding, body, ret_msg);
}

enum err record_decode(enum record_kind kind, struct slice *bytes, struct arena *arena, void *ret_rec,
		       struct error *error)
{
	struct decoding decoding = { .arena = arena, .root = record_shape(kind), .error = error };
	size_t size;
	enum err code;

	CHECK(decoding.root != NULL);
	code = frame_check(*bytes, &size, error);
	if (code != ERR_NONE)
		return code;
	code = decode_checked(&decoding, slice_make(bytes->data, size), ret_rec);
	if (code == ERR_NONE)
		*bytes = slice_make(bytes->data + size, bytes->len - size);
	return code;
}
