/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the dashboard's loop (dash.c) and its terminal (dash_terminal.c). */
#ifndef TITAN_CLI_DASH_INTERNAL_H
#define TITAN_CLI_DASH_INTERNAL_H

#include <signal.h>

#include "cli/dash/dash.h"
#include "cli/ask/steady_link.h"
#include "tui/app.h"
#include "tui/input.h"
#include "tui/screen.h"
#include "tui/tty.h"

struct dash {
	const struct dash_options *options;
	int64_t fixed_ms;                /* fixed time; 0: use the clock */
	struct app *app;
	struct grid grid;
	struct screen *screen;           /* NULL without a terminal */
	struct tty tty;
	struct input input;
	struct steady_link link;
	int signals;
	sigset_t old_mask;
	int64_t escape_ns;               /* when the keyboard sent an incomplete key sequence */
	int64_t frame_ns;                /* when the last picture was drawn */
	bool pressed, more, quit;
	struct error error;              /* the reason why no picture could be made */
};

/* dash.c */
int64_t dash_now_ms(const struct dash *dash);

/* dash_terminal.c */
/* Block signals and read them from a descriptor. Call before curses and the opening thread start. */
enum err dash_catch_signals(struct dash *dash, struct error *error);
void dash_read_signals(struct dash *dash);
enum err dash_open_terminal(struct dash *dash, struct error *error);
void dash_close_terminal(struct dash *dash);             /* may be called when only some parts are open */
void dash_read_keys(struct dash *dash);
void dash_expire_keys(struct dash *dash); /* Take an incomplete key sequence as it is, because nothing more came. */
void dash_suspend(struct dash *dash);
/* Run a command on the plain terminal, and return to the dashboard when the person has read its output. */
void dash_command(struct dash *dash, struct slice text);

#endif
