/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A connection that is opened again whenever it is lost, for the dashboard and the console. If the master is stopped,
 * opening takes seconds; a thread does it, and the loop only polls a descriptor.
 */
#ifndef TITAN_CLI_STEADY_LINK_H
#define TITAN_CLI_STEADY_LINK_H

#include "cli/session/clusters.h"
#include "net/client.h"

struct link_opening;

struct steady_link {
	const struct statedir *statedir;
	const struct remote_cluster *remote;     /* an empty address: the master is on this machine */
	struct client *client;           /* NULL while there is no connection */
	struct link_opening *opening;         /* the opening under way, or NULL */
	int64_t retry_ms;                /* length of the next pause before an opening */
	int64_t retry_at_ms; /* wall clock time of the next opening, if there is neither a client nor an opening */
};

/* Prepare a link without a connection; steady_link_retry opens the first one. */
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
/*
 * Call when the descriptor of an opening is readable. True: the link is connected; false: opening failed, and error
 * says why.
 */
bool steady_link_opened(struct steady_link *link, int64_t now_ms, struct error *error);

#endif
