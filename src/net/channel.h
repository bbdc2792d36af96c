/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A byte stream inside RELAY messages, on a connection that also carries other messages. The local end is a socket, the
 * far end another channel. In each direction at most LIMIT_RELAY_WINDOW bytes are under way, so a stream with a slow
 * reader doesn't block the connection or fill memory.
 */
#ifndef TITAN_NET_CHANNEL_H
#define TITAN_NET_CHANNEL_H

#include "proto/message.h"

struct ev_loop;
struct channel;

struct channel_ops {
	void (*send_cb)(struct channel *channel, const struct msg_relay *msg, void *owner);
	/*
	 * The channel has ended at either side, and the far end knows. The owner calls channel_free in this callback.
	 */
	void (*closed_cb)(struct channel *channel, void *owner);
};

/* Make a channel. Takes over fd, which is non-blocking. */
struct channel *channel_new(struct ev_loop *loop, uint64_t number, int fd, const struct channel_ops *ops, void *owner);
uint64_t channel_number(const struct channel *channel);
/* Take a message from the far end. May close the channel. */
void channel_deliver(struct channel *channel, const struct msg_relay *msg);
/*
 * Send the channel's first RELAY message: the fields of `first`, with the bytes already read from the job's socket as
 * its data. Call it once, right after channel_new.
 */
void channel_begin(struct channel *channel, struct msg_relay first);
void channel_free(struct channel *channel);      /* free the channel without telling the far end */

#endif
