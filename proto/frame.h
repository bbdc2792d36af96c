/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A frame: format (2), opcode, flags (0), spare (0), length (u32, big-endian), and a body of that length, a
 * MessagePack map. frame_check is the guard in front of msgpack-c, which would allocate by the counts that a
 * sender declares.
 */
#ifndef TITAN_PROTO_FRAME_H
#define TITAN_PROTO_FRAME_H

#include "base/buf.h"
#include "proto/error.h"

#define FRAME_FORMAT      2                /* the first byte of each frame; stays the same when the protocol gets a new version */
#define FRAME_HEADER_SIZE 8

struct frame {
	uint8_t opcode;
	struct slice body;       /* the body; points into the bytes that were read */
};

enum frame_status { FRAME_PARTIAL, FRAME_WHOLE, FRAME_BAD };

/* Look for a frame at the front of bytes. FRAME_WHOLE: it takes *ret_size bytes. FRAME_BAD: error says why. */
enum frame_status frame_read(struct slice bytes, size_t max_body, struct frame *ret_frame,
			     size_t *ret_size, struct error *error);
void frame_header(uint8_t out[FRAME_HEADER_SIZE], uint8_t opcode, uint32_t body_len);

/*
 * Is body one MessagePack value, within the limits on depth and number of values, with counts that fit its
 * bytes, and nothing behind it? If ret_size isn't NULL, it gets the size of the value, and bytes may follow.
 */
enum err frame_check(struct slice body, size_t *ret_size, struct error *error);

#endif
