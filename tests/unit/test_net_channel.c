/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two channels connected back to back; the test carries the bytes between them. */
#include <ev.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/channel.h"
#include "proto/limits.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

struct process_end {
	struct process_end *peer;
	struct channel *channel;         /* NULL: closed */
	int fd;                          /* the other end of the channel's socket */
	size_t data, taken, largest, ends;
	bool held;                       /* the test holds back what this side sends */
};

static struct ev_loop *loop;
static struct process_end ends[2];

static void send_cb(struct channel *channel, const struct msg_relay *msg, void *owner)
{
	struct process_end *end = owner;

	(void)channel;
	end->data += msg->data.len;
	end->taken += msg->taken;
	end->ends += msg->end;
	if (end->data - end->peer->taken > end->largest)
		end->largest = end->data - end->peer->taken;
	if (!end->held && end->peer->channel)
		channel_deliver(end->peer->channel, msg);
}

static void closed_cb(struct channel *channel, void *owner)
{
	struct process_end *end = owner;

	channel_free(channel);
	end->channel = NULL;
}

static const struct channel_ops ops = { .send_cb = send_cb, .closed_cb = closed_cb };

static void setup_cb(void *data)
{
	(void)data;
	loop = ev_loop_new(EVFLAG_AUTO);
	for (int i = 0; i < 2; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
			abort();
		ends[i] = (struct process_end){ .peer = &ends[1 - i], .fd = pair[0] };
		ends[i].channel = channel_new(loop, 7, pair[1], &ops, &ends[i]);
	}
}

static void teardown_cb(void *data)
{
	(void)data;
	for (int i = 0; i < 2; i++) {
		channel_free(ends[i].channel);
		if (ends[i].fd >= 0)
			close(ends[i].fd);
	}
	ev_loop_destroy(loop);
}

static void spin(int times)
{
	for (int i = 0; i < times; i++)
		ev_run(loop, EVRUN_NOWAIT);
}

TEST bytes_pass_both_ways(void)
{
	char text[8] = "";

	ASSERT_EQ(5, write(ends[0].fd, "hello", 5));
	ASSERT_EQ(3, write(ends[1].fd, "you", 3));
	spin(5);
	ASSERT_EQ(5, read(ends[1].fd, text, sizeof(text)));
	ASSERT_EQ(3, read(ends[0].fd, text, sizeof(text)));
	ASSERT_EQ(5, ends[1].taken);
	PASS();
}

/* A reader that never reads stops its own stream only, with at most one window of bytes under way. */
TEST no_more_than_a_window_is_under_way(void)
{
	uint8_t *lot = mem_zalloc(1 << 20);
	size_t wrote = 0, got = 0;
	ssize_t count;

	for (int i = 0; i < 50; i++) {
		count = write(ends[0].fd, lot, 1 << 20);
		wrote += count > 0 ? (size_t)count : 0;
		spin(3);
	}
	ASSERT(ends[0].largest <= LIMIT_RELAY_WINDOW);
	ASSERT(wrote > LIMIT_RELAY_WINDOW && wrote < 50u << 20);
	for (int i = 0; i < 10000 && got < wrote; i++) {
		count = read(ends[1].fd, lot, 1 << 20);
		got += count > 0 ? (size_t)count : 0;
		spin(2);
	}
	ASSERT_EQ(wrote, got);
	ASSERT(ends[0].largest <= LIMIT_RELAY_WINDOW);
	mem_free(lot);
	PASS();
}

TEST the_last_bytes_arrive_before_the_end(void)
{
	char text[8] = "";

	ASSERT_EQ(3, write(ends[0].fd, "bye", 3));
	close(ends[0].fd);
	ends[0].fd = -1;
	spin(5);
	ASSERT_EQ(NULL, ends[0].channel);
	ASSERT_EQ(1, ends[0].ends);
	ASSERT_EQ(NULL, ends[1].channel);
	ASSERT_EQ(0, ends[1].ends);
	ASSERT_EQ(3, read(ends[1].fd, text, sizeof(text)));
	ASSERT_EQ(0, read(ends[1].fd, text, sizeof(text)));
	PASS();
}

TEST a_far_end_that_lies_is_cut(void)
{
	const struct msg_relay lie = { .channel = 7, .taken = 1 };
	uint8_t *lot = mem_zalloc(LIMIT_RELAY_WINDOW + 1);
	const struct msg_relay much = { .channel = 7, .data = slice_make(lot, LIMIT_RELAY_WINDOW + 1) };

	ends[0].held = ends[1].held = true;
	channel_deliver(ends[0].channel, &lie);
	ASSERT_EQ(NULL, ends[0].channel);
	ASSERT_EQ(1, ends[0].ends);
	channel_deliver(ends[1].channel, &much);
	ASSERT_EQ(NULL, ends[1].channel);
	mem_free(lot);
	PASS();
}

SUITE(channels)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(bytes_pass_both_ways);
	RUN_TEST(no_more_than_a_window_is_under_way);
	RUN_TEST(the_last_bytes_arrive_before_the_end);
	RUN_TEST(a_far_end_that_lies_is_cut);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(channels);
	GREATEST_MAIN_END();
}
