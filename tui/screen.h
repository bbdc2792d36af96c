/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From cells to the bytes of a terminal, through curses, which never sees the terminal itself: it writes
 * to a file in memory, and the owner sends what it wrote. What the terminal shows is remembered, so
 * every byte that was rendered must reach it, in order.
 */
#ifndef TITAN_TUI_SCREEN_H
#define TITAN_TUI_SCREEN_H

#include "proto/error.h"
#include "tui/cells.h"

struct screen;

/* One at a time. setlocale must have been called. ERR_USAGE when the terminal is unknown or can't move its
 * cursor. */
enum err screen_new(const char *term, int width, int height, struct screen **ret_screen, struct error *error);
void screen_free(struct screen *screen);                 /* NULL is fine */

/* Appends what turns the terminal's picture into this one; nothing when it is the same. */
void screen_render(struct screen *screen, const struct grid *grid, struct buf *out);
void screen_redraw(struct screen *screen);               /* the next one is drawn whole */
void screen_leave(struct screen *screen, struct buf *out); /* back to the shell's screen; rendering returns */

/* Gives any terminal back from whatever was on it; for a crash. A constant. */
struct slice screen_reset(void);

#endif
