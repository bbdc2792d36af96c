/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transport over TLS 1.3 with external keys: both sides know a 32-byte key, and the client names it by its identity.
 * There are no certificates. A peer without the right key never gets past the handshake, and can't find out whether an
 * identity exists: an unknown identity fails exactly like a wrong key.
 */
#ifndef TITAN_NET_TRANSPORT_TLS_H
#define TITAN_NET_TRANSPORT_TLS_H

#include <stdint.h>

#include "net/transport.h"

struct tls_server;

enum { TLS_KEY_SIZE = 32 };

/* Find the key of an identity; false: there is none. Called during handshakes, so it must not block. */
typedef bool tls_find_cb(const char *identity, uint8_t ret_key[TLS_KEY_SIZE], void *owner);

/* Make what the accepted connections share; free it after all of them. */
enum err tls_server_new(tls_find_cb *find_cb, void *owner, struct tls_server **ret_server, struct error *error);
/*
 * Until the next call, begin at most this many handshakes; other peers stay unread. Call it in each pass of the loop,
 * so that many new peers don't delay those that are already connected. Never called: no limit.
 */
void tls_server_allow(struct tls_server *server, unsigned handshakes);
void tls_server_free(struct tls_server *server);         /* frees the server's part, which may be NULL */

/*
 * Make a transport of a connected socket and take the socket over. The handshake happens in the first reads and writes;
 * transport_identity returns -EAGAIN until it is done. Its cost for a server is about 0.2 ms of a core.
 */
struct transport *transport_tls_accept(struct tls_server *server, int fd);
/*
 * Make a transport of a socket and begin the client's handshake. On failure fd is closed as well. The key isn't kept.
 */
enum err transport_tls_connect(int fd, const char *identity, const uint8_t key[TLS_KEY_SIZE],
			       struct transport **ret_transport, struct error *error);

/* For tests: send a key update after this many records instead of 2^22. */
void transport_tls_update_after(struct transport *transport, uint64_t records);
/* Return how many key updates this side has sent. */
unsigned transport_tls_updates(const struct transport *transport);

#endif
