/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TLS 1.3 with external keys through OpenSSL. OpenSSL never waits for room to write: its BIO appends records to the
 * transport's own buffer, which is sent in one system call. A write counts as moved only when all its records are sent,
 * so a connection's queue is empty only if nothing is left here either.
 *
 * OpenSSL's defaults that this file prevents: a ciphersuite whose hash doesn't fit the key, session tickets, a client
 * that accepts a certificate instead of the key, a key that is used without limit, and an end of the stream without
 * close_notify that looks like an orderly one.
 */
#include "net/transport_tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

/* Both have SHA-256 as their hash, as the keys do. OpenSSL would ignore a key with any other suite. */
#define CIPHERSUITES "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
#define RECORD_SIZE  16384
#define WRITE_AT_ONCE (16 * RECORD_SIZE)
#define UPDATE_AFTER ((uint64_t)1 << 22)         /* most records under one key; AES-GCM is safe up to 2^24.5 */
#define UPDATE_NS    (24 * 3600 * NS_PER_S)

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

static const struct transport_fault fault_key = {
	ERR_DENIED, "the other side refused the token: it is unknown, expired or removed, or its secret is wrong"
};
static const struct transport_fault fault_certificate = {
	ERR_DENIED, "the other side sent a certificate instead of proving that it has the token's secret"
};
static const struct transport_fault fault_foreign = {
	ERR_FRAME, "the other side doesn't speak TLS 1.3 with tokens of titan; is the address right?"
};
static const struct transport_fault fault_cut = {
	ERR_UNREACHABLE, "the connection was cut: it ended without the closing message of TLS"
};
static const struct transport_fault fault_damaged = {
	ERR_FRAME, "the received bytes were changed on the way, or aren't TLS"
};

static struct tls *tls_of(const struct transport *transport)
{
	return (struct tls *)transport;          /* transport is the first member */
}

/* ---- the BIO under OpenSSL ---- */

static int bio_write(BIO *bio, const char *data, size_t len, size_t *ret_len)
{
	struct tls *tls = BIO_get_data(bio);

	buf_add(&tls->out, data, len);
	*ret_len = len;
	return 1;
}

static int bio_read(BIO *bio, char *place, size_t len, size_t *ret_len)
{
	struct tls *tls = BIO_get_data(bio);
	ssize_t got;

	BIO_clear_retry_flags(bio);
	do
		got = recv(tls->transport.fd, place, len, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	*ret_len = got > 0 ? (size_t)got : 0;
	if (got > 0)
		return 1;
	if (got < 0 && errno == EAGAIN)
		BIO_set_retry_read(bio);
	else
		tls->cut = true;
	return 0;
}

static long bio_control(BIO *bio, int command, long number, void *argument)
{
	const struct tls *tls = BIO_get_data(bio);

	(void)number;
	(void)argument;
	if (command == BIO_CTRL_EOF)
		return tls->cut;
	return command == BIO_CTRL_FLUSH;        /* 1: success; the real sending is done by the function flush */
}

static BIO_METHOD *bio_method(void)
{
	static BIO_METHOD *method;               /* made once and never freed */

	if (!method) {
		method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "titan");
		if (!method)
			return NULL;
		BIO_meth_set_write_ex(method, bio_write);
		BIO_meth_set_read_ex(method, bio_read);
		BIO_meth_set_ctrl(method, bio_control);
	}
	return method;
}

/* Send what is in out. 0: all is sent; -EAGAIN: the socket is full; another -errno: it failed. */
static int flush(struct tls *tls)
{
	while (tls->out.len > 0) {
		ssize_t sent = send(tls->transport.fd, tls->out.data, tls->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0)
			buf_drop(&tls->out, (size_t)sent);
		else if (errno != EINTR)
			return -errno;
	}
	buf_free(&tls->out);                     /* an idle connection keeps no buffer */
	return 0;
}

/* ---- the handshake ---- */

/* Make a session that passes a key to the handshake; NULL: no memory. */
static SSL_SESSION *session_with(SSL *ssl, const uint8_t key[TLS_KEY_SIZE])
{
	static const uint8_t aes_128_gcm_sha256[] = { 0x13, 0x01 };
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
	SSL_SESSION *session = SSL_SESSION_new();

	if (session && cipher && SSL_SESSION_set1_master_key(session, key, TLS_KEY_SIZE) &&
	    SSL_SESSION_set_cipher(session, cipher) && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

/* Identities are printable ASCII without spaces: they are looked up as strings and shown in errors. */
static bool is_identity(const unsigned char *bytes, size_t len)
{
	if (len == 0 || len > IDENTITY_KEY_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] <= ' ' || bytes[i] > '~')
			return false;
	return true;
}

/* Server: an unknown identity gets a random key, so that the handshake fails like one with a wrong key. */
static int find_session_cb(SSL *ssl, const unsigned char *identity, size_t len, SSL_SESSION **ret_session)
{
	struct tls *tls = SSL_get_app_data(ssl);
	char name[IDENTITY_KEY_MAX + 1] = "";
	uint8_t key[TLS_KEY_SIZE];
	bool known;

	if (is_identity(identity, len))
		memcpy(name, identity, len);
	known = name[0] != '\0' && tls->server->find_cb(name, key, tls->server->owner);
	if (!known && RAND_bytes(key, sizeof(key)) != 1)
		return 0;
	*ret_session = session_with(ssl, key);
	OPENSSL_cleanse(key, sizeof(key));
	if (known)
		memcpy(tls->identity, name, sizeof(name));
	return *ret_session != NULL;
}

static int use_session_cb(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_identity, size_t *ret_len,
			  SSL_SESSION **ret_session)
{
	struct tls *tls = SSL_get_app_data(ssl);

	*ret_identity = (const unsigned char *)tls->identity;
	*ret_len = strlen(tls->identity);
	*ret_session = NULL;
	/* If a digest is given, OpenSSL asks for a key of that hash only, for instance after a retry by the server. */
	if (digest && !EVP_MD_is_a(digest, "SHA256"))
		return 1;
	*ret_session = session_with(ssl, tls->key);
	return *ret_session != NULL;
}

static SSL_CTX *context_new(const SSL_METHOD *method)
{
	SSL_CTX *context = SSL_CTX_new(method);

	if (!context)
		return NULL;
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(context, 1);
	/* An empty certificate store, so that any certificate that a server shows is refused. */
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) &&
	    SSL_CTX_set_ciphersuites(context, CIPHERSUITES) && SSL_CTX_set1_groups_list(context, "X25519") &&
	    SSL_CTX_set_num_tickets(context, 0) && SSL_CTX_set_max_early_data(context, 0))
		return context;
	SSL_CTX_free(context);
	return NULL;
}

static const struct transport_fault *fault_of(unsigned long reason, const struct tls *tls)
{
	switch (ERR_GET_REASON(reason)) {
	case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:        /* how OpenSSL's server answers a wrong key */
	case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
	case SSL_R_BINDER_DOES_NOT_VERIFY:
	case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
		return &fault_key;
	case SSL_R_CERTIFICATE_VERIFY_FAILED:
		return &fault_certificate;
	case SSL_R_UNEXPECTED_EOF_WHILE_READING:
		return &fault_cut;
	default:
		return tls->cut ? &fault_cut : tls->ready ? &fault_damaged : &fault_foreign;
	}
}

/* Turn the result of an OpenSSL call that failed into -errno, and set the readiness to wait for. */
static int failed(struct tls *tls, int result, unsigned *ret_want)
{
	switch (SSL_get_error(tls->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		*ret_want = TRANSPORT_READ;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:               /* the BIO always takes everything */
		*ret_want = TRANSPORT_WRITE;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		tls->transport.fault = fault_of(ERR_peek_error(), tls);
		tls->broken = true;
		flush(tls); /* send the alert that tells the peer the reason, if it can be sent at once */
		return -EPROTO;
	}
}

/* May a server begin one more handshake now? Only the first step of a handshake costs a key exchange. */
static bool may_begin(struct tls *tls)
{
	struct tls_server *server = tls->server;

	if (!server || tls->begun || !server->bounded)
		return true;
	if (server->allowance == 0)
		return false;
	server->allowance--;
	tls->begun = true;
	return true;
}

/* Continue the handshake. 0: it is done; otherwise -errno, and *ret_want for -EAGAIN. */
static int shake_hands(struct tls *tls, unsigned *ret_want)
{
	int done, sent;

	if (tls->broken)
		return -EPROTO;
	if (!may_begin(tls)) {
		*ret_want = TRANSPORT_READ;
		return -EAGAIN;
	}
	ERR_clear_error();
	done = SSL_do_handshake(tls->ssl);
	if (done != 1) {
		int result = failed(tls, done, ret_want);

		if (result != -EAGAIN)
			return result == 0 ? -ECONNRESET : result;
	}
	sent = flush(tls);
	if (sent < 0) {
		*ret_want = TRANSPORT_WRITE;
		return sent;
	}
	if (done != 1)
		return -EAGAIN;
	/* A server with a certificate could do without the key: check that it has used the key. */
	if (!SSL_session_reused(tls->ssl) || SSL_get0_peer_certificate(tls->ssl)) {
		tls->transport.fault = &fault_certificate;
		tls->broken = true;
		return -EPROTO;
	}
	OPENSSL_cleanse(tls->key, sizeof(tls->key));
	tls->updated_ns = clock_mono_ns();
	tls->ready = true;
	return 0;
}

/* ---- the transport ---- */

static ssize_t tls_read(struct transport *transport, void *place, size_t len)
{
	struct tls *tls = tls_of(transport);
	size_t total = 0;
	int result = tls->ready ? 0 : shake_hands(tls, &transport->read_want);

	transport->holds = false;
	if (result < 0)
		return result;
	if (tls->broken)
		return -EPROTO;
	while (total < len) {
		size_t got = 0;

		ERR_clear_error();
		result = SSL_read_ex(tls->ssl, (uint8_t *)place + total, len - total, &got);
		if (result != 1)
			break;
		total += got;
	}
	if (total == len) {
		transport->holds = SSL_has_pending(tls->ssl) != 0;
		return (ssize_t)total;
	}
	result = failed(tls, result, &transport->read_want);
	if (total == 0)
		return result;
	/* Return the bytes first: the next call returns the end or the error. */
	transport->holds = result != -EAGAIN;
	return (ssize_t)total;
}

/* Renew the key after a number of records or a time; OpenSSL counts neither. */
static void update_key(struct tls *tls, size_t len)
{
	tls->records += (len + RECORD_SIZE - 1) / RECORD_SIZE;
	if (tls->records < tls->update_after && clock_mono_ns() - tls->updated_ns < UPDATE_NS)
		return;
	if (SSL_key_update(tls->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1)
		return;
	tls->records = 0;
	tls->updated_ns = clock_mono_ns();
	tls->updates++;
}

static ssize_t tls_write(struct transport *transport, const void *data, size_t len)
{
	struct tls *tls = tls_of(transport);
	size_t taken = 0;
	int result = tls->ready ? 0 : shake_hands(tls, &transport->write_want);

	if (result < 0)
		return result;
	if (tls->broken)
		return -EPROTO;
	while (tls->owed == 0 && taken < len && taken < WRITE_AT_ONCE) {
		size_t step = len - taken < RECORD_SIZE ? len - taken : RECORD_SIZE, moved = 0;

		update_key(tls, step);
		ERR_clear_error();
		result = SSL_write_ex(tls->ssl, (const uint8_t *)data + taken, step, &moved);
		if (result != 1) {
			if (taken > 0)
				break;
			result = failed(tls, result, &transport->write_want);
			return result == 0 ? -EPIPE : result;
		}
		taken += moved;
	}
	if (taken > 0)
		tls->owed = taken;
	result = flush(tls);
	if (result < 0) {
		transport->write_want = TRANSPORT_WRITE;
		return result;
	}
	taken = tls->owed;
	tls->owed = 0;
	return (ssize_t)taken;
}

static int tls_identity(const struct transport *transport, struct identity *ret)
{
	const struct tls *tls = tls_of(transport);

	if (!tls->ready)
		return -EAGAIN;
	*ret = (struct identity){ .kind = IDENTITY_KEY };
	memcpy(ret->key, tls->identity, sizeof(ret->key));
	return 0;
}

static void tls_close(struct transport *transport)
{
	struct tls *tls = tls_of(transport);

	if (tls->ready && !tls->broken) {
		ERR_clear_error();
		SSL_shutdown(tls->ssl);
		flush(tls);
	}
	close(transport->fd);
	SSL_free(tls->ssl);
	SSL_CTX_free(tls->own_context);
	buf_free(&tls->out);
	OPENSSL_cleanse(tls->key, sizeof(tls->key));
	ERR_clear_error();
	mem_free(tls);
}

static const struct transport_ops tls_ops = { tls_read, tls_write, tls_identity, tls_close };

static struct tls *tls_new(SSL_CTX *context, int fd)
{
	struct tls *tls = mem_zalloc(sizeof(*tls));
	BIO_METHOD *method = bio_method();
	BIO *bio = method ? BIO_new(method) : NULL;
	int yes = 1;

	tls->transport = (struct transport){ .ops = &tls_ops, .fd = fd, .read_want = TRANSPORT_READ,
					     .write_want = TRANSPORT_WRITE };
	tls->update_after = UPDATE_AFTER;
	tls->ssl = SSL_new(context);
	CHECK(tls->ssl && bio);          /* these OpenSSL calls fail only if memory runs out */
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	SSL_set_app_data(tls->ssl, tls);
	/*
	 * Frames are sent whole, many in one write, so the kernel needn't wait for more bytes. Fails on a unix socket.
	 */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return tls;
}

enum err tls_server_new(tls_find_cb *find_cb, void *owner, struct tls_server **ret_server, struct error *error)
{
	SSL_CTX *context = context_new(TLS_server_method());

	if (!context)
		return error_set(error, ERR_INTERNAL, "OpenSSL can't do TLS 1.3 with keys: %s",
				 ERR_reason_error_string(ERR_get_error()));
	SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_psk_find_session_callback(context, find_session_cb);
	*ret_server = mem_zalloc(sizeof(**ret_server));
	**ret_server = (struct tls_server){ .context = context, .find_cb = find_cb, .owner = owner };
	return ERR_NONE;
}

void tls_server_free(struct tls_server *server)
{
	if (!server)
		return;
	SSL_CTX_free(server->context);
	mem_free(server);
}

void tls_server_allow(struct tls_server *server, unsigned handshakes)
{
	server->bounded = true;
	server->allowance = handshakes;
}

struct transport *transport_tls_accept(struct tls_server *server, int fd)
{
	struct tls *tls = tls_new(server->context, fd);

	tls->server = server;
	SSL_set_accept_state(tls->ssl);
	return &tls->transport;
}

enum err transport_tls_connect(int fd, const char *identity, const uint8_t key[TLS_KEY_SIZE],
			       struct transport **ret_transport, struct error *error)
{
	SSL_CTX *context = context_new(TLS_client_method());
	struct tls *tls;

	if (!context || !is_identity((const unsigned char *)identity, strlen(identity))) {
		SSL_CTX_free(context);
		close(fd);
		return context ? error_set(error, ERR_INVALID, "the id of a token must have 1 to %d printable characters without spaces",
					   IDENTITY_KEY_MAX)
			       : error_set(error, ERR_INTERNAL, "OpenSSL can't do TLS 1.3 with keys: %s",
					   ERR_reason_error_string(ERR_get_error()));
	}
	SSL_CTX_set_psk_use_session_callback(context, use_session_cb);
	tls = tls_new(context, fd);
	tls->own_context = context;
	snprintf(tls->identity, sizeof(tls->identity), "%s", identity);
	memcpy(tls->key, key, TLS_KEY_SIZE);
	SSL_set_connect_state(tls->ssl);
	*ret_transport = &tls->transport;
	return ERR_NONE;
}

void transport_tls_update_after(struct transport *transport, uint64_t records)
{
	tls_of(transport)->update_after = records;
}

unsigned transport_tls_updates(const struct transport *transport)
{
	return tls_of(transport)->updates;
}
