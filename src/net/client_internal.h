/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What client.c (bytes) and client_call.c (the opening, requests and answers) share. */
#ifndef TITAN_NET_CLIENT_INTERNAL_H
#define TITAN_NET_CLIENT_INTERNAL_H

#include "net/client.h"
#include "net/transport.h"

struct client {
	struct transport *transport;     /* NULL before it is connected */
	bool deaf;                       /* the master takes nothing any more */
	bool ended;                      /* and nothing more will come */
	struct buf in;
	struct buf ahead;                /* read while writing: in must not move under a handed out frame */
	struct buf out;
	size_t handed_out;               /* bytes of in that are the last frame */
	uint64_t last_id;
	struct msg_welcome welcome;      /* its slices are in arena */
	struct arena arena;
	char path[PATH_MAX];             /* of the socket, for errors */
};

#endif
