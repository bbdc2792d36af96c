/* SPDX-License-Identifier: GPL-3.0-or-later */
/* News of the cluster for the console: runs that fail, gates that ask, workers that are lost. Pure. */
#ifndef TITAN_CLI_REPL_NOTICE_H
#define TITAN_CLI_REPL_NOTICE_H

#include "base/buf.h"
#include "base/map.h"
#include "proto/message.h"

#define NOTICES_AT_ONCE 5                /* lines printed together; of further news only the number is told */

struct notices {
	struct map runs;                 /* by number: struct known_run */
	struct map workers;              /* by number: struct known_worker */
	struct buf lines;                /* news that wait to be printed, escaped */
	size_t count, more;              /* lines in there, and news beyond NOTICES_AT_ONCE */
	uint64_t waiting;                /* gates of the cluster that wait for people */
	int64_t silent_ms;               /* runs submitted since then are shown by the command that runs; 0: none */
	bool utf8;
};

/* Rows of a snapshot are only remembered (news false); those of a change make news. */
void notices_runs(struct notices *notices, const struct rec_run_row *rows, size_t count, bool news);
void notices_workers(struct notices *notices, const struct rec_worker_row *rows, size_t count, bool news);
void notices_counts(struct notices *notices, const struct u64_list *counts);
/* Move the waiting lines to out: at most NOTICES_AT_ONCE, and one with the number of the rest. */
void notices_take(struct notices *notices, struct buf *out);
void notices_free(struct notices *notices);

#endif
