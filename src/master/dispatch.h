/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the handlers of frames. dispatch_frame.c finds the handler; some are in other files, such as graphs.c. */
#ifndef TITAN_MASTER_DISPATCH_H
#define TITAN_MASTER_DISPATCH_H

#include "master/internal.h"

/* What a handler gets: a whole frame with a known and allowed opcode, whose body isn't decoded yet. */
struct incoming_frame {
	struct master *master;
	struct peer_session *session;
	struct slice body;
	struct error *error;             /* set by a handler that returns an error, which closes the connection */
};

typedef enum err frame_handler(struct incoming_frame *in);

frame_handler on_hello, on_inventory;
frame_handler on_backup;
frame_handler on_moment;
frame_handler on_relay;
frame_handler on_prune;
frame_handler on_values, on_values_watch;
frame_handler on_goods_have, on_goods_put, on_goods_pack, on_goods_read, on_stage_read, on_artifacts;
frame_handler on_submit, on_graph_begin, on_graph_chunk, on_graph_commit;

/* store_room.c: how much disk space a request needs in the store */
enum room_need {
	ROOM_FOR_ANSWER,                 /* ROOM_FOR_ANSWER: no disk space, but the answer shows only committed state */
	/* ROOM_FOR_CANCEL: a little space; because a cancel frees space, it may use the last of the reserve */
	ROOM_FOR_CANCEL,
	ROOM_FOR_ACT,                    /* ROOM_FOR_ACT: little disk space */
	ROOM_FOR_NEW                     /* ROOM_FOR_NEW: as much space as the new jobs take */
};

enum err room_check(struct master *master, enum room_need need, struct error *error);
/* If there is no room, refuse the request, tell why, and return true. */
bool room_refuse(const struct incoming_frame *in, uint64_t id, enum room_need need);

/*
 * Refuse the verb of an act, or the kind of an object, for which this connection's roles give no right. Otherwise set
 * *ret_own_only to the user whose runs alone it may change, or to nothing.
 */
bool right_refuse(const struct incoming_frame *in, uint64_t id, enum opcode op, uint64_t subject, struct slice *ret_own_only);

/* Check all contents of the new version of an asset; then the core puts it. */
void assets_put(const struct incoming_frame *in, const struct msg_set *set, bool own_only);

/* Check that the contents, input records, are there and that the sender may read them; then graphs_checked is called. */
bool assets_check_graph(const struct incoming_frame *in, uint64_t id, struct slice contents, struct error *error);
/* graphs.c: the contents of a graph were checked; fault has ERR_NONE if the graph can be submitted */
void graphs_checked(struct peer_session *session, uint64_t id, const struct error *fault);

/*
 * May the job behind this connection make this request now? If not, the refusal is sent here and *ret_refused is set.
 */
enum err scope_check(const struct incoming_frame *in, enum opcode op, bool *ret_refused);

static inline enum err decode(const struct incoming_frame *in, enum opcode op, void *ret_msg)
{
	return message_decode(op, in->body, &in->master->inbox.arena, ret_msg, in->error);
}

/* Copy a text into the inbox's arena, where it lives until the turn is over. */
static inline struct slice keep(const struct incoming_frame *in, struct slice text)
{
	return arena_copy(&in->master->inbox.arena, text);
}

#endif
