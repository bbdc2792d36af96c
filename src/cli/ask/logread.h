/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the output of one attempt from the master, piece by piece. */
#ifndef TITAN_CLI_LOGREAD_H
#define TITAN_CLI_LOGREAD_H

#include "cli/session/cli.h"

struct log_reader {
	uint64_t run, job, epoch;
	uint64_t offset;                 /* offset in the log file from which to read on */
	uint64_t received;               /* bytes of output received so far */
	uint64_t kept;                   /* bytes of output that the master keeps, received or not */
	uint64_t dropped;                /* bytes of output that the master dropped */
	uint64_t newest;                 /* how far the live tail was read; sent back with each request */
};

/* Read the next pieces into the arena. ret->end: there are no more at the moment. */
enum err log_read_some(struct cli *cli, struct log_reader *reader, struct arena *arena, struct msg_log_data *ret);
/* Does the master have all out_bytes that the job wrote, kept or dropped? */
bool log_read_all(const struct log_reader *reader, uint64_t out_bytes);
/*
 * Move the reader back from the end until at least this many lines follow, or until about most bytes were passed.
 * *ret_skip: number of lines to skip from there. wanted: bit 1 for standard output, bit 2 for standard error.
 */
enum err log_seek_lines(struct cli *cli, struct log_reader *reader, uint64_t lines, uint64_t most, unsigned wanted,
			uint64_t *ret_skip);
/* Read the last lines of an attempt that has ended. Wait a moment for output that is still on its way. */
enum err log_tail(struct cli *cli, const struct rec_job_row *job, size_t lines, struct buf *out);

#endif
