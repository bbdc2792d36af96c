/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes from a peer, through everything that reads them: frame header, guard, decoder, printer. The input is a frame;
 * if its header is invalid, its body is decoded as every message and record. What decodes must encode, and decode to
 * the same value again.
 */
#include <msgpack.h>
#include <stdalign.h>
#include <stddef.h>

#include "base/check.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "proto/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The guard must refuse everything that the unpacker refuses, and must find the same end. */
static void check_guard(struct slice body)
{
	msgpack_unpacked unpacked;
	size_t size, offset = 0;

	if (frame_check(body, &size, NULL) != ERR_NONE)
		return;
	CHECK(size > 0 && size <= body.len);
	msgpack_unpacked_init(&unpacked);
	CHECK(msgpack_unpack_next(&unpacked, (const char *)body.data, body.len, &offset) ==
	      MSGPACK_UNPACK_SUCCESS);
	CHECK(offset == size);
	msgpack_unpacked_destroy(&unpacked);
}

static void check_message(enum opcode op, struct slice body)
{
	alignas(max_align_t) uint8_t msg[MESSAGE_STRUCT_MAX], again[MESSAGE_STRUCT_MAX];
	struct buf first = { 0 }, second = { 0 };
	struct arena arena = { 0 };
	struct error error = { .code = ERR_NONE };
	enum err code = message_decode(op, body, &arena, msg, &error);

	CHECK(code == error.code);
	if (code == ERR_NONE) {
		struct frame frame;
		size_t size;

		message_encode(&first, op, msg);
		CHECK(frame_read(buf_slice(&first), LIMIT_FRAME_MAX, &frame, &size, &error) == FRAME_WHOLE);
		CHECK(message_decode(op, frame.body, &arena, again, &error) == ERR_NONE);
		message_encode(&second, op, again);
		CHECK(slice_eq(buf_slice(&first), buf_slice(&second)));
		/* What a peer of the version before is sent can be decoded, and has nothing more to remove. */
		version_narrow(&second, 0);
		CHECK(!version_narrow(&second, 0));
		if (frame_read(buf_slice(&second), LIMIT_FRAME_MAX, &frame, &size, &error) == FRAME_WHOLE)
			CHECK(message_decode(op, frame.body, &arena, again, &error) == ERR_NONE);
	}
	buf_clear(&first);
	message_print(&first, op, body);
	buf_free(&first);
	buf_free(&second);
	arena_free(&arena);
}

static void check_records(enum record_kind kind, struct slice bytes)
{
	alignas(max_align_t) uint8_t rec[MESSAGE_STRUCT_MAX];
	struct arena arena = { 0 };
	struct buf out = { 0 };

	while (bytes.len > 0) {
		struct slice rest = bytes;

		if (record_decode(kind, &rest, &arena, rec, NULL) != ERR_NONE)
			break;
		CHECK(rest.len < bytes.len);
		buf_clear(&out);
		record_encode(&out, kind, rec);
		bytes = rest;
	}
	buf_free(&out);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = slice_make(data, size);
	struct frame frame;
	struct error error;
	size_t frame_size;

	if (size > 65536)
		return 0;
	switch (frame_read(bytes, LIMIT_FRAME_MAX, &frame, &frame_size, &error)) {
	case FRAME_WHOLE:
		CHECK(frame_size <= size && frame.body.len + FRAME_HEADER_SIZE == frame_size);
		check_guard(frame.body);
		check_message((enum opcode)frame.opcode, frame.body);
		return 0;
	case FRAME_PARTIAL:
		return 0;
	case FRAME_BAD:
		break;
	}
	check_guard(bytes);
	for (unsigned op = 0; op < OP_LIMIT; op++)
		if (message_shape(op))
			check_message((enum opcode)op, bytes);
	for (unsigned kind = 0; kind < REC_COUNT; kind++)
		check_records((enum record_kind)kind, bytes);
	return 0;
}
