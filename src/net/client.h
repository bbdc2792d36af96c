/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A blocking client of a master, for commands: connects, sends HELLO and requests, and reads answers. For one thread.
 * One request at a time, unless the caller sends several before it reads.
 */
#ifndef TITAN_NET_CLIENT_H
#define TITAN_NET_CLIENT_H

#include "base/statedir.h"
#include "proto/message.h"

struct client;

/* Connect and send HELLO. ERR_UNREACHABLE: there is no master; the error names the command that starts one. */
enum err client_open(const struct statedir *statedir, struct client **ret_client, struct error *error);
void client_close(struct client *client);                /* closes the client, which may be NULL */
/* Descriptor to poll after client_receive returned ERR_PENDING. */
int client_fd(const struct client *client);
short client_events(const struct client *client);        /* events of poll to wait for, with client_fd */
/*
 * Connect over TCP to a master on another machine, with a key (keyfile.h); or, if the address is a path, to the shared
 * socket of a master of this machine, which needs no key.
 */
struct key;
enum err client_open_remote(const char *address, const struct key *key, struct client **ret_client, struct error *error);
/* Connect from inside a job: over its worker's socket, with the token that names the attempt. */
enum err client_open_job(const char *socket, const char *token, struct client **ret_client, struct error *error);
/* Connect over a transport, which the client takes over; name stands for the master in errors. */
struct transport;
enum err client_open_over(struct transport *transport, const char *name, struct client **ret_client, struct error *error);
const struct msg_welcome *client_welcome(const struct client *client);
void client_looks_at(struct client *client, uint64_t turn); /* from now on the answers are as of this turn: see client_welcome */
uint64_t client_next_id(struct client *client);

/*
 * Queue a frame. It is sent by client_flush or the next client_receive; client_send blocks only if the queue
 * is large. A signal with a handler ends any waiting with ERR_INTERRUPTED; frames stay queued.
 */
enum err client_send(struct client *client, enum opcode op, const void *msg, struct error *error);
enum err client_flush(struct client *client, struct error *error);

struct incoming {
	enum opcode op;
	struct slice body;               /* body of the frame, valid until the next receive */
};

/*
 * Receive the next frame. timeout_ms: -1 waits for ever; 0 takes only a frame that has already come (otherwise
 * ERR_PENDING); other values: ERR_TIMEOUT after that time.
 */
enum err client_receive(struct client *client, int timeout_ms, struct incoming *ret_frame,
			struct error *error);

/*
 * Send a request and wait at most a minute for the answer with this opcode and the request's id. An ERROR from the
 * master becomes the error; other frames are skipped. The answer's slices are valid until the next receive.
 */
enum err client_call(struct client *client, enum opcode op, const void *msg, enum opcode answer_op,
		     struct arena *arena, void *ret_answer, struct error *error);

#endif
