/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compresses the logs of ended runs when the log thread has nothing else to do: one run, one file, one frame at a time.
 * Small files stay as they are, because each would cost a sync and save no space. A crash leaves a temporary file,
 * which is removed, or both forms; then the plain one counts and is compressed again.
 */
#ifndef TITAN_MASTER_SQUEEZE_H
#define TITAN_MASTER_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct squeeze_stats {
	uint64_t files, bytes_before, bytes_after;       /* totals since the master's start */
	uint64_t runs_waiting, files_waiting;
};

struct squeezing;

struct squeeze {
	int dir_fd;                      /* directory of the logs; owned by the caller */
	/*
	 * Called before a log changes its form, so that its state is forgotten. False: the log is being written, so it
	 * is left plain.
	 */
	bool (*release_cb)(void *arg, uint64_t run, uint64_t job, uint64_t epoch);
	void *arg;
	int64_t due_ns;                  /* time at which there is work; TIME_NEVER: none */
	uint64_t *runs;
	size_t run_count, run_at, run_cap;
	uint64_t *later;                 /* runs with logs that were being written; tried again after all others */
	size_t later_count, later_cap;
	int64_t patience_ns;             /* pause before runs in `later` are tried again; it grows each time */
	struct squeezing *now;           /* the run whose logs are being compressed; NULL: none */
	struct squeeze_stats stats;
};

void squeeze_init(struct squeeze *squeeze, int dir_fd,
		  bool (*release_cb)(void *arg, uint64_t run, uint64_t job, uint64_t epoch), void *arg);
void squeeze_free(struct squeeze *squeeze);
void squeeze_add(struct squeeze *squeeze, uint64_t run);
/* Add all runs that have logs except the live ones, given in ascending order. Called at a start. */
void squeeze_add_all(struct squeeze *squeeze, const uint64_t *live, size_t count);
void squeeze_step(struct squeeze *squeeze);              /* do a small piece of compression; sets due_ns */
/* Note that this log is being written, so that it isn't compressed. */
void squeeze_written(struct squeeze *squeeze, uint64_t run, uint64_t job, uint64_t epoch);
void squeeze_drop(struct squeeze *squeeze, uint64_t run);        /* forget a run whose directory will be removed */

#endif
