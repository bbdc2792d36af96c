/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A transport: moves the bytes of a connection and knows the peer's identity. It never blocks and knows no frames: it
 * moves bytes, or says for which readiness of its descriptor to wait. Reading may have to wait for room to write, and
 * writing for bytes to read, as in a handshake. conn.c and client.c do the waiting, set the time limits and decide what
 * an error means.
 */
#ifndef TITAN_NET_TRANSPORT_H
#define TITAN_NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/error.h"

#define IDENTITY_KEY_MAX 63              /* most characters in the name of a key */

struct transport;

enum identity_kind {
	IDENTITY_USER,                   /* uid: the user of the process at the other end of a unix socket */
	IDENTITY_KEY                     /* key: the name of the key that the peer has proved to know */
};

/* who the peer is, as the transport itself knows it and not as the peer says */
struct identity {
	enum identity_kind kind;
	unsigned uid;
	char key[IDENTITY_KEY_MAX + 1];
};

struct transport_fault {                 /* the reason why a transport failed, when an error number says too little */
	enum err code;
	const char *text;
};

enum transport_want { /* what to wait for before trying again: bits for readiness of the descriptor */
	TRANSPORT_READ = 1,
	TRANSPORT_WRITE = 2
};

struct transport_ops {
	/*
	 * Return the bytes moved, or -errno, never -EINTR. -EAGAIN: first wait for the readiness in read_want
	 * (for read) or write_want (for write). read returns 0 at an orderly end of the stream; write never
	 * returns 0. Each call sets its own want and leaves the other's alone.
	 */
	ssize_t (*read)(struct transport *transport, void *place, size_t len);
	ssize_t (*write)(struct transport *transport, const void *data, size_t len);
	/* 0 or -errno; -EAGAIN: not known until the handshake is done. */
	int (*identity)(const struct transport *transport, struct identity *ret);
	void (*close)(struct transport *transport);      /* closes the descriptor as well and frees the transport */
};

struct transport {
	const struct transport_ops *ops;
	int fd;                          /* the descriptor, to be polled only */
	unsigned read_want, write_want;  /* bits of enum transport_want */
	/* The transport has bytes that poll doesn't report: the next read returns some, whatever read_want says. */
	bool holds;
	const struct transport_fault *fault;     /* set before -EPROTO is returned; otherwise NULL */
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

static inline void transport_close(struct transport *transport)          /* closes the transport, which may be NULL */
{
	if (transport)
		transport->ops->close(transport);
}

/*
 * Make a transport of a unix stream socket, which may be blocking, and take it over. The caller has set close-on-exec.
 */
struct transport *transport_unix(int fd);

#endif
