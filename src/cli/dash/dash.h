/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan dash: the dashboard on a terminal, or one picture of it in a file. A client of its own: whatever
 * happens to its terminal, nothing else waits for it.
 */
#ifndef TITAN_CLI_DASH_H
#define TITAN_CLI_DASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/statedir.h"
#include "proto/error.h"

struct dash_options {                    /* texts as they were typed; NULL where nothing was */
	bool ascii;                      /* no characters but ASCII; also when the locale isn't UTF-8 */
	bool mono;                       /* no colours */
	const char *view;                /* home, runs, dag, workers */
	uint64_t run;                    /* to select; 0: the newest */
	const char *dump_file;           /* --dump-screen: no terminal; the last picture goes here, "-" is stdout */
	bool dump_styles;                /* with colours and attributes */
	const char *size;                /* WxH of the picture; 80x24 */
	const char *clock;               /* a fixed time for it: 2026-11-18T14:02:30Z */
	bool exit_idle;                  /* --exit-after=idle: leave when everything asked for was drawn */
};

/* The exit status; error is set when it isn't 0. */
int dash_run(const struct dash_options *options, const struct statedir *statedir, struct error *error);

#endif
