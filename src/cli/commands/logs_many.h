/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the files that print logs of many jobs: logs_many.c prints existing output, logs_jobs.c knows which logs
 * are wanted, logs_start.c finds where to begin in them, logs_follow.c reads new output, also of sub-runs (logs_subs.c).
 */
#ifndef TITAN_CLI_LOGS_MANY_H
#define TITAN_CLI_LOGS_MANY_H

#include "base/map.h"
#include "cli/ask/logmerge.h"
#include "cli/commands/logs_internal.h"

#define LOGS_TICK_MS 200
#define LOGS_LATE_MS 2000                /* the last output of an attempt may arrive this much later than its end */

struct logged_job {                      /* a job whose output is wanted */
	uint64_t run, job, epoch, round, pass, tries, out_bytes;
	uint64_t child;                  /* the sub-run of the latest attempt; 0: none */
	int64_t started_ms, ended_ms;
	char *name;
	char *path;                      /* as in struct line_mark; NULL: the job isn't in a sub-run */
	uint64_t top;
	bool over;                       /* the job's latest attempt has ended */
	struct attempt_log *log;         /* log of that attempt; NULL: no output yet, or all of it was read */
	bool read;                       /* all was read */
};

struct attempt_log {
	struct log_source source;        /* must be the first member: the merge returns a pointer to it */
	struct lines_of lines;
	struct logged_job *job;          /* NULL: the job has a newer attempt */
	bool over;
	int64_t ended_ms;                /* when the attempt ended; 0: it runs */
	uint64_t out_bytes;
	int64_t over_ns;                 /* when the end was first seen */
};

struct sub_logs {                        /* a sub-run whose logs are wanted */
	uint64_t run, top;
	char *path;                      /* path of the job whose work the sub-run is */
	/* Only with follow: */
	uint64_t id;                     /* id of its subscription; 0: it has none at present */
	bool known;                      /* the subscription has sent all rows */
	bool seen;                       /* all rows were known once */
	bool ended;                      /* the sub-run has ended */
	bool over;                       /* it has ended, and all rows as of then are known */
};

struct many {
	struct cli *cli;                 /* with follow: the connection with the subscription */
	struct cli side;                 /* for reading logs */
	const struct logs_options *options;
	const struct targets *targets;
	struct line_sink sink;
	struct log_merge merge;
	struct logged_job **jobs;
	size_t job_count, job_room;
	struct map job_map;              /* from serial numbers to jobs */
	struct attempt_log **logs;       /* logs of attempts that aren't read to their ends yet */
	size_t log_count, log_room, asked;
	/* numbers of jobs whose logs are gone, and of jobs that are sub-runs and aren't shown */
	uint64_t pruned, subruns;
	bool has_subs;                   /* a wanted job is a sub-run, even if it hasn't begun */
	int64_t pruned_ms, run_ended_ms;
	struct sub_logs **subs;          /* sub-runs that were found; without follow, the jobs of the first subs_read were read */
	size_t sub_count, sub_room, subs_read;
	size_t subs_next;                /* with follow: the sub-run that is subscribed next */
	const struct sub_logs *within;   /* the sub-run whose rows are being read; NULL: a run that was named */
	uint64_t id;                     /* with follow: id of the run's subscription */
	bool known;                      /* all rows of that subscription's first snapshot have come */
};

/* logs_jobs.c: record what a row says about a job. An attempt gets a log when it may have output. */
void many_take_row(struct many *many, const struct rec_job_row *row);
/* Note the sub-run that a try of the job began, so that its logs are read. */
void many_take_sub(struct many *many, const struct logged_job *job, uint64_t child, uint64_t try_no);
/*
 * logs_tries.c: with --try, replace the logs of a run's last tries by those of the wanted tries, or add all earlier
 * ones.
 */
enum err many_take_tries(struct many *many, uint64_t run);
struct attempt_log *many_log_begin(struct many *many, struct logged_job *job);
void many_log_free(struct attempt_log *log);
void many_free(struct many *many);

/* logs_start.c: skip output that is older than wanted: whole logs, or their beginnings. */
enum err many_seek_start(struct many *many);

/* logs_many.c */
/* Print existing output in order of time, and wait a moment for late output of jobs that have just ended. */
enum err many_catch_up(struct many *many);
/* Ask again for at most this many logs that were at their ends. */
void many_ask_again(struct many *many, size_t most);
enum err many_drain(struct many *many);          /* print everything that the logs have at the moment */
/* close logs that were read to the end; all: also logs that may still get output */
void many_end_logs(struct many *many, bool all);

/* logs_subs.c: sub-runs while they are followed. Their rows come over the connection of the run's subscription. */
enum err subs_subscribe(struct many *many);      /* begin the subscriptions that are missing, and end those that are over */
void subs_take_snapshot(struct many *many, const struct msg_snapshot *snapshot);
void subs_take_delta(struct many *many, const struct msg_delta *delta);
enum err subs_take_error(struct many *many, const struct msg_error *error);
void subs_lost(struct many *many);               /* the connection is lost, and all subscriptions with it */
bool subs_seen(const struct many *many);         /* have the rows of all sub-runs come? */
bool subs_over(const struct many *many);

/* logs_follow.c: print existing and new output until the run or the named jobs have ended. */
enum err many_follow(struct many *many);

#endif
