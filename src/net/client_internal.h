/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by client.c (bytes) and client_call.c (opening, requests and answers). */
#ifndef TITAN_NET_CLIENT_INTERNAL_H
#define TITAN_NET_CLIENT_INTERNAL_H

#include "net/client.h"
#include "net/transport.h"

struct client {
	struct transport *transport;     /* the transport; NULL before it is connected */
	bool deaf;                       /* the master doesn't take any more bytes */
	bool narrow;                     /* the master speaks the version of the protocol before this one */
	bool ended;                      /* the stream has ended: nothing more will come */
	struct buf in;
	/* Bytes that were read while writing; in must not move while a frame in it is in use. */
	struct buf read_ahead;
	struct buf out;
	size_t handed_out;               /* bytes of in that belong to the last frame returned */
	uint64_t last_id;
	struct msg_welcome welcome;      /* answer to HELLO; its slices point into arena */
	struct arena arena;
	char path[PATH_MAX];             /* path of the socket, for errors */
};

#endif
