/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the bytes of a connection travel, and whose they are. A transport never blocks and knows no frame: it moves
 * bytes, or says which readiness of its descriptor to wait for. Reading may wait for room to write and writing for
 * bytes to read, as in a handshake. conn.c and client.c wait, set the deadlines and decide what a fault means.
 */
#ifndef TITAN_NET_TRANSPORT_H
#define TITAN_NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct transport;

struct identity {                        /* what a transport knows of the peer, by itself: nothing that the peer says */
	unsigned uid;                    /* of a unix socket */
};

enum transport_want {                    /* bits: a readiness of the descriptor */
	TRANSPORT_READ = 1,
	TRANSPORT_WRITE = 2
};

struct transport_ops {
	/*
	 * Bytes moved, or -errno, never -EINTR. -EAGAIN: nothing moves before the readiness in read_want (of read) or in
	 * write_want (of write). read: 0 is the end in order; write: never 0. Each call leaves its own want
	 * as it is to be waited for, and the other's alone.
	 */
	ssize_t (*read)(struct transport *transport, void *place, size_t len);
	ssize_t (*write)(struct transport *transport, const void *data, size_t len);
	int (*identity)(const struct transport *transport, struct identity *ret);       /* -errno */
	void (*close)(struct transport *transport);      /* the descriptor too, and frees */
};

struct transport {
	const struct transport_ops *ops;
	int fd;                          /* to poll, and for nothing else */
	unsigned read_want, write_want;  /* enum transport_want */
	/* It has bytes that the descriptor's readiness doesn't tell of: the next read moves some, whatever its want. */
	bool holds;
};

static inline ssize_t transport_read(struct transport *transport, void *place, size_t len)
{
	return transport->ops->read(transport, place, len);
}

static inline ssize_t transport_write(struct transport *transport, const void *data, size_t len)
{
	return transport->ops->write(transport, data, len);
}

static inline int transport_identity(const struct transport *transport, struct identity *ret)
{
	return transport->ops->identity(transport, ret);
}

static inline void transport_close(struct transport *transport)          /* NULL is fine */
{
	if (transport)
		transport->ops->close(transport);
}

/* Takes over a unix stream socket, blocking or not; the caller has set close-on-exec. */
struct transport *transport_unix(int fd);

#endif
