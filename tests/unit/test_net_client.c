/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A client's connection to a fake master, a thread on a real socket. Each test runs over a plain socket and over a
 * transport that splits and delays every byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/io.h"
#include "greatest.h"
#include "net/client.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "scratch.h"
#include "transport_split.h"

static bool splits;                      /* the transport under test splits bytes */
static char home[SCRATCH_SIZE];
static struct statedir statedir;
static int listen_fd = -1;

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("client", home);
	if (setenv("TITAN_STATE", home, 1) != 0 || statedir_find("blue", &statedir) != 0 ||
	    statedir_make(&statedir) != 0)
		abort();
}

static void teardown_cb(void *data)
{
	(void)data;
	if (listen_fd >= 0)
		close(listen_fd);
	listen_fd = -1;
	if (io_remove_tree(AT_FDCWD, home) != 0)
		abort();
}

/* ---- the master's part: a script in a thread ---- */

struct played {
	pthread_t thread;
	void (*part)(int fd);
	int fd;
};

static int accept_one(void)
{
	struct pollfd ready = { .fd = listen_fd, .events = POLLIN };
	int fd;

	if (poll(&ready, 1, 20000) != 1)
		abort();
	fd = accept(listen_fd, NULL, NULL);
	if (fd < 0)
		abort();
	return fd;
}

static void *play_cb(void *arg)
{
	struct played *played = arg;

	played->fd = accept_one();
	played->part(played->fd);
	close(played->fd);
	return NULL;
}

static void play(struct played *played, void (*part)(int fd))
{
	played->part = part;
	if ((listen_fd < 0 && statedir_socket_listen(&statedir, &listen_fd) != 0) ||
	    pthread_create(&played->thread, NULL, play_cb, played) != 0)
		abort();
}

static void played_end(struct played *played)
{
	pthread_join(played->thread, NULL);
}

/* Read one frame and decode its body into msg. */
static void expect(int fd, enum opcode op, struct arena *arena, void *ret_msg)
{
	struct buf bytes = { 0 };
	struct error error;
	struct frame frame;
	size_t size;

	while (frame_read(buf_slice(&bytes), LIMIT_FRAME_MAX, &frame, &size, &error) != FRAME_WHOLE) {
		if (recv(fd, buf_reserve(&bytes, 1), 1, 0) != 1)
			abort();
		bytes.len++;
	}
	frame.body = arena_copy(arena, frame.body);
	if (frame.opcode != op || message_decode(op, frame.body, arena, ret_msg, &error) != ERR_NONE)
		abort();
	buf_free(&bytes);
}

static void answer(int fd, enum opcode op, const void *msg)
{
	struct buf bytes = { 0 };

	message_encode(&bytes, op, msg);
	if (send(fd, bytes.data, bytes.len, MSG_NOSIGNAL) != (ssize_t)bytes.len)
		abort();
	buf_free(&bytes);
}

static void say_error(int fd, uint64_t id, enum err code, const char *text)
{
	struct msg_error told = {
		.id = id,
		.code = code,
		.text = slice_str(text),
		.next = slice_str("titan ls"),
	};

	answer(fd, OP_ERROR, &told);
}

static void welcome(int fd)
{
	struct arena arena = { 0 };
	struct msg_hello hello;
	struct msg_welcome message = {
		.version = PROTOCOL_VERSION,
		.cluster = slice_str("blue"),
		.generation = 3,
		.boot = 1,
		.turn = 12,
		.heartbeat_ms = 5000,
		.lease_ms = 20000,
		.role = ROLE_ADMIN,
		.pid = 77,
	};

	expect(fd, OP_HELLO, &arena, &hello);
	if (hello.version != PROTOCOL_BEFORE || hello.newest != PROTOCOL_VERSION || hello.kind != PEER_CLIENT || hello.pid != (uint64_t)getpid())
		abort();
	answer(fd, OP_WELCOME, &message);
	arena_free(&arena);
}

static uint64_t expect_act(int fd)
{
	struct arena arena = { 0 };
	struct msg_act act;

	expect(fd, OP_ACT, &arena, &act);
	arena_free(&arena);
	return act.id;
}

static enum err call_act(struct client *client, struct msg_ok *ret_ok, struct error *error)
{
	struct arena arena = { 0 };
	struct msg_act act = { .id = client_next_id(client), .verb = ACT_CANCEL, .run = 5 };
	enum err err = client_call(client, OP_ACT, &act, OP_OK, &arena, ret_ok, error);

	arena_free(&arena);
	return err;
}

static enum err open_client(struct client **ret_client, struct error *error)
{
	int fd;

	if (!splits)
		return client_open(&statedir, ret_client, error);
	if (statedir_socket_connect(&statedir, &fd) != 0)
		abort();
	return client_open_over(transport_split(fd), "the split", ret_client, error);
}

/* ---- tests ---- */

TEST nobody_there_is_said_with_the_next_command(void)
{
	struct client *client = NULL;
	struct error error;
	int fd;

	ASSERT_EQ_FMT(ERR_UNREACHABLE, client_open(&statedir, &client, &error), "%d");
	ASSERT(strstr(error.text, "no master is running at /"));
	ASSERT(strstr(error.text, "/blue/titan.sock"));
	ASSERT_STR_EQ("titan -C blue up", error.next);
	ASSERT_EQ_FMT(0, statedir_socket_listen(&statedir, &fd), "%d");
	close(fd);
	ASSERT_EQ_FMT(ERR_UNREACHABLE, client_open(&statedir, &client, &error), "%d");
	ASSERT_EQ_FMT(0, statedir_find(NULL, &statedir), "%d");
	ASSERT_EQ_FMT(ERR_UNREACHABLE, client_open(&statedir, &client, &error), "%d");
	ASSERT_STR_EQ("titan up", error.next);
	ASSERT(!client);
	PASS();
}

static void part_serve(int fd)
{
	uint64_t id;
	struct msg_delta delta = { .id = 9, .turn = 13 };
	struct msg_ok ok = { .count = 4 };

	welcome(fd);
	id = expect_act(fd);
	answer(fd, OP_DELTA, &delta);
	ok.id = id - 1;
	answer(fd, OP_OK, &ok);
	ok.id = id;
	ok.count = 5;
	answer(fd, OP_OK, &ok);
	say_error(fd, expect_act(fd), ERR_NOT_FOUND, "there is no run 5");
	/* The fake master closes the connection in order; the client notices at its next read. */
}

TEST a_call_takes_its_own_answer(void)
{
	struct played master;
	struct client *client;
	struct error error;
	struct msg_ok ok = { 0 };
	struct incoming frame;

	play(&master, part_serve);
	ASSERT_EQ_FMT(ERR_NONE, open_client(&client, &error), "%d");
	ASSERT_EQ_FMT((uint64_t)77, client_welcome(client)->pid, "%lu");
	ASSERT(slice_eq(client_welcome(client)->cluster, slice_str("blue")));
	ASSERT_EQ_FMT(ERR_PENDING, client_receive(client, 0, &frame, &error), "%d");
	ASSERT_EQ_FMT(ERR_TIMEOUT, client_receive(client, 10, &frame, &error), "%d");
	ASSERT_EQ_FMT(ERR_NONE, call_act(client, &ok, &error), "%d");
	ASSERT_EQ_FMT((uint64_t)5, ok.count, "%lu");
	ASSERT_EQ_FMT(ERR_NOT_FOUND, call_act(client, &ok, &error), "%d");
	ASSERT_STR_EQ("there is no run 5", error.text);
	ASSERT_STR_EQ("titan ls", error.next);
	played_end(&master);
	ASSERT_EQ_FMT(ERR_UNREACHABLE, call_act(client, &ok, &error), "%d");
	ASSERT(strstr(error.text, "closed the connection"));
	client_close(client);
	PASS();
}

/* The late answer to a request that timed out arrives while the next request waits. */
static void part_late_error(int fd)
{
	uint64_t id;
	struct msg_ok ok = { .count = 5 };

	welcome(fd);
	id = expect_act(fd);
	say_error(fd, id - 1, ERR_DENIED, "of the earlier request");
	say_error(fd, id + 1, ERR_DENIED, "of no request yet");
	ok.id = id;
	answer(fd, OP_OK, &ok);
	expect_act(fd);
	say_error(fd, 0, ERR_BUSY, "of the connection");
}

TEST an_error_that_answers_another_request_ends_no_call(void)
{
	struct played master;
	struct client *client;
	struct error error;
	struct msg_ok ok = { 0 };

	play(&master, part_late_error);
	ASSERT_EQ_FMT(ERR_NONE, open_client(&client, &error), "%d");
	ASSERT(client_next_id(client) > 0);
	ASSERT_EQ_FMT(ERR_NONE, call_act(client, &ok, &error), "%d");
	ASSERT_EQ_FMT((uint64_t)5, ok.count, "%lu");
	ASSERT_EQ_FMT(ERR_BUSY, call_act(client, &ok, &error), "%d");
	ASSERT_STR_EQ("of the connection", error.text);
	played_end(&master);
	client_close(client);
	PASS();
}

static void part_turn_away(int fd)
{
	say_error(fd, 0, ERR_BUSY, "too many connections");
}

static void part_old_version(int fd)
{
	struct arena arena = { 0 };
	struct msg_hello hello;
	struct msg_welcome message = { .version = PROTOCOL_BEFORE - 1, .cluster = slice_str("blue"), .pid = 1 };

	expect(fd, OP_HELLO, &arena, &hello);
	answer(fd, OP_WELCOME, &message);
	arena_free(&arena);
}

/* A master of the version before: it welcomes the client, and then reads one request. */
static void part_before(int fd)
{
	struct arena arena = { 0 };
	struct msg_hello hello;
	struct msg_act act;
	struct msg_welcome message = { .version = PROTOCOL_BEFORE, .cluster = slice_str("blue"), .pid = 1 };

	expect(fd, OP_HELLO, &arena, &hello);
	answer(fd, OP_WELCOME, &message);
	expect(fd, OP_ACT, &arena, &act);
	answer(fd, OP_OK, &(struct msg_ok){ .id = act.id, .count = 1 });
	arena_free(&arena);
}

static void part_garbage(int fd)
{
	if (send(fd, "SSH-2.0-OpenSSH\r\n", 17, MSG_NOSIGNAL) != 17)
		abort();
}

TEST a_greeting_that_fails_says_why(void)
{
	struct played master;
	struct client *client = NULL;
	struct error error;

	play(&master, part_turn_away);
	ASSERT_EQ_FMT(ERR_BUSY, open_client(&client, &error), "%d");
	ASSERT_STR_EQ("too many connections", error.text);
	played_end(&master);
	play(&master, part_old_version);
	ASSERT_EQ_FMT(ERR_VERSION, open_client(&client, &error), "%d");
	played_end(&master);
	play(&master, part_garbage);
	ASSERT_EQ_FMT(ERR_VERSION, open_client(&client, &error), "%d");
	ASSERT(strstr(error.text, "can't understand"));
	played_end(&master);
	ASSERT(!client);
	PASS();
}

TEST an_older_master_gets_only_what_it_knows(void)
{
	struct rec_worker_row row = { .name = slice_str("w"), .protocol = PROTOCOL_VERSION };
	struct msg_snapshot unknown = { .workers = { .at = &row, .n = 1 } };
	struct played master;
	struct client *client = NULL;
	struct error error;
	struct msg_ok ok;

	play(&master, part_before);
	ASSERT_EQ_FMT(ERR_NONE, open_client(&client, &error), "%d");
	ASSERT_EQ_FMT(ERR_VERSION, client_send(client, OP_SNAPSHOT, &unknown, &error), "%d");
	ASSERT(strstr(error.text, "older titan"));
	ASSERT_STR_EQ("titan up --upgrade", error.next);
	/* The refused request was taken out of the queue: the next one is answered. */
	ASSERT_EQ_FMT(ERR_NONE, call_act(client, &ok, &error), "%d");
	ASSERT_EQ(1, ok.count);
	client_close(client);
	played_end(&master);
	PASS();
}

#define FLOOD 400

/* Read nothing until all of its own flood is sent: a client that only wrote would block for ever. */
static void part_flood(int fd)
{
	struct arena arena = { 0 };
	struct msg_log_data data = { .id = 1 };
	struct rec_output piece = { .stream = 1 };

	welcome(fd);
	piece.data = slice_make(arena_zalloc(&arena, 65536, 1), 65536);
	data.pieces.at = &piece;
	data.pieces.n = 1;
	for (data.offset = 0; data.offset < FLOOD / 4; data.offset++)
		answer(fd, OP_LOG_DATA, &data);
	for (int i = 0; i < FLOOD; i++) {
		struct arena chunk_arena = { 0 };
		struct msg_graph_chunk chunk;

		expect(fd, OP_GRAPH_CHUNK, &chunk_arena, &chunk);
		if (chunk.id != (uint64_t)i)
			abort();
		arena_free(&chunk_arena);
	}
	arena_free(&arena);
}

TEST writing_and_reading_never_wait_for_each_other(void)
{
	static uint8_t jobs[2000];
	struct played master;
	struct client *client;
	struct error error;
	struct incoming frame;
	struct arena arena = { 0 };
	struct msg_log_data data;

	play(&master, part_flood);
	ASSERT_EQ_FMT(ERR_NONE, open_client(&client, &error), "%d");
	for (uint64_t i = 0; i < FLOOD; i++) {
		struct slice body = slice_make(jobs, sizeof(jobs));
		struct msg_graph_chunk chunk = { .id = i, .jobs = body, .count = 1 };

		ASSERT_EQ_FMT(ERR_NONE, client_send(client, OP_GRAPH_CHUNK, &chunk, &error), "%d");
		if (i % 50 == 0)
			ASSERT_EQ_FMT(ERR_NONE, client_flush(client, &error), "%d");
	}
	for (uint64_t i = 0; i < FLOOD / 4; i++) {
		ASSERT_EQ_FMT(ERR_NONE, client_receive(client, -1, &frame, &error), "%d");
		ASSERT_EQ_FMT(OP_LOG_DATA, frame.op, "%d");
		ASSERT_EQ_FMT(ERR_NONE, message_decode(frame.op, frame.body, &arena, &data, &error), "%d");
		ASSERT_EQ_FMT(i, data.offset, "%lu");
		arena_reset(&arena);
	}
	played_end(&master);
	ASSERT_EQ_FMT(ERR_UNREACHABLE, client_receive(client, -1, &frame, &error), "%d");
	arena_free(&arena);
	client_close(client);
	PASS();
}

static void part_silent(int fd)
{
	char byte;

	welcome(fd);
	if (recv(fd, &byte, 1, 0) != 0)
		abort();
}

static void signal_cb(int number)
{
	(void)number;
}

TEST a_signal_ends_the_waiting(void)
{
	struct played master;
	struct client *client;
	struct error error;
	struct incoming frame;
	struct sigaction action = { .sa_handler = signal_cb };
	struct itimerval soon = { .it_value = { .tv_usec = 50000 }, .it_interval = { .tv_usec = 50000 } };
	struct itimerval never = { 0 };
	sigset_t alarms;

	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	/* The thread inherits the mask, so the signal goes to the thread that waits. */
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	play(&master, part_silent);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	ASSERT_EQ_FMT(ERR_NONE, open_client(&client, &error), "%d");
	setitimer(ITIMER_REAL, &soon, NULL);
	ASSERT_EQ_FMT(ERR_INTERRUPTED, client_receive(client, -1, &frame, &error), "%d");
	setitimer(ITIMER_REAL, &never, NULL);
	client_close(client);
	played_end(&master);
	PASS();
}

static void run_all(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_call_takes_its_own_answer);
	RUN_TEST(an_error_that_answers_another_request_ends_no_call);
	RUN_TEST(a_greeting_that_fails_says_why);
	RUN_TEST(an_older_master_gets_only_what_it_knows);
	RUN_TEST(writing_and_reading_never_wait_for_each_other);
	RUN_TEST(a_signal_ends_the_waiting);
}

SUITE(net_client)
{
	splits = false;
	run_all();
	RUN_TEST(nobody_there_is_said_with_the_next_command);
}

/* The transport really split, delayed and held bytes in the tests above. */
TEST every_byte_was_delayed_and_crossed_and_held(void)
{
	ASSERT_GT((size_t)split_delays, (size_t)1000);
	ASSERT_GT((size_t)split_crossings, (size_t)100);
	ASSERT_GT((size_t)split_held, (size_t)100);
	PASS();
}

SUITE(net_client_split)
{
	splits = true;
	run_all();
	RUN_TEST(every_byte_was_delayed_and_crossed_and_held);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(net_client);
	RUN_SUITE(net_client_split);
	GREATEST_MAIN_END();
}
