/* SPDX-License-Identifier: GPL-3.0-or-later */
/* News of the cluster for the console: runs that fail, gates that wait for people, workers that are lost. Pure. */
#ifndef TITAN_CLI_REPL_NOTICE_H
#define TITAN_CLI_REPL_NOTICE_H

#include "base/buf.h"
#include "base/map.h"
#include "proto/message.h"

#define NOTICES_AT_ONCE 5                /* lines printed at once; further news is only counted */

struct notices {
	struct map runs;                 /* run's number to struct known_run */
	struct map workers;              /* worker's number to struct known_worker */
	struct buf lines;                /* news that waits to be printed, already escaped */
	size_t count, more;              /* number of lines in that buffer, and of further news */
	uint64_t waiting;                /* number of the cluster's gates that wait for people */
	/* runs submitted since then are reported by the running command, so they are no news; 0: no command runs */
	int64_t silent_ms;
	bool utf8;
};

/* Take rows. Those of a snapshot are only remembered (news false); those of a change make news. */
void notices_runs(struct notices *notices, const struct rec_run_row *rows, size_t count, bool news);
void notices_workers(struct notices *notices, const struct rec_worker_row *rows, size_t count, bool news);
void notices_counts(struct notices *notices, const struct u64_list *counts);
/* Move the waiting lines to out: at most NOTICES_AT_ONCE, and one with the number of further news. */
void notices_take(struct notices *notices, struct buf *out);
void notices_free(struct notices *notices);

#endif
