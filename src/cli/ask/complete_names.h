/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completes names that only the master or the file system knows: runs, jobs, gates, workers, locks, clusters. */
#ifndef TITAN_CLI_COMPLETE_NAMES_H
#define TITAN_CLI_COMPLETE_NAMES_H

#include "base/statedir.h"
#include "cli/session/session.h"
#include "net/client.h"

struct complete_source {
	struct client *client;           /* a connection to the master; NULL: none is needed, or there is none */
	const struct statedir *statedir; /* clusters are the sibling directories of this one */
	int ms;                          /* milliseconds to wait for the master; later words are left out */
	/*
	 * Receives frames that are no answer here, such as those of the connection's subscription. NULL: no such frames
	 * come.
	 */
	void (*frame_cb)(void *owner, const struct incoming *frame);
	void *owner;
};

/* Add the words of kind completion->of to completion->words. ERR_UNREACHABLE: the connection is gone. */
enum err complete_add(const struct complete_source *source, struct completion *completion);
bool complete_asks(const struct completion *completion); /* does the completion need a connection to the master? */

#endif
