/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The connection of a session to the master of an earlier time. It says for whom it asks, passes queries on, and answers
 * back. A session that doesn't read its answers stops the reading of that master's.
 */
#include "master/moments.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "master/sight.h"

#define DECIDES_MAX 256                  /* most runs of others that a person sees: HELLO is short */

struct moment_relay {                    /* a session's connection to the master of an earlier time */
	struct moment_relay *next;
	struct master *master;
	uint64_t conn, request;          /* the session; 0: it has ended */
	int64_t wall_ms;
	struct conn *then;
	bool shown;                      /* the session was told that it is there */
	bool paused;
};

enum err moment_ended(struct error *error)
{
	return error_set(error, ERR_UNREACHABLE, "the process that showed the earlier time has ended; run the command again");
}

static void relay_free(struct moment_relay *relay)
{
	struct moment_relay **at = &relay->master->moment_relays;

	while (*at != relay)
		at = &(*at)->next;
	*at = relay->next;
	mem_free(relay);
}

static void then_answered(struct moment_relay *relay, struct peer_session *session, const struct frame *frame)
{
	struct arena arena = { 0 };
	struct error error;
	union {
		struct msg_welcome welcome;
		struct msg_error error;
	} msg;
	enum err err = message_decode((enum opcode)frame->opcode, frame->body, &arena, &msg, &error);

	if (err == ERR_NONE && frame->opcode == OP_WELCOME) {
		struct msg_shown shown = { .id = relay->request, .wall_ms = relay->wall_ms, .turn = msg.welcome.turn };

		relay->shown = true;
		session_send(session, OP_SHOWN, &shown);
	} else if (err == ERR_NONE) {
		/* The connection closes next. */
		error_set(&error, msg.error.code == ERR_BUSY ? ERR_BUSY : ERR_UNREACHABLE, "%.*s", (int)msg.error.text.len,
			  (const char *)msg.error.text.data);
		session_refuse(session, relay->request, &error);
		session->past = NULL;
		relay->conn = 0;
	}
	arena_free(&arena);
}

static void pass_on(struct conn *to, const struct frame *frame)
{
	struct buf bytes = { 0 };
	uint8_t header[FRAME_HEADER_SIZE];

	frame_header(header, frame->opcode, (uint32_t)frame->body.len);
	buf_add(&bytes, header, sizeof(header));
	buf_add_slice(&bytes, frame->body);
	conn_send_frames(to, buf_slice(&bytes));
	buf_free(&bytes);
}

static void frame_cb(struct conn *conn, const struct frame *frame, void *owner)
{
	struct moment_relay *relay = owner;
	struct peer_session *session = relay->conn ? session_find(relay->master, relay->conn) : NULL;

	if (!session)
		return;
	if (!relay->shown) {
		if (frame->opcode == OP_WELCOME || frame->opcode == OP_ERROR)
			then_answered(relay, session, frame);
		return;
	}
	pass_on(session->conn, frame);
	if (!relay->paused && session_queued(session) > QUERY_QUEUE_MAX) {
		relay->paused = true;
		conn_pause(conn, true);
	}
}

static void closed_cb(struct conn *conn, const struct error *why, void *owner)
{
	struct moment_relay *relay = owner;
	struct peer_session *session = relay->conn ? session_find(relay->master, relay->conn) : NULL;
	struct error error;

	(void)conn;
	(void)why;
	if (session) {
		moment_ended(&error);
		session->past = NULL;
		if (relay->shown)
			session_fail(session, &error);
		else
			session_refuse(session, relay->request, &error);
	}
	relay_free(relay);
}

static const struct conn_ops then_ops = { .frame_cb = frame_cb, .closed_cb = closed_cb };

/* Say who asks, and what this person may see at present. */
static void say_who(const struct peer_session *session, struct conn *then)
{
	const struct sight sight = sight_of(session);
	uint64_t runs[DECIDES_MAX];
	struct msg_hello hello = {
		.version = PROTOCOL_VERSION, .kind = PEER_CLIENT, .person = slice_str(session->principal.name), .person_sees_all = sight.all,
	};

	if (!sight.all && sight.decides)
		hello.person_decides = (struct u64_list){
			.at = runs, .n = view_decided_by(session->master->core, hello.person, runs, DECIDES_MAX),
		};
	conn_send(then, OP_HELLO, &hello);
}

bool moment_attach(struct peer_session *session, const char *key, uint64_t request)
{
	struct master *master = session->master;
	struct moment_relay *relay;
	struct statedir then;
	struct buf at = { 0 };
	char path[PATH_MAX];
	int fd;

	if (statedir_past(&master->options.statedir, key, &then) < 0 || statedir_socket_connect(&then, &fd) < 0)
		return false;
	relay = mem_zalloc(sizeof(*relay));
	relay->master = master;
	relay->conn = session->id;
	relay->request = request;
	if (io_read_file(AT_FDCWD, statedir_path(&then, "at", path), 64, &at) == 0)
		relay->wall_ms = strtoll(buf_cstr(&at), NULL, 10);
	buf_free(&at);
	relay->next = master->moment_relays;
	master->moment_relays = relay;
	session->past = relay;
	relay->then = conn_open(master->conns, transport_unix(fd), &then_ops, relay);
	conn_set_max_body(relay->then, LIMIT_FRAME_MAX);
	say_who(session, relay->then);
	return true;
}

enum err moments_pass_on(struct incoming_frame *in, const struct frame *frame)
{
	struct moment_relay *relay = in->session->past;
	struct msg_unsubscribe request;          /* every request has its id in the same place as UNSUBSCRIBE */
	struct error error;

	if (frame->opcode == OP_QUERY && relay->shown) {
		pass_on(relay->then, frame);
		return ERR_NONE;
	}
	if (frame->opcode == OP_ERROR || decode(in, OP_UNSUBSCRIBE, &request) != ERR_NONE)
		return error_set(in->error, ERR_NOT_EXPECTED, "this connection looks at an earlier time, so it takes only queries");
	error_set(&error, ERR_INVALID, "this connection looks at an earlier time, of which nothing but queries can be answered");
	session_refuse(in->session, request.id, &error);
	return ERR_NONE;
}

void moments_forget(struct peer_session *session)
{
	if (!session->past)
		return;
	session->past->conn = 0;
	conn_close(session->past->then);
	session->past = NULL;
}

void moments_drained(struct peer_session *session)
{
	if (!session->past || !session->past->paused || session_queued(session) > QUERY_QUEUE_MAX / 2)
		return;
	session->past->paused = false;
	conn_pause(session->past->then, false);
}

void moment_relays_free(struct master *master)
{
	while (master->moment_relays)
		relay_free(master->moment_relays);
}
