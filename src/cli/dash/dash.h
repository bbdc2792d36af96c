/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan dash: the dashboard on a terminal, or one picture of it in a file. It has its own connection to the master, so
 * nothing else waits when its terminal is slow.
 */
#ifndef TITAN_CLI_DASH_H
#define TITAN_CLI_DASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/statedir.h"
#include "cli/repl/repl.h"
#include "cli/session/clusters.h"
#include "cli/session/session.h"
#include "proto/error.h"

struct dash_options {                    /* options as typed; NULL: not given */
	bool ascii;                      /* draw with ASCII only; also when the locale isn't UTF-8 */
	bool mono;                       /* no colours */
	const char *view;                /* home, runs, dag or workers */
	uint64_t run;                    /* run to select; 0: the newest */
	const char *dump_file; /* --dump-screen: write the last picture to this file ("-" is stdout), use no terminal */
	bool dump_styles;                /* include colours and attributes in the dump */
	const char *size;                /* size of the dumped picture as WxH; default 80x24 */
	const char *clock;               /* fixed time for the dumped picture, such as 2026-11-18T14:02:30Z */
	bool exit_idle;                  /* --exit-after=idle: leave when all requested data is drawn */
	struct session *session;         /* session in which commands typed after : run */
	struct repl_options console;     /* the cluster for those commands */
};

/* Return the exit status; error is set if it isn't 0. */
int dash_run(const struct dash_options *options, const struct statedir *statedir, const struct remote_cluster *remote,
	     struct error *error);

#endif
