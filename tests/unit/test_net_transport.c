/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transports: unix sockets; the test pair that splits every byte; connections over that pair; and a transport that
 * refuses by a script.
 */
#include <ev.h>
#include <pthread.h>

#include "greatest.h"
#include "net/client.h"
#include "net/conn.h"
#include "proto/limits.h"
#include "transport_split.h"

TEST a_unix_socket_says_what_it_waits_for(void)
{
	struct transport *ends[2];
	uint8_t bytes[65536] = { 7 };
	struct identity identity = { .uid = 12345 };
	ssize_t moved;
	int fds[2];

	/* The sockets are blocking, to check that a transport doesn't block on them. */
	ASSERT_EQ_FMT(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), "%d");
	for (int i = 0; i < 2; i++)
		ends[i] = transport_unix(fds[i]);
	ASSERT_EQ_FMT((ssize_t)-EAGAIN, transport_read(ends[0], bytes, sizeof(bytes)), "%zd");
	ASSERT_EQ_FMT((unsigned)TRANSPORT_READ, ends[0]->read_want, "%u");
	do
		moved = transport_write(ends[0], bytes, sizeof(bytes));
	while (moved > 0);
	ASSERT_EQ_FMT((ssize_t)-EAGAIN, moved, "%zd");
	ASSERT_EQ_FMT((unsigned)TRANSPORT_WRITE, ends[0]->write_want, "%u");
	ASSERT_EQ_FMT(0, transport_identity(ends[0], &identity), "%d");
	ASSERT_EQ_FMT((unsigned)getuid(), identity.uid, "%u");
	transport_close(ends[0]);
	do
		moved = transport_read(ends[1], bytes, sizeof(bytes));
	while (moved > 0);
	ASSERT_EQ_FMT((ssize_t)0, moved, "%zd");
	ASSERT_EQ_FMT((ssize_t)-EPIPE, transport_write(ends[1], bytes, 1), "%zd");
	transport_close(ends[1]);
	transport_close(NULL);
	PASS();
}

/* The test pair must really move single bytes and delay them, or the tests of connections prove nothing. */
TEST the_pair_moves_a_byte_at_a_time_and_delays_it(void)
{
	struct transport *ends[2];
	size_t sent = 0, got = 0, delays = 0, crossed[2] = { 0 }, held = 0;
	uint8_t bytes[64];

	transport_pair(ends);
	while (got < 200) {
		uint8_t byte = (uint8_t)sent;
		ssize_t wrote = sent < 200 ? transport_write(ends[0], &byte, 1) : -EAGAIN;
		ssize_t moved = transport_read(ends[1], bytes, sizeof(bytes));

		ASSERT(wrote == 1 || wrote == -EAGAIN);
		ASSERT(moved == 1 || moved == -EAGAIN);
		sent += wrote == 1;
		/* Fill the other side, so that writing has to wait. */
		if (sent == 100 && wrote == 1)
			ASSERT_EQ_FMT((ssize_t)1, send(ends[1]->fd, "x", 1, 0), "%zd");
		crossed[0] += ends[0]->write_want == TRANSPORT_READ;
		crossed[1] += ends[1]->read_want == TRANSPORT_WRITE;
		delays += moved == -EAGAIN;
		held += ends[1]->holds;
		if (moved == 1)
			ASSERT_EQ_FMT((unsigned)(uint8_t)got++, (unsigned)bytes[0], "%u");
	}
	ASSERT_GT(delays, (size_t)80);
	ASSERT_GT(crossed[0], (size_t)10);
	ASSERT_GT(crossed[1], (size_t)10);
	ASSERT_GT(held, (size_t)10);
	transport_close(ends[0]);
	transport_close(ends[1]);
	PASS();
}

/* ---- two connections in a loop ---- */

#define FLOOD 3000

struct process_end {
	struct conn *conn;
	int64_t heard;
	bool bad, closed;
};

static void flood_cb(struct conn *conn, const struct frame *frame, void *owner)
{
	struct process_end *end = owner;
	struct arena arena = { 0 };
	struct msg_heartbeat beat;
	struct error error;

	end->bad |= frame->opcode != OP_HEARTBEAT ||
		    message_decode(OP_HEARTBEAT, frame->body, &arena, &beat, &error) != ERR_NONE || beat.sent_ns != end->heard;
	end->heard++;
	arena_free(&arena);
	/* At times pause amid held bytes; the loop below continues. */
	if (end->heard % 50 == 0)
		conn_pause(conn, true);
}

static void flood_closed_cb(struct conn *conn, const struct error *why, void *owner)
{
	struct process_end *end = owner;

	(void)conn;
	end->closed = true;
	end->bad |= why != NULL;
}

static const struct conn_ops flood_ops = { flood_cb, flood_closed_cb, NULL };

TEST connections_flood_each_other_over_the_pair(void)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct conn_set *set = conn_set_new(loop);
	struct transport *transports[2];
	struct process_end ends[2] = { 0 };

	transport_pair(transports);
	for (int i = 0; i < 2; i++) {
		ends[i].conn = conn_open(set, transports[i], &flood_ops, &ends[i]);
		conn_set_frames_at_once(ends[i].conn, 7);
		for (int64_t number = 0; number < FLOOD; number++) {
			struct msg_heartbeat beat = { .sent_ns = number };

			conn_send(ends[i].conn, OP_HEARTBEAT, &beat);
		}
	}
	while (ends[0].heard < FLOOD || ends[1].heard < FLOOD) {
		/* If something gets lost, the loop sleeps for ever, and the time-out names this test. */
		ev_run(loop, EVRUN_ONCE);
		for (int i = 0; i < 2; i++)
			conn_pause(ends[i].conn, false);
	}
	conn_close(ends[0].conn);
	while (!ends[0].closed || !ends[1].closed)
		ev_run(loop, EVRUN_ONCE);
	for (int i = 0; i < 2; i++) {
		ASSERT_FALSE(ends[i].bad);
		ASSERT_EQ_FMT((int64_t)FLOOD, ends[i].heard, "%ld");
	}
	conn_set_free(set);
	ev_loop_destroy(loop);
	PASS();
}

/* ---- one direction uses up what the other waits for ---- */

/* A scripted transport: it reads ahead, hands bytes over one at a time, and refuses as the test says. */
struct script {
	struct transport transport;
	uint8_t record[256];
	size_t at, len;
	bool read_wants_room;            /* once */
	bool write_wants_bytes;          /* writes fail until the record that was read ahead is handed over */
};

static ssize_t script_read(struct transport *transport, void *place, size_t len)
{
	struct script *script = (struct script *)transport;
	ssize_t got;

	transport->read_want = TRANSPORT_READ;
	if (script->read_wants_room) {
		script->read_wants_room = false;
		transport->read_want = TRANSPORT_WRITE;
		return -EAGAIN;
	}
	if (script->at == script->len) {
		got = recv(transport->fd, script->record, sizeof(script->record), MSG_DONTWAIT);
		if (got <= 0)
			return got < 0 ? -errno : 0;
		script->at = 0;
		script->len = (size_t)got;
	}
	if (len > 0)
		memcpy(place, script->record + script->at++, 1);
	transport->holds = script->at < script->len;
	return 1;
}

static ssize_t script_write(struct transport *transport, const void *data, size_t len)
{
	const struct script *script = (struct script *)transport;
	ssize_t sent;

	transport->write_want = TRANSPORT_WRITE;
	if (script->write_wants_bytes && (script->len == 0 || transport->holds)) {
		transport->write_want = TRANSPORT_READ;
		return -EAGAIN;
	}
	sent = send(transport->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sent < 0 ? -errno : sent;
}

static void script_close(struct transport *transport)
{
	close(transport->fd);
}

static const struct transport_ops script_ops = { script_read, script_write, split_identity, script_close };

struct scripted {
	struct ev_loop *loop;
	struct conn_set *set;
	struct script script;
	struct process_end end;
	int peer;
};

static void scripted_begin(struct scripted *ret)
{
	int fds[2];

	*ret = (struct scripted){ .loop = ev_loop_new(EVFLAG_AUTO) };
	if (!ret->loop || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		abort();
	ret->peer = fds[0];
	ret->set = conn_set_new(ret->loop);
	ret->script.transport = (struct transport){ .ops = &script_ops, .fd = fds[1], .read_want = TRANSPORT_READ,
						    .write_want = TRANSPORT_WRITE };
	ret->end.conn = conn_open(ret->set, &ret->script.transport, &flood_ops, &ret->end);
}

static void scripted_turn(struct scripted *scripted)
{
	for (int i = 0; i < 20; i++)
		ev_run(scripted->loop, EVRUN_NOWAIT);
}

static void scripted_hears(struct scripted *scripted)
{
	struct msg_heartbeat beat = { .sent_ns = 0 };
	struct buf frame = { 0 };

	message_encode(&frame, OP_HEARTBEAT, &beat);
	if (send(scripted->peer, frame.data, frame.len, 0) != (ssize_t)frame.len)
		abort();
	buf_free(&frame);
	scripted_turn(scripted);
}

static void scripted_end(struct scripted *scripted)
{
	conn_set_free(scripted->set);
	ev_loop_destroy(scripted->loop);
	close(scripted->peer);
}

TEST writing_that_takes_the_room_lets_reading_go_on(void)
{
	static uint8_t bytes[65536];
	struct msg_heartbeat beat = { 0 };
	struct scripted scripted;

	scripted_begin(&scripted);
	/* Fill the socket until there is no room. */
	while (send(scripted.script.transport.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	scripted.script.read_wants_room = true;
	scripted_hears(&scripted);
	ASSERT_EQ_FMT((int64_t)0, scripted.end.heard, "%ld");
	conn_send(scripted.end.conn, OP_HEARTBEAT, &beat);
	scripted_turn(&scripted);
	ASSERT_EQ_FMT((int64_t)1, scripted.end.heard, "%ld");
	scripted_end(&scripted);
	PASS();
}

TEST reading_that_takes_the_bytes_lets_writing_go_on(void)
{
	struct msg_heartbeat beat = { 0 };
	struct scripted scripted;

	scripted_begin(&scripted);
	scripted.script.write_wants_bytes = true;
	conn_send(scripted.end.conn, OP_HEARTBEAT, &beat);
	scripted_turn(&scripted);
	ASSERT_GT(conn_queued(scripted.end.conn), (size_t)0);
	scripted_hears(&scripted);
	ASSERT_EQ_FMT((int64_t)1, scripted.end.heard, "%ld");
	ASSERT_EQ_FMT((size_t)0, conn_queued(scripted.end.conn), "%zu");
	scripted_end(&scripted);
	PASS();
}

TEST a_command_reads_what_its_writing_waits_for(void)
{
	struct msg_welcome welcome = { .version = PROTOCOL_VERSION, .cluster = slice_str("blue"), .turn = 12, .pid = 77 };
	struct script script = { .write_wants_bytes = true };
	struct client *client = NULL;
	struct buf frame = { 0 };
	struct error error = { 0 };
	int fds[2];

	ASSERT_EQ_FMT(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), "%d");
	script.transport = (struct transport){ .ops = &script_ops, .fd = fds[1], .read_want = TRANSPORT_WRITE,
					       .write_want = TRANSPORT_WRITE };
	message_encode(&frame, OP_WELCOME, &welcome);
	ASSERT_EQ_FMT((ssize_t)frame.len, send(fds[0], frame.data, frame.len, 0), "%zd");
	ASSERT_EQ_FMTm(error.text, ERR_NONE, client_open_over(&script.transport, "the script", &client, &error), "%d");
	ASSERT_EQ_FMT((uint64_t)12, client_welcome(client)->turn, "%lu");
	client_close(client);
	close(fds[0]);
	buf_free(&frame);
	PASS();
}

/* ---- a server's connection and a command's ---- */

struct asking {
	pthread_t thread;
	struct transport *transport;
	uint64_t turn, sum;
	enum err err;
	struct error error;
};

static void *ask_cb(void *arg)
{
	struct asking *asking = arg;
	struct arena arena = { 0 };
	struct client *client = NULL;

	asking->err = client_open_over(asking->transport, "the pair", &client, &asking->error);
	if (asking->err == ERR_NONE)
		asking->turn = client_welcome(client)->turn;
	for (int i = 0; i < 20 && asking->err == ERR_NONE; i++) {
		struct msg_act act = { .id = client_next_id(client), .verb = ACT_CANCEL, .run = 5 };
		struct msg_ok ok = { 0 };

		asking->err = client_call(client, OP_ACT, &act, OP_OK, &arena, &ok, &asking->error);
		asking->sum += ok.count;
	}
	client_close(client);
	arena_free(&arena);
	return NULL;
}

static void serve_cb(struct conn *conn, const struct frame *frame, void *owner)
{
	struct process_end *end = owner;
	struct arena arena = { 0 };
	struct msg_welcome welcome = { .version = PROTOCOL_VERSION, .cluster = slice_str("blue"), .turn = 12, .pid = 77 };
	struct msg_act act = { 0 };
	struct msg_ok ok = { 0 };
	struct error error;

	if (frame->opcode == OP_HELLO) {
		conn_send(conn, OP_WELCOME, &welcome);
	} else {
		end->bad |= message_decode(OP_ACT, frame->body, &arena, &act, &error) != ERR_NONE;
		ok = (struct msg_ok){ .id = act.id, .count = act.id };
		conn_send(conn, OP_OK, &ok);
	}
	end->heard++;
	arena_free(&arena);
}

TEST a_command_is_served_over_the_pair(void)
{
	static const struct conn_ops ops = { serve_cb, flood_closed_cb, NULL };
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct conn_set *set = conn_set_new(loop);
	struct transport *transports[2];
	struct asking asking = { .err = ERR_INTERNAL };
	struct process_end end = { 0 };

	transport_pair(transports);
	asking.transport = transports[1];
	end.conn = conn_open(set, transports[0], &ops, &end);
	ASSERT_EQ_FMT(0, pthread_create(&asking.thread, NULL, ask_cb, &asking), "%d");
	while (!end.closed)
		ev_run(loop, EVRUN_ONCE);
	pthread_join(asking.thread, NULL);
	ASSERT_EQ_FMTm(asking.error.text, ERR_NONE, asking.err, "%d");
	ASSERT_EQ_FMT((uint64_t)12, asking.turn, "%lu");
	ASSERT_EQ_FMT((uint64_t)(20 * 21 / 2), asking.sum, "%lu");
	ASSERT_EQ_FMT((int64_t)21, end.heard, "%ld");
	ASSERT_FALSE(end.bad);
	conn_set_free(set);
	ev_loop_destroy(loop);
	PASS();
}

SUITE(net_transport)
{
	RUN_TEST(a_unix_socket_says_what_it_waits_for);
	RUN_TEST(the_pair_moves_a_byte_at_a_time_and_delays_it);
	RUN_TEST(connections_flood_each_other_over_the_pair);
	RUN_TEST(writing_that_takes_the_room_lets_reading_go_on);
	RUN_TEST(reading_that_takes_the_bytes_lets_writing_go_on);
	RUN_TEST(a_command_reads_what_its_writing_waits_for);
	RUN_TEST(a_command_is_served_over_the_pair);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(net_transport);
	GREATEST_MAIN_END();
}
