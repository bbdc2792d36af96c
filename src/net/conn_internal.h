/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What conn.c (bytes of one connection) and conn_set.c (when they move, and when it dies) share. */
#ifndef TITAN_NET_CONN_INTERNAL_H
#define TITAN_NET_CONN_INTERNAL_H

#include <ev.h>

#include "base/buf.h"
#include "net/conn.h"

#define READ_SIZE 65536

enum conn_state {
	CONN_OPEN,
	CONN_CLOSING,            /* what is queued may still leave; nothing is read */
	CONN_DEAD                /* to be told and freed by the next sweep */
};

/* Why a connection waits for the set, as bits: it is on the list while any is set. */
enum conn_want {
	WANT_FLUSH = 1,          /* bytes are queued and the transport isn't known to be full */
	WANT_DRAINED = 2,        /* the queue became empty: tell the owner */
	WANT_FRAMES = 4,         /* whole frames may lie in the buffer of one that was paused or had its turn */
	WANT_SWEEP = 8,
	WANT_READ = 16           /* the transport holds bytes that no readiness tells of */
};

struct conn {
	struct conn_set *set;
	struct conn *next, *prev;            /* all of the set */
	struct conn *todo_next;              /* those that want something */
	unsigned wants;                      /* bits of enum conn_want */
	bool on_todo;
	bool paused;
	bool blocked;                        /* what is queued waits for a readiness: the transport's write_want */
	bool was_full;                       /* the owner is told when the queue is empty again */
	bool deaf;                           /* the peer takes nothing any more */
	enum conn_state state;
	struct transport *transport;
	struct ev_io readable, writable;     /* of its descriptor: either may be what reading or writing waits for */
	struct ev_timer deadline;            /* of closing */
	size_t max_body, max_queue;
	size_t frames_at_once;               /* 0: no bound */
	bool had_turn;                       /* it reached that: whole frames may lie in the buffer, and nothing is read */
	struct buf in;                       /* the start of a frame, or frames held back by a pause */
	struct buf out;
	size_t *tally, tallied;              /* of out, over several connections, and how much of that is ours */
	uint64_t sent;
	const struct conn_ops *ops;
	void *owner;
	struct error *why;
};

struct conn_set {
	struct ev_loop *loop;
	struct ev_prepare before_sleep;
	struct ev_check after_sleep;
	struct ev_idle stay_awake;           /* started while something is left to do */
	struct conn *first;
	struct conn *todo;
	uint8_t scratch[READ_SIZE];          /* what is read lands here: idle connections hold no memory */
};

void conn_want(struct conn *conn, enum conn_want want);
void conn_flush(struct conn *conn);
void conn_deliver_held(struct conn *conn);
void conn_read(struct conn *conn);
void conn_destroy(struct conn *conn);                            /* frees; no callback */

#endif
