/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the parts of following a run: follow.c has the connection and the jobs' latest rows, follow_show.c
 * the lines, follow_screen.c what is drawn below them.
 */
#ifndef TITAN_CLI_FOLLOW_INTERNAL_H
#define TITAN_CLI_FOLLOW_INTERNAL_H

#include <signal.h>

#include "cli/follow/follow.h"
#include "cli/session/cli.h"
#include "proto/message.h"
#include "proto/states.h"

#define FAILURES_KEPT 10

enum show_mode { SHOW_LINES, SHOW_SCREEN, SHOW_JSON, SHOW_NOTHING };

struct followed_job {                    /* what is shown of a job; strings are its own */
	struct rec_job_row row;          /* its slices point to the strings below, lists are empty */
	char *name;
	char *worker;
	enum job_state told;             /* what was last shown */
};

struct follow {
	struct cli *cli;
	struct cli side;                 /* a connection for logs */
	uint64_t run;
	const struct follow_options *options;
	enum show_mode mode;
	char *name;                      /* of the run */
	struct followed_job *jobs;       /* by index; a row with job 0 isn't known yet */
	size_t job_count, job_room;
	uint64_t counts[STATE_COUNT];
	uint64_t forgiven;               /* of them, bad ends that count as good ones */
	bool known;                      /* what it is at this connection: the snapshot, or what was missed, is complete */
	uint64_t mark;                   /* to resume with after a lost connection; 0: nothing */
	bool begun;                      /* the first line was said */
	int64_t submitted_ms, ended_ms;
	int64_t said_ns;                 /* when something was last printed */
	struct sigaction before_screen;  /* of SIGCONT, while on_screen */
	bool on_screen;
	bool told_idle;                  /* that nothing takes its jobs */
	size_t failures[FAILURES_KEPT];  /* indices */
	size_t failure_count;            /* may be more than are kept */
	struct buf out;                  /* to be printed above the screen's lines */
	size_t screen_lines;             /* drawn below what scrolls */
	bool dirty;
};

uint64_t follow_settled(const struct follow *follow);
enum run_state follow_state(const struct follow *follow);

/* follow_show.c */
void show_begin(struct follow *follow);
/* A job went from one state to another; its row is the new one. */
void show_change(struct follow *follow, const struct followed_job *job, enum job_state from);
void show_idle(struct follow *follow);                           /* nothing came for a while */
void show_end(struct follow *follow);

/* follow_screen.c */
void show_screen_begin(struct follow *follow);
void show_screen_end(struct follow *follow);             /* signals are as they were */
void show_redraw(struct follow *follow);
void show_leave(struct follow *follow);                          /* detached: only the screen's lines go */
void show_counts(const struct follow *follow, struct buf *out);  /* "ok=3 run=1" */
int64_t show_age_ms(const struct follow *follow);

#endif
