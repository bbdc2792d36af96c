/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Peers of other machines: the addresses on which the master listens with TLS, and the tokens by which it knows its
 * peers. Without a token nobody gets past the handshake. A token that is removed or expires ends its connections.
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
void remote_stop(struct master *master);                 /* stop listening; connections stay */
void remote_close(struct master *master);                /* after all connections were closed */
/* Let more handshakes begin: to be called in each pass of the loop. */
void remote_pass(struct master *master);
/* End connections whose token is gone: to be called after each turn. */
void remote_check(struct master *master);
/* Find out which token the peer of a connection has; fills its principal. ERR_DENIED: none that is valid. */
enum err remote_know(struct peer_session *session, struct error *error);
/* Seal the secret of a new token; ret_sealed has room for TOKEN_SECRET_MAX bytes. */
enum err remote_seal(struct master *master, struct slice id, struct slice secret, uint8_t *ret_sealed, size_t *ret_len,
		     struct error *error);

#endif
