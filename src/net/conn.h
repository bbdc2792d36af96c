/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A connection in a libev loop: bytes in, whole frames out, and back. Sending queues; everything queued
 * in a pass of the loop leaves in one write before the loop sleeps. A peer's fault closes that peer.
 * conn_close only marks: the connection is freed when the loop next sweeps, never inside its own callback.
 */
#ifndef TITAN_NET_CONN_H
#define TITAN_NET_CONN_H

#include "net/transport.h"
#include "proto/frame.h"
#include "proto/message.h"

struct ev_loop;
struct conn;
struct conn_set;                         /* all connections of a loop */

struct conn_ops {
	/* A whole frame; its bytes live until the callback returns. */
	void (*frame_cb)(struct conn *conn, const struct frame *frame, void *owner);
	/* It is closed, by whoever: why is NULL when we or the peer ended it in order. Last word of it. */
	void (*closed_cb)(struct conn *conn, const struct error *why, void *owner);
	/* Everything queued has left, after the socket was full or over 64 KiB were queued. May be NULL. */
	void (*drained_cb)(struct conn *conn, void *owner);
};

struct conn_set *conn_set_new(struct ev_loop *loop);
void conn_set_free(struct conn_set *set);        /* sends what it can at once, closes all; no callbacks */

/* Takes over the transport. owner is what the callbacks get. */
struct conn *conn_open(struct conn_set *set, struct transport *transport, const struct conn_ops *ops, void *owner);
void conn_set_max_body(struct conn *conn, size_t max_body);

int conn_identity(const struct conn *conn, struct identity *ret);        /* -errno */

/* At most this many frames are handed over before others have their turn; 0: as many as were read. */
void conn_set_frames_at_once(struct conn *conn, size_t most);
/* For a peer that is owed more at once than LIMIT_CONN_QUEUE_MAX. */
void conn_set_max_queue(struct conn *conn, size_t max_queue);
/* More than its limit unsent fails the connection with ERR_BUSY: look at conn_queued before. */
void conn_send(struct conn *conn, enum opcode op, const void *msg);
void conn_send_frames(struct conn *conn, struct slice frames);   /* already encoded */
size_t conn_queued(const struct conn *conn);
/* Its unsent bytes are also counted in *tally, from now on; NULL: no more. The tally outlives the connection. */
void conn_set_tally(struct conn *conn, size_t *tally);
uint64_t conn_sent(const struct conn *conn);                     /* bytes that have left, ever */
bool conn_peer_gone(const struct conn *conn);                    /* it has hung up, also where that isn't read yet */
void conn_pause(struct conn *conn, bool pause);                  /* stop reading from it, or go on */
void conn_fail(struct conn *conn, const struct error *why);      /* send ERROR, then close */
void conn_close(struct conn *conn);                      /* after what is queued has left, 1 s at most */
void conn_cut(struct conn *conn, const struct error *why);       /* close now: what is queued is dropped */

#endif
