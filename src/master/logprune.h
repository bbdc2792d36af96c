/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes and measures the directories of runs, a few files at a time. Called by the log thread when it has nothing
 * else to do. Removing a run's directory removes everything in it.
 */
#ifndef TITAN_MASTER_LOGPRUNE_H
#define TITAN_MASTER_LOGPRUNE_H

#include <dirent.h>

#include "master/logs.h"

#define LOGPRUNE_SYNCED 64               /* number of directories removed per sync */

struct logprune {
	int logs_fd;
	/* called with each answer of the log pruning, which it then owns */
	void (*answer_cb)(void *arg, struct log_answer *answer);
	void *arg;
	struct prune_work *first, *last;
	DIR *dir;                        /* directory of the run that is being removed or measured */
	unsigned passes;                 /* number of passes over that directory */
	struct log_size done[LOGPRUNE_SYNCED];   /* runs whose directories were removed, but not yet reported */
	size_t done_count;
	DIR *all;                        /* the directory of all runs' directories, open while measuring */
	struct log_size *sizes;
	size_t size_count, size_cap;
};

void logprune_init(struct logprune *prune, int logs_fd, void (*answer_cb)(void *arg, struct log_answer *answer), void *arg);
void logprune_free(struct logprune *prune);
/* Remove a run's directory; no file of the run may be open, now or later. */
void logprune_remove(struct logprune *prune, uint64_t run);
void logprune_measure(struct logprune *prune);
bool logprune_busy(const struct logprune *prune);
void logprune_some(struct logprune *prune);

#endif
