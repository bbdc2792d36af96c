/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard's connection: opened, lost, opened again. Opening may take seconds when a master is
 * stopped, so it is done beside the loop; the loop only ever polls.
 */
#ifndef TITAN_CLI_DASH_LINK_H
#define TITAN_CLI_DASH_LINK_H

#include "net/client.h"

struct opening;

struct dash_link {
	const struct statedir *statedir;
	struct client *client;           /* NULL while there is none */
	struct opening *opening;         /* under way */
	int64_t retry_ms;                /* the next pause */
	int64_t retry_at_ms;             /* wall clock; when there is neither client nor opening */
};

/* The first time: waits, and says why not. */
enum err dash_link_open(struct dash_link *link, const struct statedir *statedir, struct error *error);
void dash_link_close(struct dash_link *link);
void dash_link_lost(struct dash_link *link, int64_t now_ms);     /* tries again later */
void dash_link_retry(struct dash_link *link);            /* begins to open */
int dash_link_fd(const struct dash_link *link);          /* to poll; -1: nothing */
short dash_link_events(const struct dash_link *link);   /* for that */
/* The descriptor of an opening was readable. True: connected; false: lost again, error says why. */
bool dash_link_opened(struct dash_link *link, int64_t now_ms, struct error *error);

#endif
