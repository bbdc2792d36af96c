/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A connection that is opened again whenever it is lost, for the dashboard and the console. Opening may take seconds if
 * the master is stopped, so a thread does that and the loop only polls.
 */
#ifndef TITAN_CLI_STEADY_LINK_H
#define TITAN_CLI_STEADY_LINK_H

#include "cli/session/clusters.h"
#include "net/client.h"

struct link_opening;

struct steady_link {
	const struct statedir *statedir;
	const struct remote_cluster *remote;     /* without an address: the master is on this machine */
	struct client *client;           /* NULL while there is no connection */
	struct link_opening *opening;         /* the opening under way, or NULL */
	int64_t retry_ms;                /* length of the next pause before an opening */
	int64_t retry_at_ms;             /* wall clock time of the next opening, while there is no client or opening */
};

/* Prepare a link whose first connection steady_link_retry opens. */
void steady_link_begin(struct steady_link *link, const struct statedir *statedir, const struct remote_cluster *remote);
/* Open the first connection: wait for it, and set error if it fails. */
enum err steady_link_open(struct steady_link *link, const struct statedir *statedir, const struct remote_cluster *remote,
			  struct error *error);
void steady_link_close(struct steady_link *link);
/* Closes the connection and sets the time of the next try. */
void steady_link_lost(struct steady_link *link, int64_t now_ms);
void steady_link_retry(struct steady_link *link);            /* starts to open a connection */
int steady_link_fd(const struct steady_link *link);          /* descriptor to poll; -1: none */
short steady_link_events(const struct steady_link *link);   /* poll events for steady_link_fd */
/* Call when an opening's descriptor is readable. True: connected; false: failed, error says why. */
bool steady_link_opened(struct steady_link *link, int64_t now_ms, struct error *error);

#endif
