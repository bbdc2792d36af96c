/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections in an event loop, with a bare socket as peer that can cut, stall, flood and vanish. Each test runs over a
 * unix socket and over a transport that splits and delays every byte.
 */
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "greatest.h"
#include "net/conn.h"
#include "proto/limits.h"
#include "transport_split.h"

static bool splits;                      /* the transport under test splits bytes */
static struct ev_loop *loop;
static struct conn_set *set;
static int peer = -1;

/* The numbers in the frames that the owner received. */
static int64_t numbers[4096];
static size_t number_count;
static int closed, drained;
static struct error closed_why;
static bool closed_in_order;
static struct conn *conn;

/* What the owner does after this many frames. */
static size_t act_at;
static void (*act)(void);

static void frame_cb(struct conn *from, const struct frame *frame, void *owner)
{
	struct arena arena = { 0 };
	struct msg_heartbeat beat = { 0 };
	struct error error;

	if (owner != &numbers || from != conn || closed)
		abort();
	if (frame->opcode != OP_HEARTBEAT ||
	    message_decode(OP_HEARTBEAT, frame->body, &arena, &beat, &error) != ERR_NONE)
		beat.sent_ns = -(int64_t)frame->body.len;
	arena_free(&arena);
	numbers[number_count++ % 4096] = beat.sent_ns;
	if (act && number_count == act_at)
		act();
}

static void closed_cb(struct conn *from, const struct error *why, void *owner)
{
	if (owner != &numbers || from != conn)
		abort();
	closed++;
	closed_in_order = !why;
	if (why)
		closed_why = *why;
}

static void drained_cb(struct conn *from, void *owner)
{
	if (owner != &numbers || from != conn || closed)
		abort();
	drained++;
}

static const struct conn_ops ops = { frame_cb, closed_cb, drained_cb };

static void setup_cb(void *data)
{
	int fds[2];

	(void)data;
	loop = ev_loop_new(EVFLAG_AUTO);
	set = conn_set_new(loop);
	if (!loop || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		abort();
	peer = fds[0];
	number_count = 0;
	closed = drained = 0;
	closed_in_order = false;
	memset(&closed_why, 0, sizeof(closed_why));
	act = NULL;
	conn = conn_open(set, splits ? transport_split(fds[1]) : transport_unix(fds[1]), &ops, &numbers);
}

static void teardown_cb(void *data)
{
	(void)data;
	conn_set_free(set);
	ev_loop_destroy(loop);
	if (peer >= 0)
		close(peer);
	peer = -1;
}

/* Run the loop until no bytes move any more, so that everything that is under way arrives. */
static void turn(void)
{
	size_t moved;

	do {
		moved = split_moved;
		for (int i = 0; i < 8; i++)
			ev_run(loop, EVRUN_NOWAIT);
	} while (split_moved != moved);
}

static void add_beat(struct buf *out, int64_t number)
{
	struct msg_heartbeat beat = { .sent_ns = number };

	message_encode(out, OP_HEARTBEAT, &beat);
}

static void peer_says(const struct buf *frames)
{
	if (send(peer, frames->data, frames->len, MSG_NOSIGNAL) != (ssize_t)frames->len)
		abort();
}

static void peer_beats(int64_t from, int64_t to)
{
	struct buf frames = { 0 };

	for (int64_t number = from; number <= to; number++)
		add_beat(&frames, number);
	peer_says(&frames);
	buf_free(&frames);
}

static void send_beat(int64_t number)
{
	struct msg_heartbeat beat = { .sent_ns = number };

	conn_send(conn, OP_HEARTBEAT, &beat);
}

/* Read all bytes that have reached the peer; return whether the connection ended. */
static bool peer_hears(struct buf *ret_bytes)
{
	for (;;) {
		ssize_t got = recv(peer, buf_reserve(ret_bytes, 65536), 65536, MSG_DONTWAIT);

		if (got <= 0)
			return got == 0;
		ret_bytes->len += (size_t)got;
	}
}

/* Like turn, but also read what reached the peer: the small pieces that transport_split.h makes fill a socket soon. */
static void turn_hearing(struct buf *ret_bytes)
{
	size_t had;

	do {
		had = ret_bytes->len;
		turn();
		peer_hears(ret_bytes);
	} while (ret_bytes->len > had);
}

TEST frames_come_in_order_however_they_are_cut(void)
{
	struct buf frames = { 0 };

	peer_beats(1, 1000);
	turn();
	ASSERT_EQ_FMT((size_t)1000, number_count, "%zu");
	for (int64_t number = 1001; number <= 1020; number++)
		add_beat(&frames, number);
	for (size_t i = 0; i < frames.len; i++) {
		ASSERT_EQ_FMT(1, (int)send(peer, frames.data + i, 1, 0), "%d");
		ev_run(loop, EVRUN_NOWAIT);
	}
	turn();
	ASSERT_EQ_FMT((size_t)1020, number_count, "%zu");
	for (int64_t i = 0; i < 1020; i++)
		ASSERT_EQ_FMT(i + 1, numbers[i], "%ld");
	buf_free(&frames);
	PASS();
}

TEST large_frames_come_whole(void)
{
	struct buf frame = { 0 };
	size_t sent = 0;
	size_t body = 1000000;
	uint8_t header[FRAME_HEADER_SIZE];

	conn_set_max_body(conn, LIMIT_FRAME_MAX);
	frame_header(header, OP_OUTPUT, (uint32_t)body);
	for (int i = 0; i < 3; i++) {
		buf_add(&frame, header, sizeof(header));
		memset(buf_reserve(&frame, body), 7, body);
		frame.len += body;
	}
	while (sent < frame.len) {
		ssize_t now = send(peer, frame.data + sent, frame.len - sent, MSG_DONTWAIT);

		sent += now > 0 ? (size_t)now : 0;
		ev_run(loop, EVRUN_NOWAIT);
	}
	turn();
	ASSERT_EQ_FMT((size_t)3, number_count, "%zu");
	ASSERT_EQ_FMT(-(int64_t)body, numbers[2], "%ld");
	buf_free(&frame);
	PASS();
}

TEST what_is_sent_in_a_pass_leaves_together(void)
{
	struct buf bytes = { 0 }, expected = { 0 };

	for (int64_t number = 1; number <= 100; number++) {
		send_beat(number);
		add_beat(&expected, number);
	}
	conn_send_frames(conn, buf_slice(&expected));
	ASSERT(!peer_hears(&bytes));
	ASSERTm("nothing leaves before the loop sleeps", bytes.len == 0);
	ASSERT_EQ_FMT(2 * expected.len, conn_queued(conn), "%zu");
	if (splits)
		turn_hearing(&bytes);
	else
		ev_run(loop, EVRUN_NOWAIT);
	ASSERT(!peer_hears(&bytes));
	ASSERT_EQ_FMT(2 * expected.len, bytes.len, "%zu");
	ASSERT_MEM_EQ(expected.data, bytes.data, expected.len);
	ASSERT_EQ_FMT((size_t)0, conn_queued(conn), "%zu");
	buf_free(&bytes);
	buf_free(&expected);
	PASS();
}

static void close_it(void)
{
	send_beat(77);
	conn_close(conn);
	send_beat(78);
	if (closed)
		abort();
}

TEST closing_in_a_callback_sends_the_rest_and_hears_nothing_more(void)
{
	struct buf bytes = { 0 }, expected = { 0 };

	act = close_it;
	act_at = 3;
	add_beat(&expected, 77);
	peer_beats(1, 10);
	turn();
	ASSERT_EQ_FMT((size_t)3, number_count, "%zu");
	ASSERT_EQ_FMT(1, closed, "%d");
	ASSERT(closed_in_order);
	/* The connection closed with unread bytes, so the peer may find a reset behind the data. */
	peer_hears(&bytes);
	ASSERT_EQ_FMT(expected.len, bytes.len, "%zu");
	ASSERT_MEM_EQ(expected.data, bytes.data, expected.len);
	buf_free(&bytes);
	buf_free(&expected);
	PASS();
}

/* Check that the last frame for the peer is an ERROR with this code, followed by the end. */
static enum greatest_test_res peer_is_told(enum err code)
{
	struct buf bytes = { 0 };
	struct arena arena = { 0 };
	struct msg_error told;
	struct frame frame;
	struct error error;
	size_t size;

	turn_hearing(&bytes);
	ASSERT_EQ_FMT(FRAME_WHOLE, frame_read(buf_slice(&bytes), LIMIT_FRAME_MAX, &frame, &size, &error),
		      "%d");
	ASSERT_EQ_FMT(OP_ERROR, (int)frame.opcode, "%d");
	ASSERT_EQ_FMT(bytes.len, size, "%zu");
	ASSERT_EQ_FMT(ERR_NONE, message_decode(OP_ERROR, frame.body, &arena, &told, &error), "%d");
	ASSERT_EQ_FMT((uint64_t)0, told.id, "%lu");
	ASSERT_EQ_FMT((int)code, (int)told.code, "%d");
	ASSERT(told.text.len > 0);
	ASSERT_EQ_FMT(1, closed, "%d");
	ASSERT(!closed_in_order);
	ASSERT_EQ_FMT(code, closed_why.code, "%d");
	arena_free(&arena);
	buf_free(&bytes);
	PASS();
}

TEST a_malformed_frame_ends_the_peer_that_sent_it(void)
{
	peer_beats(1, 2);
	ASSERT_EQ_FMT(16, (int)send(peer, "GET / HTTP/1.1\r\n", 16, 0), "%d");
	turn();
	ASSERT_EQ_FMT((size_t)2, number_count, "%zu");
	CHECK_CALL(peer_is_told(ERR_VERSION));
	PASS();
}

TEST a_frame_over_the_limit_ends_it_too(void)
{
	uint8_t header[FRAME_HEADER_SIZE];

	frame_header(header, OP_SUBMIT, LIMIT_FRAME_MAX_UNAUTH + 1);
	ASSERT_EQ_FMT(FRAME_HEADER_SIZE, (int)send(peer, header, sizeof(header), 0), "%d");
	turn();
	CHECK_CALL(peer_is_told(ERR_FRAME));
	PASS();
}

static void fail_it(void)
{
	struct error error;

	error_set(&error, ERR_DENIED, "not you");
	conn_fail(conn, &error);
}

TEST failing_says_why(void)
{
	act = fail_it;
	act_at = 1;
	peer_beats(1, 1);
	turn();
	CHECK_CALL(peer_is_told(ERR_DENIED));
	ASSERT_STR_EQ("not you", closed_why.text);
	PASS();
}

TEST a_peer_that_never_reads_is_cut_off(void)
{
	struct buf chunk = { 0 };
	size_t most = 0;

	memset(buf_reserve(&chunk, 100000), 2, 100000);
	chunk.len = 100000;
	for (int i = 0; i < 200 && !closed; i++) {
		conn_send_frames(conn, buf_slice(&chunk));
		if (conn_queued(conn) > most)
			most = conn_queued(conn);
		ev_run(loop, EVRUN_NOWAIT);
	}
	/* The connection waits a second for the peer before it closes. */
	while (!closed)
		ev_run(loop, EVRUN_ONCE);
	ASSERT(most <= LIMIT_CONN_QUEUE_MAX + 1000);
	ASSERT_GT(most, LIMIT_CONN_QUEUE_MAX - 400000);
	ASSERT_EQ_FMT(ERR_BUSY, closed_why.code, "%d");
	buf_free(&chunk);
	PASS();
}

TEST the_owner_is_told_when_a_full_queue_is_empty(void)
{
	struct buf chunk = { 0 }, bytes = { 0 };

	send_beat(1);
	turn();
	/* The split transport was full in between, so the owner is told that there is room. */
	ASSERT_EQ_FMT(splits ? 1 : 0, drained, "%d");
	drained = 0;
	memset(buf_reserve(&chunk, 3000000), 2, 3000000);
	chunk.len = 3000000;
	peer_hears(&bytes);
	buf_clear(&bytes);
	conn_send_frames(conn, buf_slice(&chunk));
	turn();
	ASSERT_EQ_FMT(0, drained, "%d");
	ASSERT_GT(conn_queued(conn), (size_t)0);
	while (bytes.len < chunk.len) {
		ASSERT(!peer_hears(&bytes));
		turn();
	}
	ASSERT_EQ_FMT(1, drained, "%d");
	ASSERT_EQ_FMT((size_t)0, conn_queued(conn), "%zu");
	turn();
	ASSERT_EQ_FMT(1, drained, "%d");
	buf_free(&chunk);
	buf_free(&bytes);
	PASS();
}

/*
 * The owner stopped sending because much was queued. All of it fits into the peer's socket at once, and the owner must
 * be told.
 */
TEST the_owner_is_told_when_much_is_taken_at_once(void)
{
	struct buf chunk = { 0 }, bytes = { 0 };

	memset(buf_reserve(&chunk, 70000), 2, 70000);
	chunk.len = 70000;
	conn_send_frames(conn, buf_slice(&chunk));
	turn();
	/* The split transport writes small pieces, which don't all fit. */
	ASSERT(splits || conn_queued(conn) == 0);
	for (; conn_queued(conn) > 0; turn())
		ASSERT(!peer_hears(&bytes));
	ASSERT_EQ_FMT(1, drained, "%d");
	turn();
	ASSERT_EQ_FMT(1, drained, "%d");
	buf_free(&chunk);
	buf_free(&bytes);
	PASS();
}

static void pause_it(void)
{
	conn_pause(conn, true);
}

TEST a_pause_holds_frames_back_and_loses_none(void)
{
	act = pause_it;
	act_at = 2;
	peer_beats(1, 10);
	turn();
	peer_beats(11, 12);
	close(peer);
	peer = -1;
	turn();
	ASSERT_EQ_FMT((size_t)2, number_count, "%zu");
	ASSERT_EQ_FMT(0, closed, "%d");
	act_at = 5;
	conn_pause(conn, false);
	turn();
	ASSERT_EQ_FMT((size_t)5, number_count, "%zu");
	conn_pause(conn, false);
	turn();
	ASSERT_EQ_FMT((size_t)12, number_count, "%zu");
	for (int64_t i = 0; i < 12; i++)
		ASSERT_EQ_FMT(i + 1, numbers[i], "%ld");
	ASSERT_EQ_FMT(1, closed, "%d");
	ASSERT(closed_in_order);
	PASS();
}

TEST a_peer_with_many_frames_has_its_turn_and_no_more(void)
{
	size_t turns = 0;

	conn_set_frames_at_once(conn, 10);
	peer_beats(1, 1000);
	close(peer);
	peer = -1;
	while (!closed) {
		size_t before = number_count;

		ev_run(loop, EVRUN_ONCE);
		/* The budget counts twice: for frames that are read, and for frames that were held back. */
		ASSERT(number_count - before <= 20);
		turns++;
	}
	ASSERT_GT(turns, (size_t)49);
	ASSERT_EQ_FMT((size_t)1000, number_count, "%zu");
	for (int64_t i = 0; i < 1000; i++)
		ASSERT_EQ_FMT(i + 1, numbers[i], "%ld");
	ASSERT(closed_in_order);
	PASS();
}

TEST an_end_within_a_frame_is_an_error(void)
{
	struct buf frame = { 0 };

	add_beat(&frame, 1);
	buf_cut(&frame, frame.len - 1);
	peer_says(&frame);
	close(peer);
	peer = -1;
	turn();
	ASSERT_EQ_FMT(1, closed, "%d");
	ASSERT_EQ_FMT(ERR_FRAME, closed_why.code, "%d");
	buf_free(&frame);
	PASS();
}

TEST a_tally_counts_what_is_unsent_until_the_connection_dies(void)
{
	struct buf chunk = { 0 };
	struct error error;
	size_t tally = 5;

	memset(buf_reserve(&chunk, 1000000), 2, 1000000);
	chunk.len = 1000000;
	conn_send_frames(conn, buf_slice(&chunk));
	conn_set_tally(conn, &tally);
	ASSERT_EQ_FMT(conn_queued(conn) + 5, tally, "%zu");
	conn_send_frames(conn, buf_slice(&chunk));
	ASSERT_EQ_FMT(conn_queued(conn) + 5, tally, "%zu");
	turn();
	ASSERT_GT(conn_sent(conn), (uint64_t)0);
	ASSERT_EQ_FMT(2000000 - (size_t)conn_sent(conn), conn_queued(conn), "%zu");
	ASSERT_EQ_FMT(conn_queued(conn) + 5, tally, "%zu");
	error_set(&error, ERR_BUSY, "enough");
	conn_cut(conn, &error);
	ASSERT_EQ_FMT((size_t)5, tally, "%zu");
	turn();
	ASSERT_EQ_FMT(1, closed, "%d");
	ASSERT_STR_EQ("enough", closed_why.text);
	buf_free(&chunk);
	PASS();
}

TEST a_peer_that_hung_up_is_seen_before_it_is_read(void)
{
	ASSERT(!conn_peer_gone(conn));
	peer_beats(1, 3);
	shutdown(peer, SHUT_WR);
	ASSERT(!conn_peer_gone(conn));
	close(peer);
	peer = -1;
	ASSERT(conn_peer_gone(conn));
	turn();
	ASSERT_EQ_FMT((size_t)3, number_count, "%zu");
	PASS();
}

TEST the_last_words_of_a_peer_that_is_gone_are_heard(void)
{
	peer_beats(1, 3);
	close(peer);
	peer = -1;
	send_beat(1);
	turn();
	ASSERT_EQ_FMT((size_t)3, number_count, "%zu");
	ASSERT_EQ_FMT(1, closed, "%d");
	ASSERT(closed_in_order);
	PASS();
}

static void alarm_cb(struct ev_loop *its_loop, struct ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(its_loop, EVBREAK_ALL);
}

TEST an_idle_set_sleeps(void)
{
	struct ev_timer timer;
	unsigned before;

	act = pause_it;
	act_at = 2;
	peer_beats(1, 5);
	send_beat(9);
	turn();
	conn_pause(conn, false);
	turn();
	ASSERT_EQ_FMT((size_t)5, number_count, "%zu");
	ev_timer_init(&timer, alarm_cb, 0.2, 0.0);
	before = ev_iteration(loop);
	ev_timer_start(loop, &timer);
	ev_run(loop, 0);
	/* The loop sleeps until the timer; it may wake a moment early and sleep again. */
	ASSERT(ev_iteration(loop) - before <= 3);
	PASS();
}

TEST the_peer_is_who_the_kernel_says(void)
{
	struct identity identity = { .uid = 12345 };

	ASSERT_EQ_FMT(0, conn_identity(conn, &identity), "%d");
	ASSERT_EQ_FMT((unsigned)getuid(), identity.uid, "%u");
	PASS();
}

static void run_all(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(frames_come_in_order_however_they_are_cut);
	RUN_TEST(large_frames_come_whole);
	RUN_TEST(what_is_sent_in_a_pass_leaves_together);
	RUN_TEST(closing_in_a_callback_sends_the_rest_and_hears_nothing_more);
	RUN_TEST(a_malformed_frame_ends_the_peer_that_sent_it);
	RUN_TEST(a_frame_over_the_limit_ends_it_too);
	RUN_TEST(failing_says_why);
	RUN_TEST(a_peer_that_never_reads_is_cut_off);
	RUN_TEST(the_owner_is_told_when_a_full_queue_is_empty);
	RUN_TEST(the_owner_is_told_when_much_is_taken_at_once);
	RUN_TEST(a_pause_holds_frames_back_and_loses_none);
	RUN_TEST(a_peer_with_many_frames_has_its_turn_and_no_more);
	RUN_TEST(an_end_within_a_frame_is_an_error);
	RUN_TEST(a_tally_counts_what_is_unsent_until_the_connection_dies);
	RUN_TEST(a_peer_that_hung_up_is_seen_before_it_is_read);
	RUN_TEST(the_last_words_of_a_peer_that_is_gone_are_heard);
	RUN_TEST(an_idle_set_sleeps);
	RUN_TEST(the_peer_is_who_the_kernel_says);
}

SUITE(net_conn)
{
	splits = false;
	run_all();
}

/* The transport really split, delayed and held bytes in the tests above. */
TEST every_byte_was_delayed_and_crossed_and_held(void)
{
	ASSERT_GT((size_t)split_delays, (size_t)1000);
	ASSERT_GT((size_t)split_crossings, (size_t)1000);
	ASSERT_GT((size_t)split_held, (size_t)1000);
	PASS();
}

SUITE(net_conn_split)
{
	splits = true;
	run_all();
	SET_SETUP(NULL, NULL);
	SET_TEARDOWN(NULL, NULL);
	RUN_TEST(every_byte_was_delayed_and_crossed_and_held);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(net_conn);
	RUN_SUITE(net_conn_split);
	GREATEST_MAIN_END();
}
