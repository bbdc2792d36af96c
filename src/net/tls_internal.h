/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by transport_tls.c (reading, writing, keys), tls_handshake.c (who gets in) and tls_bio.c (bytes of the socket). */
#ifndef TITAN_NET_TLS_INTERNAL_H
#define TITAN_NET_TLS_INTERNAL_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/buf.h"
#include "net/transport_tls.h"

#define RECORD_SIZE 16384

struct tls_server {
	SSL_CTX *context;
	tls_find_cb *find_cb;
	void *owner;
	bool bounded; /* handshakes are limited to allowance until the next call of tls_server_allow */
	unsigned allowance;
};

struct tls {
	struct transport transport;
	SSL *ssl;
	SSL_CTX *own_context;            /* the client's own context; NULL on the server's side */
	struct tls_server *server;       /* NULL on the client's side */
	bool begun;                      /* server: the handshake has been counted against the allowance */
	bool ready;                      /* the handshake is done, and its result was checked */
	bool broken;                     /* a fatal error: no close_notify may follow */
	/* the stream ended; OpenSSL's error code says why */
	bool cut;
	struct buf out;                  /* records that wait for room in the socket */
	size_t owed; /* bytes of the caller that are in the records of out and not yet reported as moved */
	uint64_t records, update_after;  /* records sent under the present key */
	int64_t updated_ns;
	unsigned updates;
	char identity[IDENTITY_KEY_MAX + 1];
	uint8_t key[TLS_KEY_SIZE];       /* client: the key, until the handshake has used it */
};

/* A new BIO over the socket and buffer of a transport; NULL: no memory. */
BIO *tls_bio_new(struct tls *tls);
/* Send what is in out. 0: all is sent; -EAGAIN: the socket is full; another -errno: it failed. */
int tls_flush(struct tls *tls);

SSL_CTX *tls_context_new(const SSL_METHOD *method);
/* Continue the handshake. 0: it is done; otherwise -errno, and *ret_want for -EAGAIN. */
int tls_shake_hands(struct tls *tls, unsigned *ret_want);
/* Turn the result of an OpenSSL call that failed into -errno, and set the readiness to wait for. */
int tls_failed(struct tls *tls, int result, unsigned *ret_want);
/* Identities are printable ASCII without spaces: they are looked up as strings and shown in errors. */
bool tls_is_identity(const unsigned char *bytes, size_t len);
int tls_find_session_cb(SSL *ssl, const unsigned char *identity, size_t len, SSL_SESSION **ret_session);
int tls_use_session_cb(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_identity, size_t *ret_len,
		       SSL_SESSION **ret_session);

#endif
