/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sessions: connections from their first byte to their last. Before HELLO a peer may send only one small frame within a
 * few seconds; the kernel or TLS says who the peer is. Every frame is checked against the table of rights before it is
 * decoded. A session is freed together with its connection, never earlier.
 */
#include "master/bridges.h"
#include "master/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "master/moments.h"
#include "master/upload.h"
#include "proto/limits.h"

struct peer_session *session_find(const struct master *master, uint64_t id)
{
	struct peer_session *session = map_get(&master->sessions, id);

	return session && !session->closing ? session : NULL;
}

size_t session_queued(const struct peer_session *session)
{
	return conn_queued(session->conn) + session->unrevealed;
}

size_t session_count(const struct master *master, enum peer_kind kind)
{
	size_t cursor = 0, count = 0;
	uint64_t id;
	void *value;

	while (map_next(&master->sessions, &cursor, &id, &value))
		count += ((struct peer_session *)value)->kind == kind;
	return count;
}

void session_send(struct peer_session *session, enum opcode op, const void *msg)
{
	conn_send(session->conn, op, msg);
}

/* ---- pauses ---- */

void session_pause(struct peer_session *session, enum pause_why why, bool pause)
{
	unsigned paused = pause ? session->paused | why : session->paused & ~(unsigned)why;

	if (!paused != !session->paused)
		conn_pause(session->conn, paused != 0);
	session->paused = paused;
}

void session_pause_end(struct master *master, enum pause_why why)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	while (map_next(&master->sessions, &cursor, &id, &value))
		session_pause(value, why, false);
}

void session_log_reads(struct peer_session *session)
{
	session_pause(session, PAUSE_READS,
		      session->log_reads >= LOG_READS_MAX || session_queued(session) > QUERY_QUEUE_MAX);
}

/* ---- connections that haven't sent HELLO ---- */

static void pending_add(struct peer_session *session)
{
	struct pending_list *list = &session->master->pending[session->remote];

	session->pending_prev = list->last;
	if (list->last)
		list->last->pending_next = session;
	else
		list->first = session;
	list->last = session;
	list->count++;
}

static void pending_remove(struct peer_session *session)
{
	struct pending_list *list = &session->master->pending[session->remote];

	if (session->pending_prev)
		session->pending_prev->pending_next = session->pending_next;
	else
		list->first = session->pending_next;
	if (session->pending_next)
		session->pending_next->pending_prev = session->pending_prev;
	else
		list->last = session->pending_prev;
	list->count--;
}

/* ---- refusals ---- */

void session_refuse(struct peer_session *session, uint64_t id, const struct error *error)
{
	struct msg_error msg = {
		.id = id,
		.code = error->code,
		.text = slice_str(error->text),
		.next = slice_str(error->next),
	};

	session->master->stats.refused_frames++;
	session_send(session, OP_ERROR, &msg);
}

void session_fail(struct peer_session *session, const struct error *error)
{
	if (session->closing)
		return;
	session->master->stats.refused_frames++;
	session->closing = true;
	conn_fail(session->conn, error);
}

/* ---- callbacks ---- */

static void hello_late_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct peer_session *session = timer->data;
	struct error error;

	(void)loop;
	(void)events;
	error_set(&error, ERR_TIMEOUT, "no complete HELLO arrived within %d ms", LIMIT_CONN_HELLO_MS);
	session_fail(session, &error);
}

/* A token expires by the wall clock, which may be set meanwhile: check again at least once an hour. */
static void expiry_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct peer_session *session = timer->data;
	int64_t left_ms = session->expires_ms - clock_wall_ms();
	struct error error;

	(void)events;
	if (left_ms > 0) {
		ev_timer_set(timer, left_ms < 3600 * 1000 ? (double)left_ms / 1e3 + 0.001 : 3600., 0.);
		ev_timer_start(loop, timer);
		return;
	}
	error_set(&error, ERR_DENIED, "token %s has expired", session->token);
	session_fail(session, &error);
}

void session_is_open(struct peer_session *session)
{
	struct ev_timer *timer = &session->hello_timer;

	pending_remove(session);
	session->stage = SESSION_OPEN;
	ev_timer_stop(session->master->loop, timer);
	if (session->expires_ms == 0)
		return;
	ev_set_cb(timer, expiry_cb);
	expiry_cb(session->master->loop, timer, 0);
}

static void frame_cb(struct conn *conn, const struct frame *frame, void *owner)
{
	struct peer_session *session = owner;
	struct error error;

	(void)conn;
	error_clear(&error);
	if (session->closing)
		return;
	session->master->stats.frames_in++;
	if (dispatch_frame(session, frame, &error) != ERR_NONE) {
		/* Errors of jobs aren't logged: a job could fill the log with them. */
		if (session->caller.job == 0)
			log_warn_limited("connection %llu is closed: %s", (unsigned long long)session->id, error.text);
		session_fail(session, &error);
	}
}

void session_free(struct peer_session *session)
{
	struct upload *upload;

	session->closing = true;
	line_forget(session);
	while ((upload = session->uploads)) {
		session->uploads = upload->next;
		uploads_remove(upload);
		upload_free(upload);
	}
	ev_timer_stop(session->master->loop, &session->hello_timer);
	arena_free(&session->hello_arena);
	mem_free(session->held);
	mem_free(session);
}

static void closed_cb(struct conn *conn, const struct error *why, void *owner)
{
	struct peer_session *session = owner;
	struct master *master = session->master;

	(void)conn;
	if (session->stage == SESSION_OPEN && session->kind == PEER_WORKER && !master->ending) {
		log_info_limited("worker connection %llu was closed%s%s", (unsigned long long)session->id,
			 why ? ": " : "", why ? why->text : "");
		inbox_add(master, INPUT_WORKER_GONE, session, 0, 0);
		bridges_lost(master, session->token);
	}
	if (session->stage != SESSION_OPEN)
		pending_remove(session);
	if (session->remote && session->token[0] == '\0')
		log_info_limited("a connection from %s ended before the handshake with a token was complete%s%s", session->peer, why ? ": " : "",
				 why ? why->text : "");
	map_remove(&master->sessions, session->id);
	publish_forget(master, session->id);
	watches_forget(master, session->id);
	relay_forget(master, session->id);
	moments_forget(session);
	session_free(session);
	if (master->end_wanted)
		master_stay_awake(master);
}

static void drained_cb(struct conn *conn, void *owner)
{
	struct peer_session *session = owner;

	(void)conn;
	/* Queries and subscriptions that waited for room go on in the next turn. */
	line_go_on(session);
	session_log_reads(session);
	if (session->paused & PAUSE_GOODS)
		assets_pace(session);
	moments_drained(session);
	master_stay_awake(session->master);
}

static const struct conn_ops session_ops = {
	.frame_cb = frame_cb,
	.closed_cb = closed_cb,
	.drained_cb = drained_cb,
};

/* ---- new connections ---- */

void session_turn_away(int fd, const struct error *error)
{
	struct buf frame = { 0 };
	const struct msg_error msg = { .code = error->code, .text = slice_str(error->text), .next = slice_str(error->next) };

	message_encode(&frame, OP_ERROR, &msg);
	/* Send what the socket takes at once, without waiting: for a refused connection that is enough. */
	if (send(fd, frame.data, frame.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("can't send the reason to a refused connection: %s", strerror(errno));
	buf_free(&frame);
	close(fd);
}

/* Close the oldest connection that hasn't sent HELLO: an honest peer sends it at once. */
static void evict_oldest_pending(struct master *master, bool remote)
{
	struct peer_session *oldest = master->pending[remote].first;
	struct error error;

	while (oldest && oldest->closing)
		oldest = oldest->pending_next;
	if (!oldest)
		return;
	error_set(&error, ERR_BUSY, "the master closed this connection, which sent no HELLO, to make room for others");
	session_fail(oldest, &error);
}

/*
 * Is there room for a connection? Peers of other machines are counted separately, so strangers never take the place of
 * a peer of this machine.
 */
bool session_has_room(struct master *master, bool remote)
{
	/* Connections that are being closed count until they are gone. */
	if (master->sessions.count >= LIMIT_CONN_MAX || master->pending[remote].count >= 2 * LIMIT_CONN_UNAUTH_MAX) {
		master->stats.refused_connections++;
		return false;
	}
	if (master->pending[remote].count >= LIMIT_CONN_UNAUTH_MAX)
		evict_oldest_pending(master, remote);
	return true;
}

struct peer_session *session_new(struct master *master, struct transport *transport, const struct caller *caller, bool remote)
{
	struct peer_session *session = mem_zalloc(sizeof(*session));

	session->master = master;
	session->caller = *caller;
	session->remote = remote;
	session->id = ++master->next_conn;
	session->conn = conn_open(master->conns, transport, &session_ops, session);
	conn_set_max_body(session->conn, LIMIT_FRAME_MAX_UNAUTH);
	map_put(&master->sessions, session->id, session);
	pending_add(session);
	ev_timer_init(&session->hello_timer, hello_late_cb, LIMIT_CONN_HELLO_MS / 1e3, 0.);
	session->hello_timer.data = session;
	ev_timer_start(master->loop, &session->hello_timer);
	return session;
}

void session_accept_cb(int fd, void *owner)
{
	session_accept(owner, fd, &(struct caller){ 0 });
}

void session_accept(struct master *master, int fd, const struct caller *caller)
{
	struct peer_session *session;
	struct identity identity;
	struct error error;
	int result;

	if (!session_has_room(master, false)) {
		error_set(&error, ERR_BUSY, "the master already has the highest number of connections");
		session_turn_away(fd, &error);
		return;
	}
	session = session_new(master, transport_unix(fd), caller, false);
	/* The socket's directory keeps other users out, but the peer's user is checked nevertheless. */
	result = conn_identity(session->conn, &identity);
	if (result < 0)
		error_system(&error, -result, "the system doesn't say which user opened this connection");
	if (result < 0 || principal_of(&identity, &master->options.people, &session->principal, &error) != ERR_NONE)
		session_fail(session, &error);
	else if (master->options.as_of_ms != 0)
		session->principal.roles = UINT32_C(1) << ROLE_VIEWER;
}

void session_close_all(struct master *master)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		session->closing = true;
		conn_close(session->conn);
	}
}
