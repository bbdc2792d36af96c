/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How states look on this terminal, from states.def; short forms of numbers and times. */
#ifndef TITAN_TUI_THEME_H
#define TITAN_TUI_THEME_H

#include "proto/message.h"
#include "tui/cells.h"

struct theme {
	bool ascii;              /* use only ASCII for glyphs, lines and blocks */
	bool mono;               /* use attributes instead of colours */
};

/* Names of uses of colours: looks.def. */
enum look {
#define LOOK(NAME, colour, attributes) LOOK_##NAME,
#include "tui/looks.def"
#undef LOOK
	LOOK_COUNT
};

struct style theme_look(const struct theme *theme, enum look look);
struct style theme_style(const struct theme *theme, enum colour colour, unsigned attributes);
struct style theme_state(const struct theme *theme, const struct state_info *info);
const char *theme_glyph(const struct theme *theme, const struct state_info *info);
const char *theme_pick(const struct theme *theme, const char *utf8, const char *ascii);
/* A worker's state as a row like those of states.def. */
const struct state_info *theme_worker(enum worker_state state);

#define NUMBER_SIZE 16
#define NUMBER_FULL_SIZE 28
/* Format a number in at most so many cells: 8214, 91.4k, 1.2M. */
const char *number_short(uint64_t value, int cells, char out[NUMBER_SIZE]);
/* Format a number whole, with a comma between thousands: 3,101. */
const char *number_full(uint64_t value, char out[NUMBER_FULL_SIZE]);
/* Format a duration with one unit: "40s", "4m", "3h", "2d". */
const char *span_short(int64_t ms, char out[NUMBER_SIZE]);

#endif
