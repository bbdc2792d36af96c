/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the logs of many attempts as one, in the order of the times at which their workers read the output. A log is
 * asked for when the merge comes to the start of its attempt, one request at a time. Pages that are read but not
 * needed soon are dropped and read again, so that memory stays bounded however many logs are read at once.
 */
#ifndef TITAN_CLI_LOGMERGE_H
#define TITAN_CLI_LOGMERGE_H

#include "cli/ask/logread.h"

#define LOG_MERGE_BYTES (32u << 20)      /* most bytes of pages kept */

struct log_page;

struct log_source { /* the log of one attempt; the caller owns the struct, and it keeps its address */
	struct log_reader reader;
	int64_t from_ms;                 /* no record of the log is older than this */
	bool at_end; /* true: the log has no further records at the moment; log_merge_add asks again */
	/* the fields below are for the merge alone */
	struct log_page *page;           /* records that were read and not yet returned, or NULL */
	uint64_t page_offset;            /* where that page begins in the log file */
	size_t skip; /* number of that page's records that were already returned, if the page was dropped */
	int64_t next_ms;                 /* time of the next record, or an earlier one */
	uint64_t order;                  /* number of the source: decides between equal times */
};

struct log_merge {
	struct log_source **heap;        /* the source with the oldest next record is first */
	size_t count, room;
	size_t bytes, most;              /* bytes of all pages; LOG_MERGE_BYTES if most is 0 */
	uint64_t added;
	struct log_page *pages, *pages_end;      /* pages that may be dropped, in order of last use */
};

struct log_piece {
	struct log_source *source;
	const struct rec_output *output; /* NULL: the source has ended; or a part can't be read, as damage says */
	struct slice damage;
	bool live_tail; /* the record is live tail: newest output of a job that writes more than is kept */
};

/* Read this source from its reader's offset on. Call it again to continue a source that was at its end. */
void log_merge_add(struct log_merge *merge, struct log_source *source);
/*
 * Get the next record, or the end of a source; bytes live until the next call. ERR_PENDING: all sources are at their
 * ends. An attempt without a log is at its end.
 */
enum err log_merge_next(struct cli *cli, struct log_merge *merge, struct log_piece *ret);
void log_merge_free(struct log_merge *merge);

#endif
