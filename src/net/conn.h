/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A connection in a libev loop: bytes in, whole frames out, and back. Sending only queues: everything that is queued in
 * a pass of the loop is sent in one write before the loop sleeps. An error of a peer closes that peer's connection.
 * conn_close only marks it: the connection is freed at the loop's next sweep, never inside its own callback.
 */
#ifndef TITAN_NET_CONN_H
#define TITAN_NET_CONN_H

#include "net/transport.h"
#include "proto/frame.h"
#include "proto/message.h"

struct ev_loop;
struct conn;
struct conn_set;                         /* all connections of one loop */

struct conn_ops {
	/* A whole frame has arrived; its bytes are valid until the callback returns. */
	void (*frame_cb)(struct conn *conn, const struct frame *frame, void *owner);
	/* The connection is closed. why is NULL if either side ended it in order. No callback follows. */
	void (*closed_cb)(struct conn *conn, const struct error *why, void *owner);
	/* Everything queued has been sent, after the socket was full or more than 64 KiB were queued. May be NULL. */
	void (*drained_cb)(struct conn *conn, void *owner);
};

struct conn_set *conn_set_new(struct ev_loop *loop);
/* Send what can be sent at once and close all connections; no callbacks. */
void conn_set_free(struct conn_set *set);

/* Open a connection over the transport, which the connection takes over. owner is passed to the callbacks. */
struct conn *conn_open(struct conn_set *set, struct transport *transport, const struct conn_ops *ops, void *owner);
void conn_set_max_body(struct conn *conn, size_t max_body);
/* From now on send only what this version of the protocol has; before that, everything is sent. */
void conn_set_version(struct conn *conn, uint64_t version);

/* Get the peer's identity as the transport knows it; 0 or -errno. */
int conn_identity(const struct conn *conn, struct identity *ret);

int conn_fd(const struct conn *conn);    /* the descriptor, for options of the socket only */

/* Limit the frames delivered before other connections are served; 0: no limit. */
void conn_set_frames_at_once(struct conn *conn, size_t most);
/* Set the most bytes that may be queued, for a peer that needs more than LIMIT_CONN_QUEUE_MAX. */
void conn_set_max_queue(struct conn *conn, size_t max_queue);
/*
 * Queue a frame. If the queue gets longer than its limit, the connection fails with ERR_BUSY; conn_queued
 * tells its length.
 */
void conn_send(struct conn *conn, enum opcode op, const void *msg);
void conn_send_frames(struct conn *conn, struct slice frames);   /* queue frames that are already encoded */
size_t conn_queued(const struct conn *conn);
/* From now on add this connection's unsent bytes to *tally; NULL: stop. The tally must outlive the connection. */
void conn_set_tally(struct conn *conn, size_t *tally);
uint64_t conn_sent(const struct conn *conn);                     /* returns the number of bytes sent so far */
/* Has the peer hung up, even if that hasn't been read yet? */
bool conn_peer_gone(const struct conn *conn);
void conn_pause(struct conn *conn, bool pause);                  /* stop reading from the peer, or go on */
void conn_fail(struct conn *conn, const struct error *why);      /* send an ERROR frame, then close the connection */
/* Close the connection when the queue has been sent, after 1 s at most. */
void conn_close(struct conn *conn);
void conn_cut(struct conn *conn, const struct error *why);       /* close the connection now and drop the queue */

#endif
