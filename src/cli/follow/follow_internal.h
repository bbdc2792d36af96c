/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the files that follow a run: follow.c has the connection and the latest rows of the jobs, follow_show.c
 * prints lines, follow_screen.c draws below them, follow_output.c prints the output of the jobs.
 */
#ifndef TITAN_CLI_FOLLOW_INTERNAL_H
#define TITAN_CLI_FOLLOW_INTERNAL_H

#include <signal.h>

#include "cli/follow/failures.h"
#include "cli/follow/follow.h"
#include "cli/session/cli.h"
#include "proto/message.h"
#include "proto/states.h"

/*
 * SHOW_ROWS: print a row for each change, for programs.
 * SHOW_OUTPUT: print the output of the jobs, and few other lines, on standard error.
 */
enum show_mode { SHOW_LINES, SHOW_SCREEN, SHOW_ROWS, SHOW_OUTPUT, SHOW_NOTHING };

struct follow_output;

struct followed_job {                    /* what is known about a job and what was shown of it; owns its strings */
	struct rec_job_row row; /* the job's latest row; its slices point to the texts below, and its lists are empty */
	char *name;
	char *worker;
	char *progress;                  /* the text that the job reported with its progress */
	enum job_state told;             /* the state that was last shown */
};

struct follow {
	struct cli *cli;
	struct cli side;                 /* second connection, for reading logs */
	uint64_t run;
	const struct follow_options *options;
	enum show_mode mode;
	char *name;                      /* name of the run */
	struct followed_job *jobs;       /* by index; a row with job 0 isn't known yet */
	size_t job_count, job_room;
	uint64_t counts[STATE_COUNT];
	uint64_t forgiven;               /* number of failures that are forgiven */
	bool known;                      /* the connection's first snapshot is complete */
	uint64_t mark;                   /* mark for resuming the subscription; 0: none yet */
	bool begun;                      /* the first line was printed */
	int64_t submitted_ms, ended_ms;
	int64_t said_ns;                 /* when a line was last printed */
	struct sigaction before_screen;  /* the handler of SIGCONT to restore when the screen ends */
	bool on_screen;
	bool told_idle;                  /* the line that says why nothing happens was printed */
	size_t failures[FAILURES_KEPT];  /* indices of the jobs that failed first */
	size_t failure_count;            /* number of failed jobs; may exceed FAILURES_KEPT */
	struct buf out;                  /* text to print above the screen */
	size_t screen_lines;             /* number of lines drawn below the scrolling ones */
	bool dirty;
	struct follow_output *output;    /* for SHOW_OUTPUT */
};

uint64_t follow_ended_count(const struct follow *follow);
enum run_state follow_state(const struct follow *follow);

/* follow_show.c */
void show_begin(struct follow *follow);
/* Print that a job went from one state to another; the job's row is already the new one. */
void show_change(struct follow *follow, const struct followed_job *job, enum job_state from);
void show_idle(struct follow *follow);                           /* called when nothing came for a while */
void show_end(struct follow *follow);
/* If this ended job failed, print a line; with SHOW_OUTPUT after the job's output. */
void show_failure(struct follow *follow, const struct followed_job *job);

/* follow_output.c */
void output_begin(struct follow *follow);
/* Print new output. An unreachable master is no error here: the next call tries again. */
enum err output_step(struct follow *follow);
enum err output_rest(struct follow *follow);     /* print the rest of the output of an ended run */
void output_end(struct follow *follow);

/* follow_screen.c */
void show_screen_begin(struct follow *follow);
void show_screen_end(struct follow *follow); /* erase the screen's lines, and restore the handlers of signals */
void show_redraw(struct follow *follow);
void show_leave(struct follow *follow); /* the person left: erase the screen's lines, print nothing */
void show_counts(const struct follow *follow, struct buf *out);  /* writes "ok=3 run=1" */
int64_t show_age_ms(const struct follow *follow);

#endif
