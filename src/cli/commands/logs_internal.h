/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the parts of titan logs: cmd_logs.c reads the options and finds the jobs, logs_one.c prints the bytes of one
 * job, logs_many.c (with logs_many.h) reads the logs of many jobs in order of time, logs_lines.c makes marked lines of
 * them.
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
	uint64_t tail;                   /* UINT64_MAX: all lines */
	uint64_t try_no;                 /* 0: the latest; TRY_ALL: every one */
	int64_t since_ms;                /* INT64_MIN: from the beginning */
	const regex_t *grep;             /* NULL: every line */
};

/* Bits of the streams that are wanted: 1 for standard output, 2 for standard error. */
unsigned logs_streams(const struct logs_options *options);

/* Print the output of one job's latest attempt, and of later ones with follow. Returns the exit status. */
int logs_one(struct cli *cli, const struct logs_options *options, const struct selector *selector);
/* Print the output of all jobs that the targets name, as marked lines. Returns the exit status. */
int logs_many(struct cli *cli, const struct logs_options *options, const struct targets *targets);

/* ---- logs_lines.c ---- */

struct line_mark {                       /* whose lines they are; the owner keeps the texts */
	uint64_t run, job, try_no;
	struct slice name;
};

struct line_stream {
	struct buf text;                 /* a line that isn't complete */
	bool known;                      /* next is valid */
	bool cut;                        /* what comes next is the rest of a line that isn't wanted */
	uint64_t next;                   /* offset of the next byte expected */
	int64_t wall_ms;                 /* of the latest record */
};

struct lines_of {                        /* the lines of one attempt that aren't complete yet */
	struct line_mark mark;
	struct line_stream streams[2];
	uint64_t missing;                /* bytes whose loss was told at their place */
};

struct line_sink {
	struct cli *cli;
	const struct logs_options *options;
	bool marked;                     /* say whose line each is; not for a single job */
	bool with_run;                   /* the mark has the number of the run */
	size_t width;                    /* of the widest mark, or less */
	struct buf out;
	struct buf searched;             /* with grep: the line that is searched */
	struct buf *ring;                /* with tail: the last lines so far */
	size_t ring_count, ring_room, ring_at;
	bool damaged;
};

void lines_widen(struct line_sink *sink, const struct line_mark *mark);
/* Take a record; complete lines are printed. */
void lines_take(struct line_sink *sink, struct lines_of *of, const struct rec_output *piece, bool live_tail);
void lines_damage(struct line_sink *sink, struct lines_of *of, struct slice what);
/* The attempt has no more output: print a last line without an end. dropped: bytes that its log has lost. */
void lines_end(struct line_sink *sink, struct lines_of *of, uint64_t dropped);
void lines_free(struct lines_of *of);
/* With tail: print the lines kept so far. Later ones are printed as they come. */
void sink_flush(struct line_sink *sink);
void sink_free(struct line_sink *sink);

#endif
