/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completes names that only the master or the file system knows: runs, jobs, gates, workers, locks, clusters. */
#ifndef TITAN_CLI_COMPLETE_NAMES_H
#define TITAN_CLI_COMPLETE_NAMES_H

#include "base/statedir.h"
#include "cli/session/session.h"
#include "net/client.h"

struct complete_source {
	struct client *client;           /* a connection to the master; NULL: none is needed, or there is none */
	const struct statedir *statedir; /* clusters are the directories beside it */
	int ms;                          /* the words are incomplete if the master takes longer */
	/* Takes frames that are no answer here, if the connection has a subscription. NULL: there are none. */
	void (*frame_cb)(void *owner, const struct incoming *frame);
	void *owner;
};

/* Add what completion->of says to completion->words. ERR_UNREACHABLE: the connection is gone. */
enum err complete_add(const struct complete_source *source, struct completion *completion);
bool complete_asks(const struct completion *completion);         /* does it need a connection? */

#endif
