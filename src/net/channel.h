/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stream carried in RELAY messages of a connection that others use too: the local end is a socket, the far end
 * another channel. Each way at most LIMIT_RELAY_WINDOW bytes are under way, so that no stream, however slow its
 * reader, holds up the connection or fills memory.
 */
#ifndef TITAN_NET_CHANNEL_H
#define TITAN_NET_CHANNEL_H

#include "proto/message.h"

struct ev_loop;
struct channel;

struct channel_ops {
	void (*send_cb)(struct channel *channel, const struct msg_relay *msg, void *owner);
	/* Over, at either end; the far one has been told, or said so. Here the owner calls channel_free. */
	void (*closed_cb)(struct channel *channel, void *owner);
};

/* Takes over fd, non-blocking. */
struct channel *channel_new(struct ev_loop *loop, uint64_t number, int fd, const struct channel_ops *ops, void *owner);
uint64_t channel_number(const struct channel *channel);
/* What the far end sent. It may close the channel. */
void channel_deliver(struct channel *channel, const struct msg_relay *msg);
/* Bytes that were read from fd before; the other fields of the message are sent along. Once, at the beginning. */
void channel_begin(struct channel *channel, struct msg_relay first);
void channel_free(struct channel *channel);      /* tells nobody */

#endif
