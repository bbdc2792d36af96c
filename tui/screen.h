/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns cells into bytes for a terminal, with curses. Curses never sees the terminal: it writes to a file in memory,
 * and the owner sends the bytes. The screen remembers what the terminal shows, so all rendered bytes must be sent, in
 * order.
 */
#ifndef TITAN_TUI_SCREEN_H
#define TITAN_TUI_SCREEN_H

#include "proto/error.h"
#include "tui/cells.h"

struct screen;

/*
 * Make the screen; there can be only one at a time. setlocale must have been called. ERR_USAGE: the terminal is unknown
 * or can't move its cursor.
 */
enum err screen_new(const char *term, int width, int height, struct screen **ret_screen, struct error *error);
void screen_free(struct screen *screen);                 /* NULL is fine */

/* Append the bytes that change the terminal's present picture into this one; none if they are equal. */
void screen_render(struct screen *screen, const struct grid *grid, struct buf *out);
void screen_redraw(struct screen *screen);               /* draw the next picture whole */
/* Return the terminal to the shell's screen; the next render enters ours again. */
void screen_leave(struct screen *screen, struct buf *out);

/* Constant bytes that reset any terminal, whatever it shows; for a crash. */
struct slice screen_reset(void);

#endif
