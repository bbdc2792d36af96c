/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the dashboard's loop (dash.c) and its terminal (dash_terminal.c). */
#ifndef TITAN_CLI_DASH_INTERNAL_H
#define TITAN_CLI_DASH_INTERNAL_H

#include <signal.h>

#include "cli/dash/dash.h"
#include "cli/dash/dash_link.h"
#include "tui/app.h"
#include "tui/input.h"
#include "tui/screen.h"
#include "tui/tty.h"

struct dash {
	const struct dash_options *options;
	int64_t fixed_ms;                /* 0: the clock */
	struct app *app;
	struct grid grid;
	struct screen *screen;           /* NULL without a terminal */
	struct tty tty;
	struct input input;
	struct dash_link link;
	int signals;
	sigset_t old_mask;
	int64_t escape_ns;               /* when something incomplete came from the keyboard */
	int64_t frame_ns;                /* the last picture */
	bool pressed, more, quit;
	struct error error;              /* why a picture can't be had */
};

/* dash.c */
int64_t dash_now_ms(const struct dash *dash);

/* dash_terminal.c */
/* Signals are read, never handled; blocked before curses and the opening thread begin. */
enum err dash_catch_signals(struct dash *dash, struct error *error);
void dash_read_signals(struct dash *dash);
enum err dash_open_terminal(struct dash *dash, struct error *error);
void dash_close_terminal(struct dash *dash);             /* NULL parts are fine */
void dash_read_keys(struct dash *dash);
void dash_expire_keys(struct dash *dash);                /* nothing follows what was incomplete */
void dash_suspend(struct dash *dash);

#endif
