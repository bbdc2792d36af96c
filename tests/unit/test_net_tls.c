/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TLS with pre-shared keys: which peers get in, what others learn, how a stream ends, and that session keys are
 * renewed.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "greatest.h"
#include "net/transport_tls.h"

#define BULK ((size_t)3 << 20)

static const uint8_t right_key[TLS_KEY_SIZE] = "thirty-two bytes that both know";
static const uint8_t wrong_key[TLS_KEY_SIZE] = "thirty-two bytes of an outsider";

static bool find_key(const char *identity, uint8_t ret_key[TLS_KEY_SIZE], void *owner)
{
	(void)owner;
	if (strcmp(identity, "w1:known") != 0)
		return false;
	memcpy(ret_key, right_key, TLS_KEY_SIZE);
	return true;
}

struct pair {
	struct tls_server *server;
	struct transport *at_server, *at_client;
	int result[2];                   /* of server and client: 0 or -errno when the handshake is over */
};

static void make_pair(struct pair *pair, const char *identity, const uint8_t *key)
{
	struct error error;
	int fds[2];

	memset(pair, 0, sizeof(*pair));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	    tls_server_new(find_key, NULL, &pair->server, &error) != ERR_NONE ||
	    transport_tls_connect(fds[1], identity, key, &pair->at_client, &error) != ERR_NONE)
		abort();
	pair->at_server = transport_tls_accept(pair->server, fds[0]);
}

static void free_pair(struct pair *pair)
{
	transport_close(pair->at_client);
	transport_close(pair->at_server);
	tls_server_free(pair->server);
}

/* Let both sides read until neither makes progress. */
static void shake_hands(struct pair *pair)
{
	struct transport *ends[2] = { pair->at_server, pair->at_client };
	uint8_t byte;

	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 2; i++) {
			ssize_t got = pair->result[i] == 0 ? transport_read(ends[i], &byte, 1) : -EAGAIN;

			if (got < 0 && got != -EAGAIN)
				pair->result[i] = (int)got;
		}
}

TEST right_key_gets_in_and_is_known_by_its_name(void)
{
	struct identity identity;
	struct pair pair;

	make_pair(&pair, "w1:known", right_key);
	ASSERT_EQ_FMT(-EAGAIN, transport_identity(pair.at_server, &identity), "%d");
	shake_hands(&pair);
	ASSERT_EQ_FMT(0, pair.result[0], "%d");
	ASSERT_EQ_FMT(0, pair.result[1], "%d");
	ASSERT_EQ_FMT(0, transport_identity(pair.at_server, &identity), "%d");
	ASSERT_EQ((int)IDENTITY_KEY, (int)identity.kind);
	ASSERT_STR_EQ("w1:known", identity.key);
	free_pair(&pair);
	PASS();
}

/* Send data in both directions through full sockets; return the number of bytes that arrived in order. */
static size_t bulk(struct transport *from, struct transport *to)
{
	uint8_t *out = malloc(BULK), *in = malloc(BULK);
	size_t sent = 0, got = 0, blocked = 0, same = 0;

	for (size_t i = 0; i < BULK; i++)
		out[i] = (uint8_t)(i * 7 + i / 251);
	while (got < BULK) {
		ssize_t moved = sent < BULK ? transport_write(from, out + sent, BULK - sent) : -EAGAIN;

		if (moved > 0)
			sent += (size_t)moved;
		else if (moved != -EAGAIN)
			break;
		blocked += moved == -EAGAIN;
		/* Read with odd sizes that are smaller than what is sent at once. */
		moved = transport_read(to, in + got, BULK - got < 70001 ? BULK - got : 70001);
		if (moved > 0)
			got += (size_t)moved;
		else if (moved != -EAGAIN)
			break;
	}
	while (same < got && in[same] == out[same])
		same++;
	free(out);
	free(in);
	return blocked > 0 ? same : 0;
}

TEST megabytes_arrive_whole_through_full_sockets(void)
{
	struct pair pair;

	make_pair(&pair, "w1:known", right_key);
	ASSERT_EQ_FMT(BULK, bulk(pair.at_client, pair.at_server), "%zu");
	ASSERT_EQ_FMT(BULK, bulk(pair.at_server, pair.at_client), "%zu");
	free_pair(&pair);
	PASS();
}

/* An outsider must not learn which identities exist. */
TEST unknown_identity_looks_like_a_wrong_key(void)
{
	const char *identity[2] = { "w1:known", "w1:unknown" };
	struct pair pairs[2];

	for (int i = 0; i < 2; i++) {
		make_pair(&pairs[i], identity[i], wrong_key);
		shake_hands(&pairs[i]);
		ASSERT_EQ_FMT(-EPROTO, pairs[i].result[0], "%d");
		ASSERT_EQ_FMT(-EPROTO, pairs[i].result[1], "%d");
		ASSERT_EQ_FMT((int)ERR_DENIED, (int)pairs[i].at_client->fault->code, "%d");
	}
	ASSERT_EQ(pairs[0].at_client->fault, pairs[1].at_client->fault);
	ASSERT_EQ(pairs[0].at_server->fault, pairs[1].at_server->fault);
	for (int i = 0; i < 2; i++)
		free_pair(&pairs[i]);
	PASS();
}

TEST identity_with_other_characters_is_refused(void)
{
	struct transport *transport;
	struct error error;
	char longest[IDENTITY_KEY_MAX + 2];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ASSERT_EQ((int)ERR_INVALID, (int)transport_tls_connect(open("/dev/null", O_RDWR), "w1 x", right_key, &transport, &error));
	ASSERT_EQ((int)ERR_INVALID, (int)transport_tls_connect(open("/dev/null", O_RDWR), "", right_key, &transport, &error));
	ASSERT_EQ((int)ERR_INVALID, (int)transport_tls_connect(open("/dev/null", O_RDWR), longest, right_key, &transport, &error));
	PASS();
}

/* ---- other programs at the other end ---- */

struct foreign {
	SSL_CTX *context;
	SSL *ssl;
	struct transport *ours;
	struct tls_server *server;
	int result;                      /* result of the handshake on titan's side: 0 or -errno */
	bool done;                       /* the foreign side has finished its handshake */
};

/* Give the server a self-made certificate. */
static void use_certificate(SSL_CTX *context)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();

	ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
	X509_set_pubkey(certificate, key);
	X509_sign(certificate, key, EVP_sha256());
	SSL_CTX_use_certificate(context, certificate);
	SSL_CTX_use_PrivateKey(context, key);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

static void meet(struct foreign *foreign, bool we_serve)
{
	struct error error;
	uint8_t byte;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	    tls_server_new(find_key, NULL, &foreign->server, &error) != ERR_NONE)
		abort();
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	if (we_serve)
		foreign->ours = transport_tls_accept(foreign->server, fds[0]);
	else if (transport_tls_connect(fds[0], "w1:known", right_key, &foreign->ours, &error) != ERR_NONE)
		abort();
	foreign->ssl = SSL_new(foreign->context);
	SSL_set_fd(foreign->ssl, fds[1]);
	for (int round = 0; round < 20 && foreign->result == 0; round++) {
		ssize_t got;

		if ((we_serve ? SSL_connect(foreign->ssl) : SSL_accept(foreign->ssl)) == 1)
			foreign->done = true;
		got = transport_read(foreign->ours, &byte, 1);
		if (got <= 0 && got != -EAGAIN)
			foreign->result = got == 0 ? -ECONNRESET : (int)got;
	}
	close(fds[1]);
	SSL_free(foreign->ssl);
	SSL_CTX_free(foreign->context);
}

static void part(struct foreign *foreign)
{
	transport_close(foreign->ours);
	tls_server_free(foreign->server);
}

TEST certificate_instead_of_the_key_is_refused(void)
{
	struct foreign foreign = { .context = SSL_CTX_new(TLS_server_method()) };

	use_certificate(foreign.context);
	meet(&foreign, false);
	ASSERT_EQ_FMT(-EPROTO, foreign.result, "%d");
	ASSERT_EQ_FMT((int)ERR_DENIED, (int)foreign.ours->fault->code, "%d");
	ASSERT(strstr(foreign.ours->fault->text, "certificate"));
	part(&foreign);
	PASS();
}

static unsigned offer_key(SSL *ssl, const char *hint, char *identity, unsigned size, unsigned char *psk, unsigned psk_size)
{
	(void)ssl;
	(void)hint;
	(void)psk_size;
	snprintf(identity, size, "w1:known");
	memcpy(psk, right_key, TLS_KEY_SIZE);
	return TLS_KEY_SIZE;
}

/* Even with the right key, an older TLS version, another cipher suite or another group is refused. */
TEST only_the_pinned_versions_suites_and_groups_are_spoken(void)
{
	for (int i = 0; i < 4; i++) {
		struct foreign foreign = { .context = SSL_CTX_new(TLS_client_method()) };

		SSL_CTX_set_psk_client_callback(foreign.context, offer_key);
		if (i == 0)
			SSL_CTX_set_max_proto_version(foreign.context, TLS1_2_VERSION);
		if (i == 1)
			SSL_CTX_set_ciphersuites(foreign.context, "TLS_AES_256_GCM_SHA384");
		if (i == 2)
			SSL_CTX_set1_groups_list(foreign.context, "P-256");
		meet(&foreign, true);
		ASSERT_EQ_FMT(i == 3, foreign.done, "%d"); /* with titan's own settings the foreign client gets in */
		ASSERT_EQ_FMT(i == 3, foreign.result == 0, "%d");
		part(&foreign);
	}
	PASS();
}

TEST bytes_that_are_no_tls_are_refused_politely(void)
{
	/* Arrays of one size, so that shorter greetings are padded with zeros. */
	static const char greeting[][40] = { "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\x16\x03\x01\xff\xff\x01", "\0\0\0\0" };

	for (size_t i = 0; i < sizeof(greeting) / sizeof(greeting[0]); i++) {
		struct tls_server *server;
		struct transport *transport;
		struct error error;
		ssize_t got = -EAGAIN;
		uint8_t byte;
		int fds[2];

		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
		ASSERT_EQ(ERR_NONE, tls_server_new(find_key, NULL, &server, &error));
		transport = transport_tls_accept(server, fds[0]);
		ASSERT_EQ_FMT((ssize_t)-EAGAIN, transport_read(transport, &byte, 1), "%zd");
		ASSERT(write(fds[1], greeting[i], sizeof(greeting[i])) > 0);
		shutdown(fds[1], SHUT_WR);
		for (int round = 0; round < 5 && got == -EAGAIN; round++)
			got = transport_read(transport, &byte, 1);
		ASSERT_EQ_FMT((ssize_t)-EPROTO, got, "%zd");
		ASSERT(transport->fault);
		ASSERT_EQ_FMT((ssize_t)-EPROTO, transport_write(transport, "x", 1), "%zd");
		transport_close(transport);
		tls_server_free(server);
		close(fds[1]);
	}
	PASS();
}

/* ---- the life of a connection ---- */

TEST orderly_end_differs_from_a_cut(void)
{
	struct pair pair;
	uint8_t byte;
	int copy;

	make_pair(&pair, "w1:known", right_key);
	shake_hands(&pair);
	ASSERT_EQ_FMT((ssize_t)1, transport_write(pair.at_client, "x", 1), "%zd");
	transport_close(pair.at_client);
	pair.at_client = NULL;
	ASSERT_EQ_FMT((ssize_t)1, transport_read(pair.at_server, &byte, 1), "%zd");
	ASSERT_EQ_FMT((ssize_t)0, transport_read(pair.at_server, &byte, 1), "%zd");
	free_pair(&pair);

	make_pair(&pair, "w1:known", right_key);
	shake_hands(&pair);
	copy = dup(pair.at_client->fd);
	shutdown(copy, SHUT_RDWR);               /* imitate a machine that disappears: no close_notify */
	close(copy);
	ASSERT_EQ_FMT((ssize_t)-EPROTO, transport_read(pair.at_server, &byte, 1), "%zd");
	ASSERT_EQ_FMT((int)ERR_UNREACHABLE, (int)pair.at_server->fault->code, "%d");
	free_pair(&pair);
	PASS();
}

TEST changed_bytes_are_noticed(void)
{
	struct pair pair;
	uint8_t bytes[64];

	make_pair(&pair, "w1:known", right_key);
	shake_hands(&pair);
	/* Insert a record into the stream that wasn't encrypted by the peer. */
	ASSERT_EQ_FMT((ssize_t)25, send(pair.at_client->fd, "\x17\x03\x03\x00\x14" "aaaaaaaaaaaaaaaaaaaa", 25, 0), "%zd");
	ASSERT_EQ_FMT((ssize_t)-EPROTO, transport_read(pair.at_server, bytes, sizeof(bytes)), "%zd");
	ASSERT_EQ_FMT((int)ERR_FRAME, (int)pair.at_server->fault->code, "%d");
	free_pair(&pair);
	PASS();
}

TEST keys_are_updated_by_count(void)
{
	struct pair pair;

	make_pair(&pair, "w1:known", right_key);
	shake_hands(&pair);
	transport_tls_update_after(pair.at_client, 64);
	ASSERT_EQ_FMT(BULK, bulk(pair.at_client, pair.at_server), "%zu");
	ASSERT_EQ_FMT((unsigned)(BULK / 16384 / 64), transport_tls_updates(pair.at_client) + 0, "%u");
	ASSERT_EQ_FMT(0u, transport_tls_updates(pair.at_server), "%u");
	ASSERT_EQ_FMT(BULK, bulk(pair.at_server, pair.at_client), "%zu");
	free_pair(&pair);
	PASS();
}

TEST handshakes_beyond_the_allowance_wait(void)
{
	struct identity identity;
	struct pair pair;

	make_pair(&pair, "w1:known", right_key);
	tls_server_allow(pair.server, 0);
	shake_hands(&pair);
	ASSERT_EQ_FMT(-EAGAIN, transport_identity(pair.at_server, &identity), "%d");
	tls_server_allow(pair.server, 1);
	shake_hands(&pair);
	ASSERT_EQ_FMT(0, transport_identity(pair.at_server, &identity), "%d");
	free_pair(&pair);
	PASS();
}

SUITE(net_tls)
{
	RUN_TEST(right_key_gets_in_and_is_known_by_its_name);
	RUN_TEST(megabytes_arrive_whole_through_full_sockets);
	RUN_TEST(unknown_identity_looks_like_a_wrong_key);
	RUN_TEST(identity_with_other_characters_is_refused);
	RUN_TEST(certificate_instead_of_the_key_is_refused);
	RUN_TEST(only_the_pinned_versions_suites_and_groups_are_spoken);
	RUN_TEST(bytes_that_are_no_tls_are_refused_politely);
	RUN_TEST(orderly_end_differs_from_a_cut);
	RUN_TEST(changed_bytes_are_noticed);
	RUN_TEST(keys_are_updated_by_count);
	RUN_TEST(handshakes_beyond_the_allowance_wait);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(net_tls);
	GREATEST_MAIN_END();
}
