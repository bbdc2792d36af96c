/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections that jobs make to the link, at the socket named in TITAN_SOCKET. One is carried on to the master over
 * the link's own connection once its HELLO has proved which attempt it is; the link reads nothing else of it.
 */
#ifndef TITAN_WORKER_CALLERS_H
#define TITAN_WORKER_CALLERS_H

#include "base/map.h"
#include "proto/message.h"

struct link;

bool callers_open(struct link *link, struct error *error);
void callers_close(struct link *link);
void callers_relay(struct link *link, const struct msg_relay *msg);      /* from the master */
void callers_drop(struct link *link);                    /* the master is gone: theirs are, too */
void callers_end(struct link *link, uint64_t job, uint64_t epoch);       /* their attempt has ended */

#endif
