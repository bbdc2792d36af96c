/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests about the contents of assets: passed to the thread of the goods, and its answers to the clients. A connection
 * with many unanswered requests isn't read; so clients send as fast as the disk writes.
 */
#include "base/log.h"
#include "master/dispatch.h"
#include "master/goods.h"
#include "master/sight.h"

#define PENDING_MAX 8                            /* with so many unanswered requests a connection isn't read */
#define QUEUE_MAX ((size_t)64 << 20)             /* with more bytes than this waiting, no connection that sends contents is read */

void assets_pace(struct peer_session *session)
{
	session_pause(session, PAUSE_GOODS, session->goods_pending > 0 && (session->goods_pending >= PENDING_MAX ||
		      session_queued(session) > QUERY_QUEUE_MAX || goods_queued(session->master->goods) > QUEUE_MAX));
}

static bool has_none(const struct incoming_frame *in, uint64_t id)
{
	struct error error = in->master->no_goods;

	if (in->master->goods)
		return false;
	if (error.code != ERR_NONE) {
		session_refuse(in->session, id, &error);
		return true;
	}
	error_set(&error, ERR_INVALID, "the contents of assets can't be read or changed at an earlier time");
	error_next(&error, "titan asset without --at");
	session_refuse(in->session, id, &error);
	return true;
}

static struct goods_sender sender_of(const struct peer_session *session)
{
	return (struct goods_sender){ session->id, slice_str(session->principal.name), sight_of(session).all };
}

static enum err on_goods(struct incoming_frame *in, enum opcode op)
{
	const struct goods_sender sender = sender_of(in->session);
	enum err err;

	if (!in->master->goods) {
		struct msg_unsubscribe request;  /* every request has its id in the same place as UNSUBSCRIBE */

		err = decode(in, OP_UNSUBSCRIBE, &request);
		if (err == ERR_NONE)
			has_none(in, request.id);
		return err;
	}
	err = goods_frame(in->master->goods, &sender, op, in->body, in->error);
	if (err != ERR_NONE)
		return err;
	in->session->goods_pending++;
	assets_pace(in->session);
	return ERR_NONE;
}

enum err on_goods_have(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_HAVE);
}

enum err on_goods_put(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_PUT);
}

enum err on_goods_pack(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_PACK);
}

enum err on_goods_read(struct incoming_frame *in)
{
	return on_goods(in, OP_GOODS_READ);
}

void assets_put(const struct incoming_frame *in, const struct msg_set *set, bool own_only)
{
	const struct goods_sender sender = sender_of(in->session);

	if (has_none(in, set->id))
		return;
	goods_check(in->master->goods, &sender, set, own_only);
	in->session->goods_pending++;
	assets_pace(in->session);
}

/* All contents of the new version are there: let the core put it. */
static void put_checked(struct peer_session *session, const struct goods_answer *answer)
{
	struct master *master = session->master;
	struct arena *arena = &master->inbox.arena;
	struct slice person = arena_copy(arena, slice_str(session->principal.name));
	struct core_input *input = inbox_add(master, INPUT_SET, session, answer->set.id, 256);
	struct msg_set set = answer->set;

	set.name = arena_copy(arena, set.name);
	set.text = arena_copy(arena, set.text);
	set.expect = arena_copy(arena, set.expect);
	input->set = (struct input_set){
		.set = set, .principal = session->principal.id, .person = person,
		.own_only = answer->own_only ? person : (struct slice){ 0 },
	};
	master_stay_awake(master);
}

void assets_answer(struct master *master)
{
	struct goods_answer *answer;
	size_t cursor = 0;
	uint64_t id;
	void *value;

	while ((answer = goods_take(master->goods))) {
		struct peer_session *session = session_find(master, answer->conn);

		if (session) {
			session->goods_pending--;
			if (answer->frames.len > 0)
				conn_send_frames(session->conn, buf_slice(&answer->frames));
			else if (answer->checked && !master->ending)
				put_checked(session, answer);
		}
		goods_answer_free(answer);
	}
	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		if (session->paused & PAUSE_GOODS)
			assets_pace(session);
	}
}

void assets_durable(struct master *master, const struct outbox *outbox)
{
	for (size_t i = 0; master->goods && i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_asset)
			goods_row(master->goods, &outbox->rows[i]);
}
