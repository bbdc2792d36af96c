/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of text that a person types: searches, commands, reasons, answers. It has whole characters and no control
 * characters, and a cursor between two characters.
 */
#ifndef TITAN_TUI_LINE_EDIT_H
#define TITAN_TUI_LINE_EDIT_H

#include "tui/cells.h"

#define LINE_BYTES   1024
#define LINE_HISTORY 50

struct line_edit {
	char text[LINE_BYTES];
	size_t len, at;                  /* at: the cursor is before this byte */
};

struct line_history {                    /* lines that were typed before, the oldest first */
	char *lines[LINE_HISTORY];
	size_t count, back;              /* back: how many lines back the shown one is; 0: it is the one being typed */
	struct line_edit typed;
};

struct app;

static inline struct slice line_text(const struct line_edit *line)
{
	return slice_make(line->text, line->len);
}

void line_clear(struct line_edit *line);
void line_set(struct line_edit *line, struct slice text);
/* Take a key. The line gets at most so many bytes, less than LINE_BYTES. False: the key means nothing here. */
bool line_key(struct line_edit *line, size_t most, uint32_t key);
/* Draw the line in the pane's row, its part around the cursor if it is too long. Return the x behind it. */
int line_edit_draw(const struct app *app, struct pane pane, int x, int y, const struct line_edit *line, bool cursor);

void line_history_keep(struct line_history *history, struct slice text);
/* Show the line before (step -1) or after in the history. The line that was being typed comes after the last. */
void line_history_move(struct line_history *history, struct line_edit *line, int step);
void line_history_free(struct line_history *history);

#endif
