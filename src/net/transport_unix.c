/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transport over unix sockets: one system call for each call, no buffer, and the kernel says who the peer is. */
#include "net/transport.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

static ssize_t unix_read(struct transport *transport, void *place, size_t len)
{
	for (;;) {
		ssize_t got = recv(transport->fd, place, len, MSG_DONTWAIT);

		if (got >= 0)
			return got;
		if (errno != EINTR)
			return -errno;
	}
}

static ssize_t unix_write(struct transport *transport, const void *data, size_t len)
{
	for (;;) {
		ssize_t sent = send(transport->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0)
			return sent;
		if (errno != EINTR)
			return -errno;
	}
}

static int unix_identity(const struct transport *transport, struct identity *ret)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(transport->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	*ret = (struct identity){ .kind = IDENTITY_USER, .uid = peer.uid };
	return 0;
}

static void unix_close(struct transport *transport)
{
	close(transport->fd);
	mem_free(transport);
}

static const struct transport_ops unix_ops = { unix_read, unix_write, unix_identity, unix_close };

struct transport *transport_unix(int fd)
{
	struct transport *transport = mem_zalloc(sizeof(*transport));

	*transport = (struct transport){ .ops = &unix_ops, .fd = fd, .read_want = TRANSPORT_READ,
					 .write_want = TRANSPORT_WRITE };
	return transport;
}
