/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames, and the guard in front of msgpack-c. frame_check reads each structural byte of the body once,
 * without recursion or allocation, and refuses counts that the bytes left can't hold: so six bytes can't ask
 * for 4 GiB.
 */
#include "proto/frame.h"

#include "proto/limits.h"
#include "proto/message.h"

void frame_header(uint8_t out[FRAME_HEADER_SIZE], uint8_t opcode, uint32_t body_len)
{
	out[0] = FRAME_FORMAT;
	out[1] = opcode;
	out[2] = 0;
	out[3] = 0;
	out[4] = (uint8_t)(body_len >> 24);
	out[5] = (uint8_t)(body_len >> 16);
	out[6] = (uint8_t)(body_len >> 8);
	out[7] = (uint8_t)body_len;
}

static uint32_t big_endian(const uint8_t *at, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

enum frame_status frame_read(struct slice bytes, size_t max_body, struct frame *ret_frame, size_t *ret_size,
			     struct error *error)
{
	uint32_t len;

	/* the first byte is the format, so other protocols are refused without waiting for eight bytes */
	if (bytes.len > 0 && bytes.data[0] != FRAME_FORMAT) {
		error_set(error, ERR_VERSION, "the received bytes aren't a frame of titan: they begin with %u instead of %u",
			  bytes.data[0], FRAME_FORMAT);
		return FRAME_BAD;
	}
	if (bytes.len < FRAME_HEADER_SIZE)
		return FRAME_PARTIAL;
	if (bytes.data[2] != 0 || bytes.data[3] != 0) {
		error_set(error, ERR_FRAME, "the frame header has unknown flags %02x %02x", bytes.data[2],
			  bytes.data[3]);
		return FRAME_BAD;
	}
	len = big_endian(bytes.data + 4, 4);
	if (len > max_body) {
		error_set(error, ERR_FRAME, "the frame has %u bytes; at most %zu are allowed here", len, max_body);
		return FRAME_BAD;
	}
	if (bytes.len - FRAME_HEADER_SIZE < len)
		return FRAME_PARTIAL;
	ret_frame->opcode = bytes.data[1];
	ret_frame->body = slice_make(bytes.data + FRAME_HEADER_SIZE, len);
	*ret_size = FRAME_HEADER_SIZE + len;
	return FRAME_WHOLE;
}

/* What a first byte announces; extra: how many bytes of a length or number follow. */
enum lead_kind { LEAD_NUMBER, LEAD_BYTES, LEAD_ARRAY, LEAD_MAP, LEAD_BAD };

struct lead {
	uint8_t kind;
	uint8_t extra;
};

/* First bytes 0xc0 to 0xdf; all other first bytes contain their count. */
static const struct lead leads[32] = {
	/* first bytes of nil, unused, bool */
	{ LEAD_NUMBER, 0 }, { LEAD_BAD, 0 },    { LEAD_NUMBER, 0 }, { LEAD_NUMBER, 0 },
	{ LEAD_BYTES, 1 },  { LEAD_BYTES, 2 },  { LEAD_BYTES, 4 },                       /* first bytes of bin */
	{ LEAD_BAD, 0 },    { LEAD_BAD, 0 },    { LEAD_BAD, 0 },                         /* first bytes of ext */
	{ LEAD_NUMBER, 4 }, { LEAD_NUMBER, 8 },                                          /* first bytes of float */
	/* first bytes of unsigned numbers */
	{ LEAD_NUMBER, 1 }, { LEAD_NUMBER, 2 }, { LEAD_NUMBER, 4 }, { LEAD_NUMBER, 8 },
	/* first bytes of signed numbers */
	{ LEAD_NUMBER, 1 }, { LEAD_NUMBER, 2 }, { LEAD_NUMBER, 4 }, { LEAD_NUMBER, 8 },
	{ LEAD_BAD, 0 },    { LEAD_BAD, 0 },    { LEAD_BAD, 0 },                         /* first bytes of fixext */
	{ LEAD_BAD, 0 },    { LEAD_BAD, 0 },
	{ LEAD_BYTES, 1 },  { LEAD_BYTES, 2 },  { LEAD_BYTES, 4 },                       /* first bytes of str */
	{ LEAD_ARRAY, 2 },  { LEAD_ARRAY, 4 },  { LEAD_MAP, 2 },    { LEAD_MAP, 4 },
};

struct frame_walk {
	const uint8_t *at;
	const uint8_t *end;
	uint32_t nodes;                          /* number of values declared so far */
	unsigned depth;
	uint32_t left[LIMIT_FRAME_DEPTH + 1];    /* values still to come at each depth */
};

static enum err walk_open(struct frame_walk *walk, enum lead_kind kind, uint32_t count, struct error *error)
{
	/* refuse counts that the bytes left can't hold: each value takes at least one byte */
	uint64_t values = kind == LEAD_MAP ? (uint64_t)count * 2 : count;

	if (values > (size_t)(walk->end - walk->at))
		return error_set(error, ERR_FRAME, "a list or map claims %u entries in %zu bytes", count,
				 (size_t)(walk->end - walk->at));
	if (values > LIMIT_FRAME_NODES - walk->nodes)
		return error_set(error, ERR_FRAME, "the frame has more than %d values", LIMIT_FRAME_NODES);
	if (walk->depth == LIMIT_FRAME_DEPTH)
		return error_set(error, ERR_FRAME, "the frame is nested deeper than %d", LIMIT_FRAME_DEPTH);
	walk->nodes += (uint32_t)values;
	walk->left[++walk->depth] = (uint32_t)values;
	return ERR_NONE;
}

/* Check a value whose first byte isn't a small number. */
static enum err walk_value(struct frame_walk *walk, uint8_t byte, struct error *error)
{
	struct lead lead;
	uint32_t count;

	if (byte < 0x90)
		return walk_open(walk, LEAD_MAP, byte & 0x0f, error);
	if (byte < 0xa0)
		return walk_open(walk, LEAD_ARRAY, byte & 0x0f, error);
	if (byte < 0xc0) {
		lead.kind = LEAD_BYTES;
		count = byte & 0x1f;
	} else {
		lead = leads[byte - 0xc0];
		if (lead.kind == LEAD_BAD)
			return error_set(error, ERR_FRAME, "a value has type %02x, which the protocol doesn't use", byte);
		if (lead.extra > (size_t)(walk->end - walk->at))
			return error_set(error, ERR_FRAME, "a value is cut short");
		if (lead.kind == LEAD_NUMBER) {
			walk->at += lead.extra;
			return ERR_NONE;
		}
		count = big_endian(walk->at, lead.extra);
		walk->at += lead.extra;
	}
	if (lead.kind != LEAD_BYTES)
		return walk_open(walk, lead.kind, count, error);
	if (count > (size_t)(walk->end - walk->at))
		return error_set(error, ERR_FRAME, "a value claims %u bytes, but only %zu are left", count,
				 (size_t)(walk->end - walk->at));
	walk->at += count;
	return ERR_NONE;
}

enum err frame_check(struct slice body, size_t *ret_size, struct error *error)
{
	struct frame_walk walk = { .at = body.data, .end = body.data + body.len, .nodes = 1, .left = { 1 } };
	enum err code;

	for (;;) {
		uint8_t byte;

		while (walk.left[walk.depth] == 0 && walk.depth > 0)
			walk.depth--;
		if (walk.left[walk.depth] == 0)
			break;
		walk.left[walk.depth]--;
		if (walk.at == walk.end)
			return error_set(error, ERR_FRAME, "a value is missing at the end");
		byte = *walk.at++;
		if (byte < 0x80 || byte >= 0xe0)
			continue;
		code = walk_value(&walk, byte, error);
		if (code != ERR_NONE)
			return code;
	}
	if (ret_size)
		*ret_size = (size_t)(walk.at - body.data);
	else if (walk.at != walk.end)
		return error_set(error, ERR_FRAME, "%zu bytes follow after the end of the value",
				 (size_t)(walk.end - walk.at));
	return ERR_NONE;
}
