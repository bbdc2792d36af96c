/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by conn.c (the bytes of one connection) and conn_set.c (when bytes move and when connections are freed). */
#ifndef TITAN_NET_CONN_INTERNAL_H
#define TITAN_NET_CONN_INTERNAL_H

#include <ev.h>

#include "base/buf.h"
#include "net/conn.h"

#define READ_SIZE 65536

enum conn_state {
	CONN_OPEN,
	CONN_CLOSING,            /* CONN_CLOSING: the queue may still be sent; nothing is read */
	CONN_DEAD                /* CONN_DEAD: to be reported and freed by the next sweep */
};

/* What a connection needs from the set, as bits: it is on the set's todo list while any bit is set. */
enum conn_want {
	WANT_FLUSH = 1,          /* bytes are queued, and the transport isn't known to be full */
	WANT_DRAINED = 2,        /* the queue became empty: drained_cb has to be called */
	WANT_FRAMES = 4,         /* the buffer may hold whole frames, held back by a pause or a limit */
	WANT_SWEEP = 8,
	WANT_READ = 16           /* the transport holds bytes that poll doesn't report */
};

struct conn {
	struct conn_set *set;
	struct conn *next, *prev;            /* neighbours in the list of all connections of the set */
	struct conn *todo_next;              /* links: next connection on the todo list */
	unsigned wants;                      /* bits of enum conn_want */
	bool on_todo;
	bool paused;
	bool blocked;                        /* the queue waits for the readiness in the transport's write_want */
	bool was_full;                       /* drained_cb is due when the queue becomes empty */
	bool deaf;                           /* the peer takes no more bytes */
	bool narrow;                         /* the peer speaks the version of the protocol before this one */
	enum conn_state state;
	struct transport *transport;
	/* Watchers of the descriptor. Reading and writing may each wait for readability or writability. */
	struct ev_io readable, writable;
	struct ev_timer deadline;            /* timer that ends a slow closing */
	size_t max_body, max_queue;
	size_t frames_at_once;               /* most frames delivered in one go; 0: no limit */
	/*
	 * the limit frames_at_once was reached: the buffer may hold whole frames, and nothing is read until the next
	 * pass
	 */
	bool had_turn;
	struct buf in;                       /* bytes read: the beginning of a frame, or frames held back */
	struct buf out;
	/* The owner's count of unsent bytes over several connections, and this connection's share of it. */
	size_t *tally, tallied;
	uint64_t sent;
	const struct conn_ops *ops;
	void *owner;
	struct error *why;
};

struct conn_set {
	struct ev_loop *loop;
	struct ev_prepare before_sleep;
	struct ev_check after_sleep;
	struct ev_idle stay_awake;           /* active while any connection has something left to do */
	struct conn *first;
	struct conn *todo;
	uint8_t scratch[READ_SIZE]; /* read buffer shared by all connections, so that idle ones need no memory */
};

void conn_want(struct conn *conn, enum conn_want want);
void conn_flush(struct conn *conn);
void conn_deliver_held(struct conn *conn);
void conn_read(struct conn *conn);
void conn_destroy(struct conn *conn);                            /* frees the connection without a callback */

#endif
