/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of the protocol before this one: what it has is kept, and what it lacks isn't sent to it. */
#include "proto/version.h"

#include <stdalign.h>

#include "base/mem.h"
#include "greatest.h"
#include "message_random.h"
#include "proto/frame.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

enum { NEED_MAY = false, NEED_MUST = true };

static const struct had {
	const char *shape;
	int record;                      /* enum record_kind; -1: a message */
	unsigned opcode, key;
	enum field_type type;
	bool must;
} had[] = {
#define VERSION_BEFORE(number)
#define HAD_RECORD(name) { #name, REC_##name, 0, 0, 0, false },
#define HAD_MESSAGE(NAME) { #NAME, -1, OP_##NAME, 0, 0, false },
#define HAD(key, type, need) { NULL, 0, 0, key, TYPE_##type, NEED_##need },
#define END_HAD
#include "proto/before.def"
#undef VERSION_BEFORE
#undef HAD_RECORD
#undef HAD_MESSAGE
#undef HAD
#undef END_HAD
};
#define HAD_COUNT (sizeof(had) / sizeof(had[0]))

static const struct field_info *field_with(const struct shape *shape, unsigned key)
{
	for (size_t i = 0; i < shape->field_count; i++)
		if (shape->fields[i].key == key)
			return &shape->fields[i];
	return NULL;
}

TEST what_the_version_before_had_is_still_the_same(void)
{
	const struct shape *shape = NULL;

	for (size_t i = 0; i < HAD_COUNT; i++) {
		const struct field_info *field;

		if (had[i].shape) {
			shape = had[i].record >= 0 ? record_shape((enum record_kind)had[i].record) : message_shape(had[i].opcode);
			ASSERTm(had[i].shape, shape);
			continue;
		}
		field = field_with(shape, had[i].key);
		ASSERTm(shape->name, field);
		ASSERT_EQ_FMTm(field->name, had[i].type, field->type, "%d");
		ASSERT_EQ_FMTm(field->name, had[i].must, field->must, "%d");
	}
	PASS();
}

static enum greatest_test_res new_fields_are_optional(const struct shape *shape)
{
	for (size_t i = 0; shape && version_had_shape(shape) && i < shape->field_count; i++)
		if (!version_had_field(shape, shape->fields[i].key))
			ASSERT_FALSEm(shape->fields[i].name, shape->fields[i].must);
	PASS();
}

TEST a_field_that_the_version_before_lacks_is_optional(void)
{
	for (int kind = 0; kind < REC_COUNT; kind++)
		CHECK_CALL(new_fields_are_optional(record_shape((enum record_kind)kind)));
	for (unsigned op = 0; op < OP_LIMIT; op++)
		CHECK_CALL(new_fields_are_optional(message_shape(op)));
	PASS();
}

TEST the_newest_common_version_is_chosen(void)
{
	static const struct { uint64_t lowest, highest, chosen; } cases[] = {
		{ PROTOCOL_BEFORE, PROTOCOL_BEFORE, PROTOCOL_BEFORE },
		{ PROTOCOL_BEFORE, PROTOCOL_VERSION, PROTOCOL_VERSION },
		{ PROTOCOL_VERSION, PROTOCOL_VERSION, PROTOCOL_VERSION },
		{ PROTOCOL_VERSION, PROTOCOL_VERSION + 1, PROTOCOL_VERSION },
		{ 0, UINT64_MAX, PROTOCOL_VERSION },
		{ 1, PROTOCOL_BEFORE, PROTOCOL_BEFORE },
		{ 0, PROTOCOL_BEFORE - 1, 0 },
		{ PROTOCOL_VERSION + 1, PROTOCOL_VERSION + 1, 0 },
		{ UINT64_MAX, UINT64_MAX, 0 },
		{ 0, 0, 0 },
		{ PROTOCOL_VERSION, PROTOCOL_BEFORE, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ASSERT_EQ_FMT(cases[i].chosen, version_choose(cases[i].lowest, cases[i].highest), "%lu");
	ASSERT_EQ(2, version_highest(&(struct msg_hello){ .version = 2 }));
	ASSERT_EQ(3, version_highest(&(struct msg_hello){ .version = 2, .newest = 3 }));
	PASS();
}

/* Empty all fields that the version before lacks. */
static void forget_new(const struct shape *shape, uint8_t *base)
{
	static const size_t sizes[] = {
		[TYPE_U64] = 8, [TYPE_I64] = 8, [TYPE_BOOL] = sizeof(bool), [TYPE_STR] = sizeof(struct slice),
		[TYPE_BIN] = sizeof(struct slice), [TYPE_U64S] = sizeof(struct u64_list),
		[TYPE_STRS] = sizeof(struct slice_list), [TYPE_RECORDS] = sizeof(struct slice_list),
	};

	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field_info *field = &shape->fields[i];
		struct { uint8_t *at; size_t n; } list;

		if (!version_had_field(shape, field->key)) {
			memset(base + field->offset, 0, sizes[field->type]);
		} else if (field->type == TYPE_RECORDS) {
			const struct shape *record = record_shape((enum record_kind)field->record);

			memcpy(&list, base + field->offset, sizeof(list));
			for (size_t at = 0; at < list.n; at++)
				forget_new(record, list.at + at * record->size);
		}
	}
}

/* Decode these frames and encode them again: lists get the places of new fields back, without values. */
static bool encode_again(struct slice frames, struct arena *arena, struct buf *out)
{
	struct frame frame;

	while (frames.len > 0) {
		alignas(max_align_t) uint8_t msg[MESSAGE_STRUCT_MAX];
		size_t size;

		memset(msg, 0, sizeof(msg));
		if (frame_read(frames, LIMIT_FRAME_MAX, &frame, &size, NULL) != FRAME_WHOLE ||
		    message_decode(frame.opcode, frame.body, arena, msg, NULL) != ERR_NONE)
			return false;
		message_encode(out, frame.opcode, msg);
		frames = slice_make(frames.data + size, frames.len - size);
	}
	return true;
}

/* A narrowed frame is the frame of the same message without what is new. */
TEST only_what_is_new_is_removed(void)
{
	struct random_messages random = { .list_max = 20 };
	struct buf frames = { 0 }, wanted = { 0 }, again = { 0 };
	unsigned removed = 0;

	rand_seed(&random.rand, 20261120);
	for (int round = 0; round < 200; round++)
		for (unsigned op = 0; op < OP_LIMIT; op++) {
			const struct shape *shape = message_shape(op);
			alignas(max_align_t) uint8_t msg[MESSAGE_STRUCT_MAX];
			size_t len;
			bool changed;

			if (!shape)
				continue;
			memset(msg, 0, sizeof(msg));
			random_shape(&random, shape, msg);
			buf_clear(&frames);
			buf_clear(&wanted);
			buf_add_str(&frames, "before");
			message_encode(&frames, OP_OK, &(struct msg_ok){ .id = 300 });
			message_encode(&frames, (enum opcode)op, msg);
			message_encode(&frames, OP_OK, &(struct msg_ok){ .id = 301 });
			forget_new(shape, msg);
			message_encode(&wanted, OP_OK, &(struct msg_ok){ .id = 300 });
			if (version_had_shape(shape))
				message_encode(&wanted, (enum opcode)op, msg);
			message_encode(&wanted, OP_OK, &(struct msg_ok){ .id = 301 });
			len = frames.len;
			buf_clear(&again);
			changed = version_narrow(&frames, strlen("before"));
			ASSERTm(shape->name, changed || len == wanted.len + strlen("before"));
			ASSERT_EQm(shape->name, changed, len != frames.len);
			ASSERTm(shape->name, slice_eq(slice_make(frames.data, strlen("before")), slice_str("before")));
			ASSERTm(shape->name, encode_again(slice_make(frames.data + strlen("before"), frames.len - strlen("before")), &random.arena, &again));
			ASSERTm(shape->name, slice_eq(buf_slice(&again), buf_slice(&wanted)));
			removed += changed;
			arena_reset(&random.arena);
		}
	ASSERT(removed > 0);
	buf_free(&again);
	buf_free(&frames);
	buf_free(&wanted);
	arena_free(&random.arena);
	PASS();
}

TEST a_workers_protocol_isnt_sent_to_the_version_before(void)
{
	struct rec_worker_row row = { .worker = 1, .name = slice_str("w1"), .slots = 4, .protocol = PROTOCOL_VERSION };
	struct msg_snapshot snapshot = { .id = 7, .turn = 12, .workers = { .at = &row, .n = 1 }, .total = 1 }, got;
	struct buf frame = { 0 };
	struct arena arena = { 0 };

	message_encode(&frame, OP_SNAPSHOT, &snapshot);
	ASSERT(version_narrow(&frame, 0));
	ASSERT_FALSE(version_narrow(&frame, 0));
	ASSERT_EQ(ERR_NONE, message_decode(OP_SNAPSHOT, slice_make(frame.data + FRAME_HEADER_SIZE, frame.len - FRAME_HEADER_SIZE), &arena, &got, NULL));
	ASSERT_EQ(7, got.id);
	ASSERT_EQ(1, got.total);
	ASSERT_EQ(1, got.workers.n);
	ASSERT_EQ(4, got.workers.at[0].slots);
	ASSERT_EQ(0, got.workers.at[0].protocol);
	arena_free(&arena);
	buf_free(&frame);
	PASS();
}

SUITE(proto_version)
{
	RUN_TEST(what_the_version_before_had_is_still_the_same);
	RUN_TEST(a_field_that_the_version_before_lacks_is_optional);
	RUN_TEST(the_newest_common_version_is_chosen);
	RUN_TEST(only_what_is_new_is_removed);
	RUN_TEST(a_workers_protocol_isnt_sent_to_the_version_before);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_version);
	GREATEST_MAIN_END();
}
