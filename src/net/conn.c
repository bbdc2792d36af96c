/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One connection over its transport: splits what it reads into frames, queues what is to be sent, and closes. The
 * owner's callbacks are called while reading or by the set, never from inside a call that the owner makes. Only
 * conn_destroy frees a connection, and only the set calls it.
 */
#include "net/conn.h"

#include <errno.h>
#include <poll.h>

#include "base/mem.h"
#include "net/conn_internal.h"
#include "proto/limits.h"
#include "proto/version.h"

#define READS_AT_ONCE  4                 /* reads in a row before other connections are served */
#define FLUSH_EAGERLY  (4 * READ_SIZE) /* with this many bytes queued in one pass of the loop, they are sent at once */
#define KEEP_OUT       READ_SIZE         /* most memory kept by an empty queue */
#define CLOSE_S        1.0

/* Update the owner's count of unsent bytes (tally) after the queue may have changed. */
static void count_queue(struct conn *conn)
{
	size_t queued = conn->tally ? conn->out.len : 0;

	if (conn->tally)
		*conn->tally += queued - conn->tallied;
	conn->tallied = queued;
}

void conn_set_tally(struct conn *conn, size_t *tally)
{
	if (conn->tally)
		*conn->tally -= conn->tallied;
	conn->tally = tally;
	conn->tallied = 0;
	count_queue(conn);
}

static bool may_read(const struct conn *conn)
{
	return conn->state == CONN_OPEN && !conn->paused && !conn->had_turn;
}

static void watch_for(struct ev_loop *loop, struct ev_io *io, bool wanted)
{
	if ((ev_is_active(io) != 0) == wanted)
		return;
	if (wanted)
		ev_io_start(loop, io);
	else
		ev_io_stop(loop, io);
}

/* Start and stop the descriptor's watchers according to what reading and writing wait for now. */
static void watch(struct conn *conn)
{
	const struct transport *transport = conn->transport;
	unsigned wants = 0;

	if (conn->state == CONN_OPEN && !conn->paused)
		wants |= transport->read_want;
	if (conn->state != CONN_DEAD && conn->blocked)
		wants |= transport->write_want;
	watch_for(conn->set->loop, &conn->readable, (wants & TRANSPORT_READ) != 0);
	watch_for(conn->set->loop, &conn->writable, (wants & TRANSPORT_WRITE) != 0);
}

/* Mark the connection dead; the set frees it later. why may be NULL. */
static void conn_kill(struct conn *conn, const struct error *why)
{
	if (conn->state == CONN_DEAD)
		return;
	conn->state = CONN_DEAD;
	watch(conn);
	ev_timer_stop(conn->set->loop, &conn->deadline);
	if (why && !conn->why) {
		conn->why = mem_alloc(sizeof(*why));
		*conn->why = *why;
	}
	conn_want(conn, WANT_SWEEP);
}

/* The transport failed with -errno: end the connection, with the transport's own error text if it has one. */
static void transport_failed(struct conn *conn, int result, const char *what)
{
	const struct transport_fault *fault = conn->transport->fault;
	struct error error;

	if (fault)
		error_set(&error, fault->code, "%s", fault->text);
	else
		error_system(&error, -result, "%s", what);
	conn_kill(conn, &error);
}

void conn_destroy(struct conn *conn)
{
	struct conn_set *set = conn->set;

	ev_io_stop(set->loop, &conn->readable);
	ev_io_stop(set->loop, &conn->writable);
	ev_timer_stop(set->loop, &conn->deadline);
	transport_close(conn->transport);
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		set->first = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	conn_set_tally(conn, NULL);
	buf_free(&conn->in);
	buf_free(&conn->out);
	mem_free(conn->why);
	mem_free(conn);
}

/* ---- sending ---- */

static void queue_is_empty(struct conn *conn)
{
	if (conn->blocked) {
		conn->blocked = false;
		watch(conn);
	}
	if (conn->out.cap > KEEP_OUT)
		buf_free(&conn->out);
	else
		buf_clear(&conn->out);
	count_queue(conn);
	if (conn->state == CONN_CLOSING)
		conn_kill(conn, NULL);
	else if (conn->was_full)
		conn_want(conn, WANT_DRAINED);
	conn->was_full = false;
}

/*
 * The peer takes no more bytes. Bytes that it sent before may be unread, so reading continues to the end of the stream.
 */
static void peer_closed(struct conn *conn)
{
	conn->deaf = true;
	queue_is_empty(conn);
}

void conn_flush(struct conn *conn)
{
	while (conn->out.len > 0) {
		ssize_t sent = transport_write(conn->transport, conn->out.data, conn->out.len);

		if (sent >= 0) {
			buf_drop(&conn->out, (size_t)sent);
			conn->sent += (uint64_t)sent;
			count_queue(conn);
			continue;
		}
		if (sent == -EAGAIN) {
			conn->was_full = true;
			conn->blocked = true;
			watch(conn);
			/*
			 * Reading waits for the descriptor to become writable; this write may have used up that
			 * event, so try to read now.
			 */
			if (conn->transport->read_want == TRANSPORT_WRITE)
				conn_want(conn, WANT_READ);
			return;
		}
		if (sent == -EPIPE || sent == -ECONNRESET) {
			peer_closed(conn);
			return;
		}
		transport_failed(conn, (int)sent, "can't send on a connection");
		return;
	}
	queue_is_empty(conn);
}

/* Handle bytes that were appended after the first old_len bytes of the queue. */
static void queued(struct conn *conn, size_t old_len)
{
	struct error error;

	if (conn->deaf) {
		buf_clear(&conn->out);
		count_queue(conn);
		return;
	}
	if (conn->narrow)
		version_narrow(&conn->out, old_len);
	if (conn->state == CONN_OPEN && conn->out.len > conn->max_queue) {
		buf_cut(&conn->out, old_len);
		count_queue(conn);
		error_set(&error, ERR_BUSY, "%zu bytes wait to be sent to a client or worker that reads too slowly",
			  conn->max_queue);
		conn_fail(conn, &error);
		return;
	}
	count_queue(conn);
	if (conn->out.len > READ_SIZE)
		conn->was_full = true;
	if (conn->blocked)
		return;
	if (conn->out.len >= FLUSH_EAGERLY)
		conn_flush(conn);
	else
		conn_want(conn, WANT_FLUSH);
}

void conn_send(struct conn *conn, enum opcode op, const void *msg)
{
	size_t old_len = conn->out.len;

	if (conn->state != CONN_OPEN)
		return;
	message_encode(&conn->out, op, msg);
	queued(conn, old_len);
}

void conn_send_frames(struct conn *conn, struct slice frames)
{
	size_t old_len = conn->out.len;

	if (conn->state != CONN_OPEN)
		return;
	buf_add_slice(&conn->out, frames);
	queued(conn, old_len);
}

size_t conn_queued(const struct conn *conn)
{
	return conn->out.len;
}

uint64_t conn_sent(const struct conn *conn)
{
	return conn->sent;
}

bool conn_peer_gone(const struct conn *conn)
{
	struct pollfd peer = { .fd = conn->transport->fd };

	/* POLLHUP means that both directions are closed. A peer that has only finished sending may still read. */
	return conn->deaf || (poll(&peer, 1, 0) > 0 && (peer.revents & (POLLHUP | POLLERR)) != 0);
}

/* ---- receiving ---- */

/* Pass whole frames to the owner; return the number of their bytes. */
static size_t deliver(struct conn *conn, struct slice bytes)
{
	size_t done = 0, count = 0;

	conn->had_turn = false;
	while (conn->state == CONN_OPEN && !conn->paused) {
		struct slice rest = slice_make(bytes.data + done, bytes.len - done);
		struct frame frame;
		struct error error;
		size_t size;

		if (conn->frames_at_once > 0 && count++ == conn->frames_at_once && rest.len > 0) {
			conn->had_turn = true;
			conn_want(conn, WANT_FRAMES);
			return done;
		}
		switch (frame_read(rest, conn->max_body, &frame, &size, &error)) {
		case FRAME_PARTIAL:
			return done;
		case FRAME_BAD:
			conn_fail(conn, &error);
			return done;
		case FRAME_WHOLE:
			conn->ops->frame_cb(conn, &frame, conn->owner);
			done += size;
			break;
		}
	}
	return done;
}

void conn_deliver_held(struct conn *conn)
{
	buf_drop(&conn->in, deliver(conn, buf_slice(&conn->in)));
	if (conn->in.len == 0)
		buf_free(&conn->in);
}

/* Handle the result of a read; false: there is nothing more to read now. */
static bool received(struct conn *conn, uint8_t *place, ssize_t got)
{
	struct error error;

	if (got == -EAGAIN)
		return false;
	if (got < 0 && got != -ECONNRESET) {
		transport_failed(conn, (int)got, "can't read from a connection");
		return false;
	}
	if (got <= 0) {
		error_set(&error, ERR_FRAME, "the other side closed the connection in the middle of a frame");
		conn_kill(conn, conn->in.len > 0 ? &error : NULL);
		return false;
	}
	if (place == conn->set->scratch) {
		struct slice bytes = slice_make(place, (size_t)got);
		size_t done = deliver(conn, bytes);

		if (conn->state == CONN_OPEN)
			buf_add(&conn->in, bytes.data + done, bytes.len - done);
	} else {
		conn->in.len += (size_t)got;
		conn_deliver_held(conn);
	}
	return got == READ_SIZE || conn->transport->holds;
}

void conn_read(struct conn *conn)
{
	bool more = true;

	/* Deliver the frames held back first: the next read may find the end of the stream. */
	if (conn->wants & WANT_FRAMES) {
		conn->wants &= ~(unsigned)WANT_FRAMES;
		conn_deliver_held(conn);
	}
	for (int i = 0; i < READS_AT_ONCE && may_read(conn) && more; i++) {
		uint8_t *place = conn->set->scratch;

		if (conn->in.len > 0)
			place = buf_reserve(&conn->in, READ_SIZE);
		more = received(conn, place, transport_read(conn->transport, place, READ_SIZE));
	}
	if (conn->transport->holds && conn->state == CONN_OPEN && !conn->paused)
		conn_want(conn, WANT_READ);
	watch(conn);
	/*
	 * Writing waits for the descriptor to become readable; this read may have used up that event, so try to
	 * write now.
	 */
	if (conn->blocked && conn->transport->write_want == TRANSPORT_READ)
		conn_flush(conn);
}

static void ready_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct conn *conn = io->data;
	unsigned ready = io == &conn->readable ? TRANSPORT_READ : TRANSPORT_WRITE;

	(void)loop;
	(void)events;
	if (conn->blocked && conn->transport->write_want == ready)
		conn_flush(conn);
	if (conn->state == CONN_OPEN && !conn->paused && conn->transport->read_want == ready)
		conn_read(conn);
}

void conn_pause(struct conn *conn, bool pause)
{
	if (conn->state != CONN_OPEN || conn->paused == pause)
		return;
	conn->paused = pause;
	watch(conn);
	if (pause)
		return;
	if (conn->in.len > 0)
		conn_want(conn, WANT_FRAMES);
	if (conn->transport->holds || conn->transport->read_want == TRANSPORT_WRITE)
		conn_want(conn, WANT_READ);
}

/* ---- opening and closing ---- */

static void deadline_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	conn_kill(timer->data, NULL);
}

struct conn *conn_open(struct conn_set *set, struct transport *transport, const struct conn_ops *ops, void *owner)
{
	struct conn *conn = mem_zalloc(sizeof(*conn));

	conn->set = set;
	conn->transport = transport;
	conn->ops = ops;
	conn->owner = owner;
	conn->max_body = LIMIT_FRAME_MAX_UNAUTH;
	conn->max_queue = LIMIT_CONN_QUEUE_MAX;
	conn->next = set->first;
	if (conn->next)
		conn->next->prev = conn;
	set->first = conn;
	ev_io_init(&conn->readable, ready_cb, transport->fd, EV_READ);
	ev_io_init(&conn->writable, ready_cb, transport->fd, EV_WRITE);
	ev_timer_init(&conn->deadline, deadline_cb, CLOSE_S, 0.0);
	conn->readable.data = conn;
	conn->writable.data = conn;
	conn->deadline.data = conn;
	watch(conn);
	return conn;
}

void conn_set_max_body(struct conn *conn, size_t max_body)
{
	conn->max_body = max_body;
}

void conn_set_version(struct conn *conn, uint64_t version)
{
	conn->narrow = version < PROTOCOL_VERSION;
}

void conn_set_frames_at_once(struct conn *conn, size_t most)
{
	conn->frames_at_once = most;
}

void conn_set_max_queue(struct conn *conn, size_t max_queue)
{
	conn->max_queue = max_queue;
}

int conn_fd(const struct conn *conn)
{
	return conn->transport->fd;
}

int conn_identity(const struct conn *conn, struct identity *ret)
{
	return transport_identity(conn->transport, ret);
}

void conn_close(struct conn *conn)
{
	if (conn->state != CONN_OPEN)
		return;
	conn->state = CONN_CLOSING;
	watch(conn);
	if (conn->out.len == 0) {
		conn_kill(conn, NULL);
		return;
	}
	ev_timer_start(conn->set->loop, &conn->deadline);
}

void conn_cut(struct conn *conn, const struct error *why)
{
	buf_free(&conn->out);
	count_queue(conn);
	conn_kill(conn, why);
}

void conn_fail(struct conn *conn, const struct error *why)
{
	struct msg_error error = {
		.code = why->code,
		.text = slice_str(why->text),
		.next = slice_str(why->next),
	};

	if (conn->state != CONN_OPEN)
		return;
	conn->why = mem_alloc(sizeof(*why));
	*conn->why = *why;
	if (!conn->deaf) {
		size_t old_len = conn->out.len;

		message_encode(&conn->out, OP_ERROR, &error);
		if (conn->narrow)
			version_narrow(&conn->out, old_len);
		count_queue(conn);
		conn_want(conn, WANT_FLUSH);
	}
	conn_close(conn);
}
