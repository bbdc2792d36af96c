/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Peers of other machines: the TCP addresses with TLS on which the master listens, and the tokens by which it knows its
 * peers. Without a token no peer gets past the handshake. A token that is removed or expires ends its connections.
 */
#ifndef TITAN_MASTER_REMOTE_H
#define TITAN_MASTER_REMOTE_H

#include "master/identity.h"
#include "proto/error.h"

struct master;
struct peer_session;

void remote_init(struct master *master);
/* Read the key that seals secrets, and listen on the addresses of the options, if there are any. */
enum err remote_open(struct master *master, struct error *error);
/* Take over a connection that ssh made to a worker's machine; only this worker's token may be used on it. */
void remote_bridge(struct master *master, int fd, const char *worker, const char *token);
/* Is a worker with this token connected? */
bool remote_has(struct master *master, const char *token);
void remote_stop(struct master *master);                 /* stop listening; connections stay */
void remote_close(struct master *master);                /* close; call after all connections were closed */
/* Let more handshakes begin; call it in each pass of the loop. */
void remote_pass(struct master *master);
/* End connections whose token is gone; call it after each turn. */
void remote_check(struct master *master);
/* Find the token of a connection's peer and set the session's principal. ERR_DENIED: there is no valid token. */
enum err remote_know(struct peer_session *session, struct error *error);
/* Encrypt the secret of a new token with the master's key; ret_sealed has room for TOKEN_SECRET_MAX bytes. */
enum err remote_seal(struct master *master, struct slice id, struct slice secret, uint8_t *ret_sealed, size_t *ret_len,
		     struct error *error);

#endif
