/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removing and measuring the directories of runs, a few files at a time. For the thread of the logs, which calls it
 * when nothing else is to be done; whatever lies in a run's directory goes with it.
 */
#ifndef TITAN_MASTER_LOGPRUNE_H
#define TITAN_MASTER_LOGPRUNE_H

#include <dirent.h>

#include "master/logs.h"

#define LOGPRUNE_SYNCED 64               /* directories that share a sync */

struct logprune {
	int logs_fd;
	void (*answer_cb)(void *arg, struct log_answer *answer);         /* takes it over */
	void *arg;
	struct prune_work *first, *last;
	DIR *dir;                        /* of the run at hand */
	unsigned passes;                 /* through it */
	struct log_size done[LOGPRUNE_SYNCED];   /* removed, and not yet said so */
	size_t done_count;
	DIR *all;                        /* while it measures */
	struct log_size *sizes;
	size_t size_count, size_cap;
};

void logprune_init(struct logprune *prune, int logs_fd, void (*answer_cb)(void *arg, struct log_answer *answer), void *arg);
void logprune_free(struct logprune *prune);
void logprune_remove(struct logprune *prune, uint64_t run);      /* nobody has a file of it open, or will */
void logprune_measure(struct logprune *prune);
bool logprune_busy(const struct logprune *prune);
void logprune_some(struct logprune *prune);

#endif
