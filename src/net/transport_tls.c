/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TLS 1.3 with external keys through OpenSSL: moving bytes. A write counts as moved only when all its records are sent,
 * so a connection's queue is empty only if nothing is left here either.
 *
 * OpenSSL's defaults that this file prevents: a key that is used without limit, and an end of the stream without
 * close_notify that looks like an orderly one. tls_handshake.c prevents those of the handshake.
 */
#include "net/transport_tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/tls_internal.h"

#define WRITE_AT_ONCE (16 * RECORD_SIZE)
#define RECORD_EXTRA 22                  /* bytes that a record has beyond its contents */
#define UPDATE_AFTER ((uint64_t)1 << 22)         /* most records under one key; AES-GCM is safe up to 2^24.5 */
#define UPDATE_NS    (24 * 3600 * NS_PER_S)

static struct tls *tls_of(const struct transport *transport)
{
	return (struct tls *)transport;          /* transport is the first member */
}

static ssize_t tls_read(struct transport *transport, void *place, size_t len)
{
	struct tls *tls = tls_of(transport);
	size_t total = 0;
	int result = tls->ready ? 0 : tls_shake_hands(tls, &transport->read_want);

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
	result = tls_failed(tls, result, &transport->read_want);
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
	int result = tls->ready ? 0 : tls_shake_hands(tls, &transport->write_want);

	if (result < 0)
		return result;
	if (tls->broken)
		return -EPROTO;
	/* Room for all records at once: a buffer that grows while they come is copied each time. */
	if (tls->owed == 0) {
		size_t most = len < WRITE_AT_ONCE ? len : WRITE_AT_ONCE;

		buf_reserve(&tls->out, most + (most / RECORD_SIZE + 2) * RECORD_EXTRA);
	}
	while (tls->owed == 0 && taken < len && taken < WRITE_AT_ONCE) {
		size_t step = len - taken < RECORD_SIZE ? len - taken : RECORD_SIZE, moved = 0;

		update_key(tls, step);
		ERR_clear_error();
		result = SSL_write_ex(tls->ssl, (const uint8_t *)data + taken, step, &moved);
		if (result != 1) {
			if (taken > 0)
				break;
			result = tls_failed(tls, result, &transport->write_want);
			return result == 0 ? -EPIPE : result;
		}
		taken += moved;
	}
	if (taken > 0)
		tls->owed = taken;
	result = tls_flush(tls);
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
		tls_flush(tls);
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
	BIO *bio = tls_bio_new(tls);
	int yes = 1;

	tls->transport = (struct transport){ .ops = &tls_ops, .fd = fd, .read_want = TRANSPORT_READ,
					     .write_want = TRANSPORT_WRITE };
	tls->update_after = UPDATE_AFTER;
	tls->ssl = SSL_new(context);
	CHECK(tls->ssl && bio);          /* these OpenSSL calls fail only if memory runs out */
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
	SSL_CTX *context = tls_context_new(TLS_server_method());

	if (!context)
		return error_set(error, ERR_INTERNAL, "OpenSSL can't do TLS 1.3 with keys: %s",
				 ERR_reason_error_string(ERR_get_error()));
	SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_psk_find_session_callback(context, tls_find_session_cb);
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
	SSL_CTX *context = tls_context_new(TLS_client_method());
	struct tls *tls;

	if (!context || !tls_is_identity((const unsigned char *)identity, strlen(identity))) {
		SSL_CTX_free(context);
		close(fd);
		return context ? error_set(error, ERR_INVALID, "the id of a token must have 1 to %d printable characters without spaces",
					   IDENTITY_KEY_MAX)
			       : error_set(error, ERR_INTERNAL, "OpenSSL can't do TLS 1.3 with keys: %s",
					   ERR_reason_error_string(ERR_get_error()));
	}
	SSL_CTX_set_psk_use_session_callback(context, tls_use_session_cb);
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
