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

/* SHOW_OUTPUT: the output of the jobs; few lines, on standard error. */
enum show_mode { SHOW_LINES, SHOW_SCREEN, SHOW_JSON, SHOW_OUTPUT, SHOW_NOTHING };

struct follow_output;

struct followed_job {                    /* what is known and shown of a job; owns its strings */
	struct rec_job_row row;          /* its slices point to the texts below; its lists are empty */
	char *name;
	char *worker;
	char *progress;                  /* what the job said beside its progress */
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
	uint64_t forgiven;               /* how many bad ends count as good ones */
	bool known;                      /* all rows that were sent at the start of this connection have arrived */
	uint64_t mark;                   /* where to resume after a lost connection; 0: nowhere */
	bool begun;                      /* the first line was printed */
	int64_t submitted_ms, ended_ms;
	int64_t said_ns;                 /* when a line was last printed */
	struct sigaction before_screen;  /* action of SIGCONT to put back when the screen ends */
	bool on_screen;
	bool told_idle;                  /* the line was printed that says why nothing happens */
	size_t failures[FAILURES_KEPT];  /* indices of the first failed jobs */
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
/* Show that a job went from one state to another; its row is the new one. */
void show_change(struct follow *follow, const struct followed_job *job, enum job_state from);
void show_idle(struct follow *follow);                           /* called when nothing came for a while */
void show_end(struct follow *follow);
/* If this ended job failed, print a line; for SHOW_OUTPUT, after its output. */
void show_failure(struct follow *follow, const struct followed_job *job);

/* follow_output.c */
void output_begin(struct follow *follow);
/* Print what has come since. An unreachable master is no error: the next step tries again. */
enum err output_step(struct follow *follow);
enum err output_rest(struct follow *follow);     /* prints what is missing of a run that has ended */
void output_end(struct follow *follow);

/* follow_screen.c */
void show_screen_begin(struct follow *follow);
void show_screen_end(struct follow *follow);             /* also puts signals back as they were */
void show_redraw(struct follow *follow);
void show_leave(struct follow *follow);                          /* detached: erase the screen's lines, print nothing */
void show_counts(const struct follow *follow, struct buf *out);  /* writes "ok=3 run=1" */
int64_t show_age_ms(const struct follow *follow);

#endif
