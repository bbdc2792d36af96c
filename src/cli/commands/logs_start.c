/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds where to begin in the logs of many jobs if only the newest lines are wanted, by reading the logs from their
 * ends.
 */
#include <stdlib.h>

#include "cli/ask/logtail.h"
#include "cli/commands/logs_many.h"

#define TIMES_MOST 1000000               /* if more lines are wanted, logs are read from the beginning */

unsigned logs_streams(const struct logs_options *options)
{
	return options->only_stdout ? 1 : options->only_stderr ? 2 : 3;
}

static int newest_first(const void *a, const void *b)
{
	const struct attempt_log *left = *(struct attempt_log *const *)a, *right = *(struct attempt_log *const *)b;
	int64_t one = left->ended_ms ? left->ended_ms : INT64_MAX, other = right->ended_ms ? right->ended_ms : INT64_MAX;

	return one != other ? (one > other ? -1 : 1) : (left->lines.mark.job > right->lines.mark.job) - (left->lines.mark.job < right->lines.mark.job);
}

/* With --tail: find the time of the oldest wanted line. The logs of jobs that ended last are read first. */
static enum err find_start(struct many *many, int64_t *ret_ms)
{
	struct log_times times = { .most = (size_t)many->options->tail };
	enum err err = ERR_NONE;

	*ret_ms = many->options->since_ms;
	if (many->options->tail > TIMES_MOST || many->options->tail == 0 || many->options->grep)
		return ERR_NONE;
	qsort(many->logs, many->log_count, sizeof(*many->logs), newest_first);
	for (size_t i = 0; i < many->log_count && err == ERR_NONE; i++) {
		const struct attempt_log *log = many->logs[i];

		if (log->ended_ms != 0 && log->ended_ms + LOGS_LATE_MS < log_times_oldest(&times))
			break;
		err = log_times_take(&many->side, &log->source.reader, logs_streams(many->options), &times);
	}
	if (log_times_oldest(&times) > *ret_ms)
		*ret_ms = log_times_oldest(&times);
	log_times_free(&times);
	return err;
}

enum err many_seek_start(struct many *many)
{
	size_t kept = 0;
	int64_t from_ms;
	enum err err = find_start(many, &from_ms);

	for (size_t i = 0; i < many->log_count && err == ERR_NONE && from_ms != INT64_MIN; i++) {
		struct attempt_log *log = many->logs[i];

		if (log->over && log->ended_ms != 0 && log->ended_ms + LOGS_LATE_MS < from_ms) {
			if (log->job) {
				log->job->log = NULL;
				log->job->read = true;
			}
			many_log_free(log);
			many->logs[i] = NULL;
		} else if (log->source.from_ms < from_ms) {
			bool begin;

			err = log_seek_time(&many->side, &log->source.reader, from_ms);
			begin = log->source.reader.offset == 0;
			log->lines.streams[0].known = log->lines.streams[1].known = begin;
			log->lines.streams[0].cut = log->lines.streams[1].cut = !begin;
		}
	}
	for (size_t i = 0; i < many->log_count; i++)
		if (many->logs[i])
			many->logs[kept++] = many->logs[i];
	many->log_count = kept;
	if (err != ERR_NONE)
		many->cli->error = many->side.error;
	return err;
}
