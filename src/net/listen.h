/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accepts connections in a libev loop, many at a time. When descriptors run out, it accepts one peer, sends it ERROR
 * BUSY, closes, and pauses, so it never becomes a busy loop.
 */
#ifndef TITAN_NET_LISTEN_H
#define TITAN_NET_LISTEN_H

struct ev_loop;
struct listener;

/*
 * Make a listener. Takes over fd, a non-blocking listening socket. accept_cb takes over its fd: non-blocking,
 * close-on-exec.
 */
struct listener *listener_new(struct ev_loop *loop, int fd, void *owner,
			      void (*accept_cb)(int fd, void *owner));
/* Close the listening socket; listener may be NULL; not to be called inside accept_cb. */
void listener_free(struct listener *listener);

#endif
