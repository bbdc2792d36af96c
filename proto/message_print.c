/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints a frame for people. It shows what the bytes are, not what they should be, so that malformed or newer
 * messages can be read, too. Everything is escaped or in hex.
 */
#include "proto/message.h"

#include <inttypes.h>
#include <msgpack.h>

#include "base/check.h"
#include "base/text.h"
#include "proto/frame.h"

#define PRINT_HEX_MAX 32
#define PRINT_TEXT_MAX 400

struct message_printing {
	struct buf *out;
	unsigned indent;
};

static void print_object(struct message_printing *printing, const struct shape *shape, const struct field_info *field,
			 const msgpack_object *object);

static void print_indent(const struct message_printing *printing)
{
	for (unsigned i = 0; i < printing->indent; i++)
		buf_add_str(printing->out, "  ");
}

static void print_text(const struct message_printing *printing, struct slice text)
{
	size_t shown = text.len < PRINT_TEXT_MAX ? text.len : PRINT_TEXT_MAX;

	buf_add_byte(printing->out, '"');
	text_escape(printing->out, slice_make(text.data, shown), TEXT_KEEP_NONE);
	buf_add_byte(printing->out, '"');
	if (shown < text.len)
		buf_addf(printing->out, " ... %zu bytes", text.len);
}

static void print_bytes(const struct message_printing *printing, struct slice bytes)
{
	size_t shown = bytes.len < PRINT_HEX_MAX ? bytes.len : PRINT_HEX_MAX;

	buf_addf(printing->out, "%zu bytes", bytes.len);
	for (size_t i = 0; i < shown; i++)
		buf_addf(printing->out, "%s%02x", i == 0 ? ": " : " ", bytes.data[i]);
	if (shown < bytes.len)
		buf_add_str(printing->out, " ...");
}

/* Unpack one checked value and print it. */
static void print_value(struct message_printing *printing, const struct shape *shape, struct slice bytes)
{
	msgpack_unpacked unpacked;
	size_t offset = 0;

	msgpack_unpacked_init(&unpacked);
	CHECK(msgpack_unpack_next(&unpacked, (const char *)bytes.data, bytes.len, &offset) ==
	      MSGPACK_UNPACK_SUCCESS);
	print_object(printing, shape, NULL, &unpacked.data);
	msgpack_unpacked_destroy(&unpacked);
}

/* Does this field hold job_spec records as bytes (SUBMIT, GRAPH_CHUNK, assign)? Then they are printed as records. */
static bool holds_specs(const struct field_info *field)
{
	return field && field->type == TYPE_BIN &&
	       (strcmp(field->name, "jobs") == 0 || strcmp(field->name, "spec") == 0);
}

static bool are_values(struct slice bytes)
{
	size_t size;

	for (; bytes.len > 0; bytes = slice_make(bytes.data + size, bytes.len - size))
		if (frame_check(bytes, &size, NULL) != ERR_NONE)
			return false;
	return true;
}

static void print_specs(struct message_printing *printing, struct slice bytes)
{
	size_t size;

	buf_addf(printing->out, "%zu bytes", bytes.len);
	printing->indent++;
	for (; bytes.len > 0; bytes = slice_make(bytes.data + size, bytes.len - size)) {
		if (frame_check(bytes, &size, NULL) != ERR_NONE)
			break;
		buf_add_byte(printing->out, '\n');
		print_indent(printing);
		buf_add_str(printing->out, "job_spec");
		print_value(printing, record_shape(REC_job_spec), slice_make(bytes.data, size));
	}
	printing->indent--;
}

static const struct field_info *field_by_key(const struct shape *shape, const msgpack_object *key)
{
	if (!shape || key->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return NULL;
	for (size_t i = 0; i < shape->field_count; i++)
		if (shape->fields[i].key == key->via.u64)
			return &shape->fields[i];
	return NULL;
}

static const struct shape *shape_inside(const struct field_info *field)
{
	return field && field->type == TYPE_RECORDS ? record_shape((enum record_kind)field->record) : NULL;
}

static void print_map(struct message_printing *printing, const struct shape *shape, const msgpack_object *object)
{
	printing->indent++;
	for (uint32_t i = 0; i < object->via.map.size; i++) {
		const msgpack_object_kv *entry = &object->via.map.ptr[i];
		const struct field_info *field = field_by_key(shape, &entry->key);

		buf_add_byte(printing->out, '\n');
		print_indent(printing);
		if (field) {
			buf_add_str(printing->out, field->name);
		} else {
			buf_add_str(printing->out, "unknown ");
			print_object(printing, NULL, NULL, &entry->key);
		}
		buf_add_str(printing->out, ": ");
		print_object(printing, shape_inside(field), field, &entry->val);
	}
	printing->indent--;
}

/* Print a record in list form on one line, with the names of its fields. */
static void print_record(struct message_printing *printing, const struct shape *shape, const msgpack_object *object)
{
	for (uint32_t i = 0; i < object->via.array.size; i++) {
		const struct field_info *field = i < shape->field_count ? &shape->fields[i] : NULL;

		buf_addf(printing->out, "%s%s=", i == 0 ? "" : " ", field ? field->name : "unknown");
		print_object(printing, shape_inside(field), field, &object->via.array.ptr[i]);
	}
}

static void print_array(struct message_printing *printing, const struct shape *shape, const struct field_info *field,
			const msgpack_object *object)
{
	const msgpack_object_array *array = &object->via.array;

	if (!field && shape && shape->array) {
		print_record(printing, shape, object);
		return;
	}
	buf_addf(printing->out, "%u entries", array->size);
	printing->indent++;
	for (uint32_t i = 0; i < array->size; i++) {
		msgpack_object_type type = array->ptr[i].type;

		if (type == MSGPACK_OBJECT_ARRAY || type == MSGPACK_OBJECT_MAP) {
			buf_add_byte(printing->out, '\n');
			print_indent(printing);
			buf_add_str(printing->out, type == MSGPACK_OBJECT_MAP ? "-" : "- ");
		} else {
			buf_add_str(printing->out, i == 0 ? ": " : " ");
		}
		print_object(printing, shape, NULL, &array->ptr[i]);
	}
	printing->indent--;
}

static void print_object(struct message_printing *printing, const struct shape *shape, const struct field_info *field,
			 const msgpack_object *object)
{
	struct buf *out = printing->out;
	struct slice bytes;

	switch (object->type) {
	case MSGPACK_OBJECT_NIL: buf_add_str(out, "nil"); break;
	case MSGPACK_OBJECT_BOOLEAN: buf_add_str(out, object->via.boolean ? "yes" : "no"); break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: buf_addf(out, "%" PRIu64, object->via.u64); break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: buf_addf(out, "%" PRId64, object->via.i64); break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: buf_addf(out, "%g", object->via.f64); break;
	case MSGPACK_OBJECT_STR:
		print_text(printing, slice_make(object->via.str.ptr, object->via.str.size));
		break;
	case MSGPACK_OBJECT_BIN:
		bytes = slice_make(object->via.bin.ptr, object->via.bin.size);
		if (holds_specs(field) && are_values(bytes))
			print_specs(printing, bytes);
		else
			print_bytes(printing, bytes);
		break;
	case MSGPACK_OBJECT_ARRAY: print_array(printing, shape, field, object); break;
	case MSGPACK_OBJECT_MAP: print_map(printing, shape, object); break;
	case MSGPACK_OBJECT_EXT: buf_add_str(out, "ext"); break;
	}
}

void message_print(struct buf *out, enum opcode op, struct slice body)
{
	const struct shape *shape = message_shape(op);
	struct message_printing printing = { .out = out };
	struct error error;

	if (shape)
		buf_addf(out, "%s (%02x), %zu bytes", shape->name, (unsigned)op, body.len);
	else
		buf_addf(out, "unknown message (%02x), %zu bytes", (unsigned)op, body.len);
	if (frame_check(body, NULL, &error) != ERR_NONE)
		buf_addf(out, "\n  malformed: %s", error.text);
	else
		print_value(&printing, shape, body);
	buf_add_byte(out, '\n');
}
