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

struct dash_child {                      /* the process of a command whose output is shown in the pane */
	pid_t pid;                       /* its process group has the same number; 0: none */
	int in_fd, out_fd;
};

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
	struct repl *console;            /* what commands are typed into */
	struct dash_child child;
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
void dash_leave_screen(struct dash *dash);       /* gives the terminal back as it was */
void dash_resume(struct dash *dash);             /* takes it again, and draws */
void dash_copy(struct dash *dash, struct slice text);
void dash_wait_for_enter(struct dash *dash);     /* until Enter or Ctrl-C is pressed */

/* dash_command.c */
void dash_command(struct dash *dash, struct slice text);         /* runs what was typed */
int dash_command_fd(const struct dash *dash);    /* descriptor of what the running command prints; -1: none runs */
void dash_command_read(struct dash *dash);       /* call when that descriptor is readable */
void dash_command_interrupt(struct dash *dash);
void dash_command_answer(struct dash *dash, struct slice text);
/* In a new process: run the command with these descriptors for its input and output, and end. */
void dash_run_child(struct dash *dash, int in_fd, int out_fd, const char *text);
void dash_command_close(struct dash *dash);      /* ends the running command: nobody sees its output any more */

/* dash_pager.c */
void dash_pager(struct dash *dash, struct slice command);        /* shows what the command prints in the person's pager */

#endif
