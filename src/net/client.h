/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A blocking client of a master, for commands: connect, say HELLO, ask, read answers. One thread, one
 * request at a time unless the caller sends several before it reads.
 */
#ifndef TITAN_NET_CLIENT_H
#define TITAN_NET_CLIENT_H

#include "base/statedir.h"
#include "proto/message.h"

struct client;

/* ERR_UNREACHABLE with the command that starts a master, when there is none. */
enum err client_open(const struct statedir *statedir, struct client **ret_client, struct error *error);
void client_close(struct client *client);                /* NULL is fine */
int client_fd(const struct client *client);              /* to poll, after client_receive said ERR_PENDING */
short client_events(const struct client *client);        /* for that */
/* Inside a job: the socket of its worker's link, and the token that says whose job it is. */
enum err client_open_job(const char *socket, const char *token, struct client **ret_client, struct error *error);
/* Over a transport, which it takes over; name is that of the master in errors. */
struct transport;
enum err client_open_over(struct transport *transport, const char *name, struct client **ret_client, struct error *error);
const struct msg_welcome *client_welcome(const struct client *client);
uint64_t client_next_id(struct client *client);

/*
 * Queue a frame; it leaves with client_flush or the next client_receive. Blocks only when the queue is large.
 * A signal that has a handler ends any waiting with ERR_INTERRUPTED; what was queued stays queued.
 */
enum err client_send(struct client *client, enum opcode op, const void *msg, struct error *error);
enum err client_flush(struct client *client, struct error *error);

struct incoming {
	enum opcode op;
	struct slice body;               /* until the next receive */
};

/*
 * The next frame. timeout_ms: -1 for ever, 0 only what is there (ERR_PENDING when nothing is), else
 * ERR_TIMEOUT when it is over.
 */
enum err client_receive(struct client *client, int timeout_ms, struct incoming *ret_frame,
			struct error *error);

/*
 * Send, then wait for the answer with this opcode and the request's id, a minute at most; an ERROR from the
 * master becomes the error. Other frames are passed over. The decoded answer's slices live until the next
 * receive.
 */
enum err client_call(struct client *client, enum opcode op, const void *msg, enum opcode answer_op,
		     struct arena *arena, void *ret_answer, struct error *error);

#endif
