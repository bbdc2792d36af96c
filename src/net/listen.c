/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A listening socket with one spare descriptor. When descriptors run out, accept fails and the socket stays readable
 * for ever. So the spare descriptor is closed to accept one peer, tell it that the master is busy, and hang up; then
 * accepting pauses. Other peers wait in the backlog.
 */
#include "net/listen.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/message.h"

#define ACCEPT_BATCH 64
#define REST_S       0.1

struct listener {
	struct ev_loop *loop;
	struct ev_io readable;
	struct ev_timer rest;
	int spare_fd;            /* the spare descriptor; -1 while not even this one can be opened */
	void *owner;
	void (*accept_cb)(int fd, void *owner);
};

static void take_spare(struct listener *listener)
{
	if (listener->spare_fd < 0)
		listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_local(int fd)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

static void turn_one_away(struct listener *listener)
{
	struct msg_error busy = {
		.code = ERR_BUSY,
		.text = slice_str("the master has no file descriptor left for another connection"),
	};
	struct buf frame = { 0 };
	int fd;

	if (listener->spare_fd < 0)
		return;
	close(listener->spare_fd);
	listener->spare_fd = -1;
	fd = accept4(listener->readable.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	message_encode(&frame, OP_ERROR, &busy);
	/* A stranger from the network is told nothing: it would be the only answer without TLS. */
	if (!is_local(fd))
		buf_clear(&frame);
	/* Best effort: the connection ends whether or not the message arrives. */
	if (frame.len > 0 && send(fd, frame.data, frame.len, MSG_NOSIGNAL) < 0)
		errno = 0;
	close(fd);
	buf_free(&frame);
}

static void rest(struct listener *listener)
{
	ev_io_stop(listener->loop, &listener->readable);
	ev_timer_set(&listener->rest, REST_S, 0.0);
	ev_timer_start(listener->loop, &listener->rest);
}

static void rested_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct listener *listener = timer->data;

	(void)events;
	take_spare(listener);
	ev_io_start(loop, &listener->readable);
}

/* Would the next accept fail with the same error at once? */
static bool is_shortage(int errno_value)
{
	return errno_value == EMFILE || errno_value == ENFILE || errno_value == ENOBUFS ||
	       errno_value == ENOMEM;
}

static void readable_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct listener *listener = io->data;

	(void)loop;
	(void)events;
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			listener->accept_cb(fd, listener->owner);
			continue;
		}
		if (is_shortage(errno)) {
			turn_one_away(listener);
			take_spare(listener);
			rest(listener);
			return;
		}
		/* A peer that has gone away is no reason to stop accepting. */
		if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

struct listener *listener_new(struct ev_loop *loop, int fd, void *owner,
			      void (*accept_cb)(int fd, void *owner))
{
	struct listener *listener = mem_zalloc(sizeof(*listener));

	listener->loop = loop;
	listener->owner = owner;
	listener->accept_cb = accept_cb;
	listener->spare_fd = -1;
	take_spare(listener);
	ev_io_init(&listener->readable, readable_cb, fd, EV_READ);
	ev_init(&listener->rest, rested_cb);
	listener->readable.data = listener;
	listener->rest.data = listener;
	ev_io_start(loop, &listener->readable);
	return listener;
}

void listener_free(struct listener *listener)
{
	if (!listener)
		return;
	ev_io_stop(listener->loop, &listener->readable);
	ev_timer_stop(listener->loop, &listener->rest);
	close(listener->readable.fd);
	if (listener->spare_fd >= 0)
		close(listener->spare_fd);
	mem_free(listener);
}
