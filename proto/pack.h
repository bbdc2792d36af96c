/* SPDX-License-Identifier: GPL-3.0-or-later */
/* msgpack-c's packers as plain functions: including the inline ones everywhere would triple the build time. */
#ifndef TITAN_PROTO_PACK_H
#define TITAN_PROTO_PACK_H

#include "base/buf.h"

void pack_u64(struct buf *out, uint64_t value);
void pack_i64(struct buf *out, int64_t value);
void pack_bool(struct buf *out, bool value);
void pack_str(struct buf *out, struct slice value);
void pack_bin(struct buf *out, struct slice value);
void pack_array(struct buf *out, size_t count);
void pack_map(struct buf *out, size_t count);

#endif
