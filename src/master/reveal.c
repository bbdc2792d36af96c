/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frames of a turn. They are encoded while the turn is decided, because the data that they point to is freed with
 * the turn's arena, and sent when the turn is durable, never before. Consecutive items for one connection are packed
 * into one frame; each connection gets its frames in the core's order.
 */
#include "master/internal.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

#define ITEM_BYTES  64                   /* most bytes of an item in a frame, without its contents */
#define ITEMS_MAX   8192                 /* most items packed into one frame */

struct place_in_order {
	uint64_t conn;
	size_t index;
};

static struct peer_frames *part_new(struct master_turn *turn, const struct peer_session *session)
{
	struct peer_frames *last = turn->part_count > 0 ? &turn->parts[turn->part_count - 1] : NULL;

	/* Consecutive frames for one connection are sent in one piece. */
	if (last && last->conn == session->id && !last->close)
		return last;
	if (turn->part_count == turn->part_cap) {
		turn->part_cap = turn->part_cap ? turn->part_cap * 2 : 16;
		turn->parts = mem_resize(turn->parts, turn->part_cap, sizeof(*turn->parts));
	}
	last = &turn->parts[turn->part_count++];
	*last = (struct peer_frames){ .conn = session->id, .at = turn->bytes.len, .askers = session->askers };
	return last;
}

static void part_encode(struct master_turn *turn, struct peer_session *session, enum opcode op, const void *msg,
			bool close)
{
	struct peer_frames *part = part_new(turn, session);
	size_t before = turn->bytes.len;

	message_encode(&turn->bytes, op, msg);
	part->len += turn->bytes.len - before;
	part->close = close;
	turn->awaited |= session->kind == PEER_CLIENT;
	session->unrevealed += turn->bytes.len - before;
	if (part->askers)
		part->askers->unread += turn->bytes.len - before;
}

void reveal_add(struct master *master, struct master_turn *turn, uint64_t conn, enum opcode op, const void *msg)
{
	struct peer_session *session = session_find(master, conn);

	if (session)
		part_encode(turn, session, op, msg, false);
	else
		master->stats.late_frames++;
}

void reveal_error(struct master *master, struct master_turn *turn, uint64_t conn, uint64_t id,
		  const struct error *error)
{
	struct msg_error msg = {
		.id = id,
		.code = error->code,
		.text = slice_str(error->text),
		.next = slice_str(error->next),
	};

	reveal_add(master, turn, conn, OP_ERROR, &msg);
}

/* ---- encoding the frames that the core sends ---- */

static int compare_cb(const void *a, const void *b)
{
	const struct place_in_order *left = a, *right = b;

	if (left->conn != right->conn)
		return left->conn < right->conn ? -1 : 1;
	return left->index < right->index ? -1 : 1;
}

/* Size of an item in a frame of several; 0: the opcode always has a frame of its own. */
static size_t item_bytes(const struct outgoing *out)
{
	switch (out->op) {
	case OP_ASSIGN:
		return ITEM_BYTES + out->assign.spec.len;
	case OP_STOP:
	case OP_RECALL:
	case OP_ACK:
		return ITEM_BYTES;
	default:
		return 0;
	}
}

static const void *whole_message(const struct outgoing *out)
{
	switch (out->op) {
	case OP_ACCEPTED:
		return &out->accepted;
	case OP_ERROR:
		return &out->error;
	case OP_OK:
		return &out->ok;
	case OP_VALUED:
		return &out->valued;
	case OP_WELCOME:
		return &out->welcome;
	case OP_HEARTBEAT:
		return &out->heartbeat;
	case OP_QUIT:
		return &out->quit;
	case OP_CONTEXT:
		return &out->context;
	default:
		return NULL;
	}
}

/* Encode items for one connection with the same opcode as one frame. */
static void encode_items(struct master *master, struct master_turn *turn, struct peer_session *session,
			 const struct place_in_order *order, size_t count)
{
	const struct outgoing *frames = turn->outbox.frames;
	const struct outgoing *first = &frames[order[0].index];
	bool close = frames[order[count - 1].index].close;

#define PACK(OP, name, item)                                                                          \
	case OP_##OP: {                                                                               \
		struct msg_##name msg = { .items = { .n = count } };                                  \
		msg.items.at = arena_alloc(&master->scratch, count * sizeof(*msg.items.at));          \
		for (size_t i = 0; i < count; i++)                                                    \
			msg.items.at[i] = frames[order[i].index].item;                                \
		part_encode(turn, session, OP_##OP, &msg, close);                                     \
		break;                                                                                \
	}
	switch (first->op) {
	PACK(ASSIGN, assign, assign)
	PACK(STOP, stop, stop)
	PACK(RECALL, recall, recall)
	PACK(ACK, ack, ack)
	default:
		CHECK(!"an opcode without items");
	}
#undef PACK
}

/* Encode as many outgoing items as fit into one frame, from order[0] on; return their number. */
static size_t encode_next(struct master *master, struct master_turn *turn, const struct place_in_order *order,
			  size_t left)
{
	const struct outgoing *frames = turn->outbox.frames;
	const struct outgoing *first = &frames[order[0].index];
	struct peer_session *session = session_find(master, order[0].conn);
	size_t bytes = item_bytes(first), count = 1;

	if (!session) {
		master->stats.late_frames++;
		return 1;
	}
	if (bytes == 0) {
		const void *msg = whole_message(first);

		CHECK(msg);
		part_encode(turn, session, first->op, msg, first->close);
		return 1;
	}
	for (; count < left && count < ITEMS_MAX; count++) {
		const struct outgoing *next = &frames[order[count].index];

		if (next->conn != first->conn || next->op != first->op || frames[order[count - 1].index].close)
			break;
		bytes += item_bytes(next);
		if (bytes > REPLY_BYTES_MAX)
			break;
	}
	encode_items(master, turn, session, order, count);
	return count;
}

void reveal_outbox(struct master *master, struct master_turn *turn)
{
	size_t count = turn->outbox.frame_count, at = 0;
	struct place_in_order *order;
	bool mixed = false;

	if (count == 0)
		return;
	order = arena_alloc(&master->scratch, count * sizeof(*order));
	for (size_t i = 0; i < count; i++) {
		order[i] = (struct place_in_order){ turn->outbox.frames[i].conn, i };
		mixed |= order[i].conn < order[i > 0 ? i - 1 : 0].conn;
	}
	/* Sort by connection, so that alternating items for several workers are packed as well. */
	if (mixed)
		qsort(order, count, sizeof(*order), compare_cb);
	while (at < count)
		at += encode_next(master, turn, order + at, count - at);
}

/* ---- sending the frames when the turn is durable ---- */

void reveal_send(struct master *master, struct master_turn *turn)
{
	for (size_t i = 0; i < turn->part_count; i++) {
		const struct peer_frames *part = &turn->parts[i];
		struct peer_session *session = session_find(master, part->conn);

		if (part->askers)
			part->askers->unread -= part->len;
		if (!session) {
			master->stats.late_frames++;
			continue;
		}
		CHECK(session->unrevealed >= part->len);
		session->unrevealed -= part->len;
		conn_send_frames(session->conn, slice_make(turn->bytes.data + part->at, part->len));
		if (part->close) {
			session->closing = true;
			conn_close(session->conn);
		}
	}
}
