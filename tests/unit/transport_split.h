/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A transport that splits and delays every byte, as the worst network and TLS together would. Over a socket it moves
 * one byte at a time, returns -EAGAIN before every piece, at times waits for readiness of the other direction, and at
 * times holds bytes although its descriptor isn't readable. After SPLIT_EACH bytes the pieces are longer, so that
 * megabytes end. transport.h allows all of it.
 */
#ifndef TITAN_TEST_TRANSPORT_SPLIT_H
#define TITAN_TEST_TRANSPORT_SPLIT_H

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/transport.h"

#define SPLIT_EACH  (16 * 1024)
#define SPLIT_PIECE 1021
#define SPLIT_HELD  5                    /* number of pieces in which a record that was read ahead is handed over */

struct split {
	struct transport transport;
	uint8_t record[SPLIT_HELD * SPLIT_PIECE];
	size_t at, len;                  /* the part of the record that wasn't handed over yet */
	size_t read, written;            /* bytes ever */
	unsigned read_step, write_step;
};

/* Totals of all transports: bytes moved, -EAGAINs, waits for the other direction, reads from a record that was read ahead. */
static atomic_size_t split_moved, split_delays, split_crossings, split_held;

static inline bool split_ready(const struct split *split, short events)
{
	struct pollfd poll_fd = { .fd = split->transport.fd, .events = events };

	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & events) != 0;
}

/* Should this call move nothing? Then *want says what to wait for; the other direction only where it is ready now. */
static inline bool split_delays_call(struct split *split, unsigned *step, unsigned *want, unsigned own, unsigned other)
{
	*want = own;
	switch ((*step)++ % 4) {
	case 0:
		split_delays++;
		return true;
	case 2:
		if (!split_ready(split, other == TRANSPORT_READ ? POLLIN : POLLOUT))
			return false;
		*want = other;
		split_crossings++;
		return true;
	default:
		return false;
	}
}

static inline ssize_t split_fill(struct split *split)
{
	size_t piece = split->read < SPLIT_EACH ? 1 : SPLIT_PIECE;
	unsigned *want = &split->transport.read_want;
	ssize_t got;
	uint8_t byte;

	*want = TRANSPORT_READ;
	got = recv(split->transport.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	if (split_delays_call(split, &split->read_step, want, TRANSPORT_READ, TRANSPORT_WRITE))
		return -EAGAIN;
	got = recv(split->transport.fd, split->record, split->read_step % 8 == 0 ? piece * SPLIT_HELD : piece, MSG_DONTWAIT);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	split->at = 0;
	split->len = (size_t)got;
	return got;
}

static inline ssize_t split_read(struct transport *transport, void *place, size_t len)
{
	struct split *split = (struct split *)transport;
	size_t piece = split->read < SPLIT_EACH ? 1 : SPLIT_PIECE;

	if (transport->holds) {
		split_held++;
	} else {
		ssize_t got = split_fill(split);

		if (got <= 0)
			return got;
	}
	piece = piece < split->len - split->at ? piece : split->len - split->at;
	piece = piece < len ? piece : len;
	memcpy(place, split->record + split->at, piece);
	split->at += piece;
	split->read += piece;
	split_moved += piece;
	transport->holds = split->at < split->len;
	return (ssize_t)piece;
}

static inline ssize_t split_write(struct transport *transport, const void *data, size_t len)
{
	struct split *split = (struct split *)transport;
	size_t piece = split->written < SPLIT_EACH ? 1 : SPLIT_PIECE;
	ssize_t sent;

	if (split_delays_call(split, &split->write_step, &transport->write_want, TRANSPORT_WRITE, TRANSPORT_READ))
		return -EAGAIN;
	sent = send(transport->fd, data, piece < len ? piece : len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0)
		return -errno;
	split->written += (size_t)sent;
	split_moved += (size_t)sent;
	return sent;
}

static inline int split_identity(const struct transport *transport, struct identity *ret)
{
	(void)transport;
	*ret = (struct identity){ .uid = getuid() };
	return 0;
}

static inline void split_close(struct transport *transport)
{
	close(transport->fd);
	mem_free(transport);
}

static const struct transport_ops split_ops = { split_read, split_write, split_identity, split_close };

static inline struct transport *transport_split(int fd)
{
	struct split *split = mem_zalloc(sizeof(*split));

	split->transport = (struct transport){ .ops = &split_ops, .fd = fd, .read_want = TRANSPORT_READ,
					       .write_want = TRANSPORT_WRITE };
	return &split->transport;
}

/* Both ends split. */
static inline void transport_pair(struct transport *ret_ends[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		abort();
	ret_ends[0] = transport_split(fds[0]);
	ret_ends[1] = transport_split(fds[1]);
}

#endif
