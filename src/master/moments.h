/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients that look at an earlier time. A helper process, which is `titan status --at`, copies the store and starts a
 * master of that time, in a directory that only the owner can enter. The session's queries are then passed on to that
 * master, together with what the asker may see, and its answers back. It changes nothing, so other requests are refused.
 */
#ifndef TITAN_MASTER_MOMENTS_H
#define TITAN_MASTER_MOMENTS_H

#include "master/dispatch.h"

/* moment_relay.c */
/* Connect the session to the master of this time. False: none runs. */
bool moment_attach(struct peer_session *session, const char *key, uint64_t request);
enum err moment_ended(struct error *error);              /* the error for a master of then that isn't there any more */
void moment_relays_free(struct master *master);
/* A frame of a session that looks at an earlier time: pass a query on, and refuse everything else. */
enum err moments_pass_on(struct incoming_frame *in, const struct frame *frame);
void moments_forget(struct peer_session *session);       /* the session ends */
void moments_drained(struct peer_session *session);      /* the session has read what was sent */

/* moments.c */
void moments_free(struct master *master);                /* end the helpers; call after all connections were closed */

#endif
