/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The versions of the protocol: this one and the one before it. HELLO says which versions a peer speaks, WELCOME which
 * one the connection has. A peer of the version before is sent nothing that its version lacks; before.def says what
 * its version has.
 */
#ifndef TITAN_PROTO_VERSION_H
#define TITAN_PROTO_VERSION_H

#include "proto/message.h"

/* The newest version that a peer with versions lowest to highest and this program both speak; 0: none. */
uint64_t version_choose(uint64_t lowest, uint64_t highest);
/* The newest version that the sender of a HELLO speaks: the version before this one has no field for it. */
uint64_t version_highest(const struct msg_hello *hello);

/*
 * Remove from the frames at the end of the buffer, from offset from on, all that the version before lacks: whole
 * messages, and fields of messages and records. True: something was removed.
 */
bool version_narrow(struct buf *frames, size_t from);

/* Does the version before have this message or record, and this field of it? */
bool version_had_shape(const struct shape *shape);
bool version_had_field(const struct shape *shape, unsigned key);

#endif
