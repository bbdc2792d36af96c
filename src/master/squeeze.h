/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compresses the logs of runs that have ended, when there is nothing better to do: a run at a time, a file at a time, a
 * frame at a time. Small files stay as they are: they would cost a sync each and save nothing. A crash leaves
 * a temporary file, which is removed, or both forms, of which the plain one counts and is compressed again. For
 * the thread of the logs.
 */
#ifndef TITAN_MASTER_SQUEEZE_H
#define TITAN_MASTER_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct squeeze_stats {
	uint64_t files, bytes_before, bytes_after;       /* done, since the start */
	uint64_t runs_waiting, files_waiting;
};

struct squeezing;

struct squeeze {
	int dir_fd;                      /* of the logs; borrowed */
	/* A log is about to change its form: forget what is known of it. False: somebody writes to it, leave it. */
	bool (*release_cb)(void *arg, uint64_t run, uint64_t job, uint64_t epoch);
	void *arg;
	int64_t due_ns;                  /* TIME_NEVER: nothing to do */
	uint64_t *runs;
	size_t run_count, run_at, run_cap;
	uint64_t *later;                 /* of these some logs were being written; again when the others are done */
	size_t later_count, later_cap;
	int64_t patience_ns;             /* until then; grows */
	struct squeezing *now;           /* the run at work; NULL: none */
	struct squeeze_stats stats;
};

void squeeze_init(struct squeeze *squeeze, int dir_fd,
		  bool (*release_cb)(void *arg, uint64_t run, uint64_t job, uint64_t epoch), void *arg);
void squeeze_free(struct squeeze *squeeze);
void squeeze_add(struct squeeze *squeeze, uint64_t run);
/* Every run that has logs now, but for these, which live; ascending. What an earlier master didn't come to. */
void squeeze_add_all(struct squeeze *squeeze, const uint64_t *live, size_t count);
void squeeze_step(struct squeeze *squeeze);              /* a little of it; sets due_ns */
void squeeze_written(struct squeeze *squeeze, uint64_t run, uint64_t job, uint64_t epoch);       /* leave it alone */
void squeeze_drop(struct squeeze *squeeze, uint64_t run);        /* its directory is about to go */

#endif
