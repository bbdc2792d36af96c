/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The handshake: only a peer that knows the key gets in, and an outsider learns nothing about identities.
 *
 * OpenSSL's defaults that this file prevents: a ciphersuite whose hash doesn't fit the key, session tickets, and a client
 * that accepts a certificate instead of the key.
 */
#include "net/tls_internal.h"

#include <errno.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/clock.h"

/* Both have SHA-256 as their hash, as the keys do. OpenSSL would ignore a key with any other suite. */
#define CIPHERSUITES "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"

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

bool tls_is_identity(const unsigned char *bytes, size_t len)
{
	if (len == 0 || len > IDENTITY_KEY_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] <= ' ' || bytes[i] > '~')
			return false;
	return true;
}

/* Server: an unknown identity gets a random key, so that the handshake fails like one with a wrong key. */
int tls_find_session_cb(SSL *ssl, const unsigned char *identity, size_t len, SSL_SESSION **ret_session)
{
	struct tls *tls = SSL_get_app_data(ssl);
	char name[IDENTITY_KEY_MAX + 1] = "";
	uint8_t key[TLS_KEY_SIZE];
	bool known;

	if (tls_is_identity(identity, len))
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

int tls_use_session_cb(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_identity, size_t *ret_len,
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

SSL_CTX *tls_context_new(const SSL_METHOD *method)
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

int tls_failed(struct tls *tls, int result, unsigned *ret_want)
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
		tls_flush(tls); /* send the alert that tells the peer the reason, if it can be sent at once */
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

int tls_shake_hands(struct tls *tls, unsigned *ret_want)
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
		int result = tls_failed(tls, done, ret_want);

		if (result != -EAGAIN)
			return result == 0 ? -ECONNRESET : result;
	}
	sent = tls_flush(tls);
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
