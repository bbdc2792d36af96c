/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A channel: passes bytes between a local socket and RELAY messages. Flow control is by bytes: sent bytes count as
 * under way until the far end reports that it has passed them on. A far end that sends more than its window is cut off.
 */
#include "net/channel.h"

#include <errno.h>
#include <ev.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/limits.h"

struct channel {
	struct ev_loop *loop;
	uint64_t number;
	const struct channel_ops *ops;
	void *owner;
	struct ev_io readable, writable;
	struct buf out;                  /* bytes waiting to be written to the socket */
	size_t under_way;                /* bytes sent that the far end hasn't passed on yet */
	/* the far end has ended the channel; remaining bytes are still written to the socket */
	bool ended;
};

static void finish(struct channel *channel, bool tell)
{
	const struct msg_relay msg = { .channel = channel->number, .end = true };

	if (tell)
		channel->ops->send_cb(channel, &msg, channel->owner);
	channel->ops->closed_cb(channel, channel->owner);
}

static void want_reads(struct channel *channel)
{
	if (channel->under_way < LIMIT_RELAY_WINDOW && !channel->ended)
		ev_io_start(channel->loop, &channel->readable);
	else
		ev_io_stop(channel->loop, &channel->readable);
}

static void send_bytes(struct channel *channel, struct msg_relay *msg)
{
	msg->channel = channel->number;
	channel->under_way += msg->data.len;
	channel->ops->send_cb(channel, msg, channel->owner);
	want_reads(channel);
}

static void readable_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct channel *channel = io->data;
	uint8_t bytes[LIMIT_RELAY_WINDOW];
	ssize_t got = recv(io->fd, bytes, LIMIT_RELAY_WINDOW - channel->under_way, MSG_DONTWAIT);
	struct msg_relay msg = { 0 };

	(void)loop;
	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		finish(channel, true);
		return;
	}
	msg.data = slice_make(bytes, (size_t)got);
	send_bytes(channel, &msg);
}

/* Write to the socket and tell the far end how much was written. False: the channel is gone. */
static bool flush(struct channel *channel)
{
	struct msg_relay msg = { .channel = channel->number };

	while (channel->out.len > 0) {
		ssize_t sent = send(channel->writable.fd, channel->out.data, channel->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN)
			break;
		if (sent < 0) {
			finish(channel, !channel->ended);
			return false;
		}
		buf_drop(&channel->out, (size_t)sent);
		msg.taken += (uint64_t)sent;
	}
	if (channel->out.len > 0)
		ev_io_start(channel->loop, &channel->writable);
	else
		ev_io_stop(channel->loop, &channel->writable);
	if (channel->ended && channel->out.len == 0) {
		finish(channel, false);
		return false;
	}
	if (msg.taken > 0 && !channel->ended)
		channel->ops->send_cb(channel, &msg, channel->owner);
	return true;
}

static void writable_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	(void)loop;
	(void)events;
	flush(io->data);
}

struct channel *channel_new(struct ev_loop *loop, uint64_t number, int fd, const struct channel_ops *ops, void *owner)
{
	struct channel *channel = mem_zalloc(sizeof(*channel));

	channel->loop = loop;
	channel->number = number;
	channel->ops = ops;
	channel->owner = owner;
	ev_io_init(&channel->readable, readable_cb, fd, EV_READ);
	ev_io_init(&channel->writable, writable_cb, fd, EV_WRITE);
	channel->readable.data = channel->writable.data = channel;
	ev_io_start(loop, &channel->readable);
	return channel;
}

uint64_t channel_number(const struct channel *channel)
{
	return channel->number;
}

void channel_begin(struct channel *channel, struct msg_relay first)
{
	send_bytes(channel, &first);
}

void channel_deliver(struct channel *channel, const struct msg_relay *msg)
{
	if (channel->ended)
		return;
	if (msg->taken > channel->under_way || msg->data.len > LIMIT_RELAY_WINDOW - channel->out.len) {
		finish(channel, true);
		return;
	}
	channel->under_way -= msg->taken;
	channel->ended = msg->end;
	want_reads(channel);
	buf_add_slice(&channel->out, msg->data);
	flush(channel);
}

void channel_free(struct channel *channel)
{
	if (!channel)
		return;
	ev_io_stop(channel->loop, &channel->readable);
	ev_io_stop(channel->loop, &channel->writable);
	close(channel->readable.fd);
	buf_free(&channel->out);
	mem_free(channel);
}
