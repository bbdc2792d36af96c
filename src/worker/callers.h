/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections that jobs make to the link at the socket TITAN_SOCKET. Once HELLO has proved which attempt is
 * calling, the link relays the connection to the master over its own. The link reads nothing but HELLO.
 */
#ifndef TITAN_WORKER_CALLERS_H
#define TITAN_WORKER_CALLERS_H

#include "base/map.h"
#include "proto/message.h"

struct link;

bool callers_open(struct link *link, struct error *error);
void callers_close(struct link *link);
/* Handle a frame from the master for one caller. */
void callers_relay(struct link *link, const struct msg_relay *msg);
/* Close all callers, because the connection to the master is gone. */
void callers_drop(struct link *link);
/* Close the callers of an attempt that has ended. */
void callers_end(struct link *link, uint64_t job, uint64_t epoch);

#endif
