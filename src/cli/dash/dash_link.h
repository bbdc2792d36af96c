/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard's connection to the master. Opening it may take seconds if the master is stopped, so a thread does
 * that and the loop only polls. A lost connection is opened again.
 */
#ifndef TITAN_CLI_DASH_LINK_H
#define TITAN_CLI_DASH_LINK_H

#include "net/client.h"

struct dash_opening;

struct dash_link {
	const struct statedir *statedir;
	struct client *client;           /* NULL while there is no connection */
	struct dash_opening *opening;         /* the opening under way, or NULL */
	int64_t retry_ms;                /* length of the next pause before an opening */
	int64_t retry_at_ms;             /* wall clock time of the next opening, while there is no client or opening */
};

/* Open the first connection: wait for it, and set error if it fails. */
enum err dash_link_open(struct dash_link *link, const struct statedir *statedir, struct error *error);
void dash_link_close(struct dash_link *link);
/* Closes the connection and sets the time of the next try. */
void dash_link_lost(struct dash_link *link, int64_t now_ms);
void dash_link_retry(struct dash_link *link);            /* starts to open a connection */
int dash_link_fd(const struct dash_link *link);          /* descriptor to poll; -1: none */
short dash_link_events(const struct dash_link *link);   /* poll events for dash_link_fd */
/* Call when an opening's descriptor is readable. True: connected; false: failed, error says why. */
bool dash_link_opened(struct dash_link *link, int64_t now_ms, struct error *error);

#endif
