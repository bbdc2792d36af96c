/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the handlers of frames share: dispatch_frame.c finds them, peer_hello.c and graphs.c have some of them. */
#ifndef TITAN_MASTER_DISPATCH_H
#define TITAN_MASTER_DISPATCH_H

#include "master/internal.h"

/* What a handler gets: the frame is known, allowed and whole, but not yet decoded. */
struct incoming_frame {
	struct master *master;
	struct session *session;
	struct slice body;
	struct error *error;             /* of the connection: returned, it is closed */
};

typedef enum err frame_handler(struct incoming_frame *in);

frame_handler on_hello, on_inventory;
frame_handler on_backup;
frame_handler on_relay;
frame_handler on_prune;
frame_handler on_submit, on_graph_begin, on_graph_chunk, on_graph_commit;

/* store_room.c: what a request needs of the store's disk */
enum room_need {
	ROOM_FOR_ANSWER,                 /* nothing, but answers show only what is durable */
	ROOM_FOR_CANCEL,                 /* little, and it makes room: it may have the last reserve */
	ROOM_FOR_ACT,                    /* little */
	ROOM_FOR_NEW                     /* as much as the jobs that it begins */
};

enum err room_check(struct master *master, enum room_need need, struct error *error);
bool room_refuse(const struct incoming_frame *in, uint64_t id, enum room_need need);     /* tells why, too */

/* For a connection of a job: may it ask this now? What may not be asked is answered here. */
enum err scope_check(const struct incoming_frame *in, enum opcode op, bool *ret_refused);

static inline enum err decode(const struct incoming_frame *in, enum opcode op, void *ret_msg)
{
	return message_decode(op, in->body, &in->master->inbox.arena, ret_msg, in->error);
}

/* For an input: lives until the turn is over. */
static inline struct slice keep(const struct incoming_frame *in, struct slice text)
{
	return arena_copy(&in->master->inbox.arena, text);
}

#endif
