/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the parts of printing the logs of many jobs: logs_many.c prints what is there, logs_jobs.c knows whose logs
 * are wanted, logs_start.c where to begin in them, logs_follow.c takes what comes.
 */
#ifndef TITAN_CLI_LOGS_MANY_H
#define TITAN_CLI_LOGS_MANY_H

#include "cli/ask/logmerge.h"
#include "cli/commands/logs_internal.h"

#define LOGS_TICK_MS 200
#define LOGS_LATE_MS 2000                /* the last output of an attempt may come so much later than its end */

struct logged_job {                      /* what is known of a job whose output is wanted */
	uint64_t run, job, epoch, round, pass, tries, out_bytes;
	int64_t started_ms, ended_ms;
	char *name;
	bool over;                       /* its latest attempt has ended */
	struct attempt_log *log;         /* of that attempt; NULL: nothing to read yet, or all was read */
	bool read;                       /* all was read */
};

struct attempt_log {
	struct log_source source;        /* first: the merge gives it back */
	struct lines_of lines;
	struct logged_job *job;          /* NULL: the job has a newer attempt */
	bool over;
	int64_t ended_ms;                /* 0: it runs */
	uint64_t out_bytes;
	int64_t over_ns;                 /* when that was seen */
};

struct many {
	struct cli *cli;                 /* in follow: the subscription */
	struct cli side;                 /* for reading logs */
	const struct logs_options *options;
	const struct targets *targets;
	struct line_sink sink;
	struct log_merge merge;
	struct logged_job **jobs;        /* with follow: by index; NULL: not wanted, or not known yet */
	size_t job_count, job_room;
	struct attempt_log **logs;       /* those that aren't read to their end */
	size_t log_count, log_room, asked;
	uint64_t pruned, subruns, seen;  /* jobs without output: their logs are gone; their work is another run; all */
	int64_t pruned_ms, run_ended_ms;
	bool known;                      /* all rows have come */
};

/* logs_jobs.c: take what a row says of a job, and keep it at this place. Its attempt gets a log when it may have output. */
void many_take_row(struct many *many, const struct rec_job_row *row, size_t at);
/* logs_tries.c: with --try, replace the logs of the last tries of a run's jobs by those wanted, or add all earlier ones. */
enum err many_take_tries(struct many *many, uint64_t run);
struct attempt_log *many_log_begin(struct many *many, struct logged_job *job);
void many_log_free(struct attempt_log *log);
void many_free(struct many *many);

/* logs_start.c: skip what is older than wanted: whole logs, and the beginnings of others. */
enum err many_seek_start(struct many *many);

/* logs_many.c */
/* Print what is there, in order of time, and wait a moment for the last output of jobs that have just ended. */
enum err many_catch_up(struct many *many);
/* Ask again for at most so many logs that were at their end. */
void many_ask_again(struct many *many, size_t most);
enum err many_drain(struct many *many);          /* print all that the logs have at this moment */
void many_end_logs(struct many *many, bool all); /* end the logs that are read; all: also those that may get more */

/* logs_follow.c: print all that is there and that comes, until the run or the named jobs have ended. */
enum err many_follow(struct many *many);

#endif
