/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the parts of titan logs: cmd_logs.c reads the options and finds the jobs; logs_one.c prints the bytes of
 * one job; logs_many.c (with logs_many.h) reads the logs of many jobs in order of time; logs_lines.c turns their
 * records into marked lines.
 */
#ifndef TITAN_CLI_LOGS_INTERNAL_H
#define TITAN_CLI_LOGS_INTERNAL_H

#include <regex.h>

#include "cli/ask/logread.h"
#include "cli/ask/select.h"
#include "cli/ask/targets.h"

#define TRY_ALL UINT64_MAX

struct logs_options {
	bool only_stdout, only_stderr, times, follow, failed;
	bool no_sub;                     /* leave out the jobs of sub-runs */
	uint64_t tail;                   /* UINT64_MAX: all lines */
	uint64_t try_no;                 /* number of the try; 0: the latest; TRY_ALL: all tries */
	int64_t since_ms;                /* INT64_MIN: from the beginning */
	const regex_t *grep;             /* NULL: every line */
};

/* Bits of the streams that are wanted: 1 for standard output, 2 for standard error. */
unsigned logs_streams(const struct logs_options *options);

/* Print the output of one job's latest attempt; with follow also that of later attempts. Return the exit status. */
int logs_one(struct cli *cli, const struct logs_options *options, const struct selector *selector);
/* Print the output of all jobs that the targets name, as marked lines. Returns the exit status. */
int logs_many(struct cli *cli, const struct logs_options *options, const struct targets *targets);

/* ---- logs_lines.c ---- */

struct line_mark {                       /* mark of the lines of one job; the owner keeps its texts */
	uint64_t run, job, try_no;
	struct slice name;
	/*
	 * Only of a job in a sub-run. path: the names of the jobs around this one, outermost first, and its own, such as
	 * build/deploy/test; top: the run of the outermost job, here build.
	 */
	struct slice path;
	uint64_t top;
};

struct line_stream {
	struct buf text;                 /* a line whose end hasn't come yet */
	bool known;                      /* next is valid */
	bool cut;                        /* the next bytes are the rest of a line that isn't wanted */
	uint64_t next;                   /* offset of the next byte expected */
	int64_t wall_ms;                 /* time of the latest record */
};

struct lines_of {                        /* unfinished lines of one attempt */
	struct line_mark mark;
	struct line_stream streams[2];
	uint64_t missing;                /* missing bytes that were already reported at their place */
};

struct line_sink {
	struct cli *cli;
	const struct logs_options *options;
	bool marked;                     /* begin each line with the name of its job, unless there is only one job */
	bool with_run;                   /* begin the mark with the run's number */
	size_t width;                    /* width of the widest mark, up to MARK_WIDEST */
	struct buf out;
	struct buf searched;             /* with --grep: a copy of the line that is searched */
	struct buf *ring;                /* with --tail: the last lines so far, as a ring */
	size_t ring_count, ring_room, ring_at;
	bool damaged;
};

void lines_widen(struct line_sink *sink, const struct line_mark *mark);
/* Take a record and print the lines that it completes. */
void lines_take(struct line_sink *sink, struct lines_of *of, const struct rec_output *piece, bool live_tail);
void lines_damage(struct line_sink *sink, struct lines_of *of, struct slice what);
/* The attempt has no more output: print an unfinished last line. dropped: number of bytes missing in its log. */
void lines_end(struct line_sink *sink, struct lines_of *of, uint64_t dropped);
void lines_free(struct lines_of *of);
/* With --tail: print the lines kept so far; later lines are printed as they come. */
void sink_flush(struct line_sink *sink);
void sink_free(struct line_sink *sink);

#endif
