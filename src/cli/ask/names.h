/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completes names that only the master or the file system knows: runs, jobs, gates, workers, locks, clusters. */
#ifndef TITAN_CLI_NAMES_H
#define TITAN_CLI_NAMES_H

#include "base/statedir.h"
#include "cli/session/session.h"

struct client;

/*
 * Add what completion->of says to completion->words. client: a connection to the master, or NULL: none is needed, or
 * there is none. The words are incomplete if the master takes longer than ms. ERR_UNREACHABLE: the connection is gone.
 */
enum err complete_add(struct client *client, const struct statedir *statedir, int ms, struct completion *completion);
bool complete_asks(const struct completion *completion);         /* does it need a connection? */

#endif
