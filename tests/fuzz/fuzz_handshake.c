/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a stranger sends to a listening master before it is known: the records of a handshake, the names of keys in it, and
 * all that is no TLS. Nobody gets in that way, not even with the first words of one who did, and the answer is TLS and short.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "net/transport_tls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORD_HEADER 5
#define SAID_MAX      65536              /* more than this doesn't fit into the socket at once */

/* The key of the recorded first words among the seeds. */
static bool find_key_cb(const char *identity, uint8_t ret_key[TLS_KEY_SIZE], void *owner)
{
	(void)owner;
	CHECK(identity[0] != '\0' && strlen(identity) <= IDENTITY_KEY_MAX);
	for (const char *at = identity; *at; at++)
		CHECK(*at > ' ' && *at <= '~');
	memset(ret_key, 'k', TLS_KEY_SIZE);
	return strcmp(identity, "t1:known") == 0;
}

static void check_answer(int fd)
{
	uint8_t answer[8192];
	ssize_t got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	size_t len = got > 0 ? (size_t)got : 0, at = 0;

	CHECK(len < sizeof(answer));
	while (at < len) {
		/* Not the version: an alert about an unknown one has that of the stranger. */
		CHECK(len - at >= RECORD_HEADER && answer[at] >= 20 && answer[at] <= 23);
		at += RECORD_HEADER + ((size_t)answer[at + 3] << 8 | answer[at + 4]);
	}
	CHECK(at == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tls_server *server;
	struct transport *transport;
	struct identity identity;
	struct error error;
	uint8_t bytes[4096];
	ssize_t got;
	int fds[2];

	if (size > SAID_MAX)
		return 0;
	if (!server)
		CHECK(tls_server_new(find_key_cb, NULL, &server, &error) == ERR_NONE);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	transport = transport_tls_accept(server, fds[0]);
	CHECK(size == 0 || send(fds[1], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size);
	shutdown(fds[1], SHUT_WR);
	for (int i = 0; i < 64; i++) {
		got = transport_read(transport, bytes, sizeof(bytes));
		CHECK(got <= 0);         /* nothing that a stranger says is delivered */
		if (got != -EAGAIN)
			break;
	}
	CHECK(transport_identity(transport, &identity) == -EAGAIN);
	transport_close(transport);
	check_answer(fds[1]);
	close(fds[1]);
	return 0;
}
