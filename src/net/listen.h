/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accepts connections in a libev loop, many at a time. When descriptors run out it turns one away with
 * ERROR BUSY, so that its caller knows, and rests a moment: never a busy loop.
 */
#ifndef TITAN_NET_LISTEN_H
#define TITAN_NET_LISTEN_H

struct ev_loop;
struct listener;

/* Takes over fd, which listens and is non-blocking. accept_cb owns its fd: non-blocking, close-on-exec. */
struct listener *listener_new(struct ev_loop *loop, int fd, void *owner,
			      void (*accept_cb)(int fd, void *owner));
void listener_free(struct listener *listener);   /* closes the socket; NULL is fine; not inside accept_cb */

#endif
