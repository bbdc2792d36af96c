/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading one attempt's output from the master, piece by piece. */
#ifndef TITAN_CLI_LOGREAD_H
#define TITAN_CLI_LOGREAD_H

#include "cli/session/cli.h"

struct log_reader {
	uint64_t run, job, epoch;
	uint64_t offset;                 /* in the log file */
	uint64_t received;               /* bytes of output so far */
	uint64_t kept;                   /* bytes that there are, read or not */
	uint64_t dropped;                /* bytes that aren't kept */
	uint64_t newest;                 /* of what passes by */
};

/* The next pieces, in the arena; ret->end: nothing more is there now. */
enum err log_read_some(struct cli *cli, struct log_reader *reader, struct arena *arena, struct msg_log_data *ret);
/* Everything that it wrote is there, or was dropped. */
bool log_read_all(const struct log_reader *reader, uint64_t out_bytes);
/*
 * Sets the reader to a place near the end from where there are so many lines, or about most bytes, or all; *ret_skip
 * lines are too many. wanted: bits, 1 for standard output, 2 for standard error.
 */
enum err log_seek_lines(struct cli *cli, struct log_reader *reader, uint64_t lines, uint64_t most, unsigned wanted,
			uint64_t *ret_skip);
/* The last lines of an ended attempt. Waits a moment for output that is still on its way. */
enum err log_tail(struct cli *cli, const struct rec_job_row *job, size_t lines, struct buf *out);

#endif
