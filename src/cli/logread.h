/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading one attempt's output from the master, piece by piece. */
#ifndef TITAN_CLI_LOGREAD_H
#define TITAN_CLI_LOGREAD_H

#include "cli/cli.h"

struct log_reader {
	uint64_t run, job, epoch;
	uint64_t offset;                 /* in the log file */
	uint64_t received;               /* bytes of output so far */
	uint64_t dropped;                /* bytes that aren't kept */
};

/* The next pieces, in the arena; ret->end: nothing more is there now. */
enum err log_read_some(struct cli *cli, struct log_reader *reader, struct arena *arena, struct msg_log_data *ret);
/* Everything that it wrote has been read or dropped. */
bool log_read_all(const struct log_reader *reader, uint64_t out_bytes);
/* The last lines of an ended attempt. Waits a moment for output that is still on its way. */
enum err log_tail(struct cli *cli, const struct rec_job_row *job, size_t lines, struct buf *out);

#endif
