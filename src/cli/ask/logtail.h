/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds where to begin in logs of which only the newest output is wanted, by reading them from their ends. */
#ifndef TITAN_CLI_LOGTAIL_H
#define TITAN_CLI_LOGTAIL_H

#include "cli/ask/logread.h"

/* Times of the newest lines of any number of logs, as a heap with the oldest time first. */
struct log_times {
	int64_t *at;
	size_t count, most;
};

/* Take the lines of one log. wanted: bit 1 for standard output, bit 2 for standard error. */
enum err log_times_take(struct cli *cli, const struct log_reader *reader, unsigned wanted, struct log_times *times);
/* Lines before this time aren't among the newest ones; INT64_MIN while there are too few lines. */
int64_t log_times_oldest(const struct log_times *times);
void log_times_free(struct log_times *times);

/* Move the reader to a place before which all records are older, as near as page borders allow. */
enum err log_seek_time(struct cli *cli, struct log_reader *reader, int64_t wall_ms);

#endif
