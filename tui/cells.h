/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture made of cells, and rectangles of it to draw in. Nothing is ever written outside a pane.
 * Text is drawn cell by cell: a wide character takes two cells (the second has width 0), and half a wide
 * character is never left. Control characters can't get into a cell: pane_text draws '?' for them, and
 * pane_foreign escapes what came from outside.
 */
#ifndef TITAN_TUI_CELLS_H
#define TITAN_TUI_CELLS_H

#include "base/buf.h"
#include "proto/states.h"

#define CELL_BYTES 12

enum { STYLE_BOLD = 1, STYLE_DIM = 2, STYLE_REVERSE = 4, STYLE_UNDERLINE = 8 };

struct style {
	uint8_t colour;          /* enum colour */
	uint8_t attributes;      /* STYLE_ bits */
};

struct cell {
	char text[CELL_BYTES];   /* UTF-8, zeroed behind len */
	uint8_t len;             /* 0 in the second half of a wide character */
	uint8_t width;           /* 1 or 2; 0 in that second half */
	struct style style;
};

struct grid {
	struct cell *cells;      /* row after row */
	int width, height;
};

struct pane {
	struct grid *grid;
	int x, y, width, height;
};

/* A zeroed grid is empty. Resizing clears. */
void grid_resize(struct grid *grid, int width, int height);
void grid_clear(struct grid *grid);
void grid_free(struct grid *grid);
void grid_copy(struct grid *to, const struct grid *from);
bool grid_equal(const struct grid *a, const struct grid *b);
void grid_dim(struct grid *grid);                        /* colours off, everything dim */
const struct cell *grid_at(const struct grid *grid, int x, int y);
struct pane grid_pane(struct grid *grid);
/* Rows of text, blanks at the end of a row left out; with styles, two more blocks: a letter for the
 * colour and a hexadecimal digit for the attributes of each cell. */
void grid_dump(const struct grid *grid, bool styles, struct buf *out);

/* The part of pane at x, y with this size, as far as it lies within. */
struct pane pane_cut(struct pane pane, int x, int y, int width, int height);
void pane_clear(struct pane pane, struct style style);
/* Draw at x, y; the answer is the x behind the text, clipped or not. */
int pane_text(struct pane pane, int x, int y, struct style style, struct slice text);
int pane_str(struct pane pane, int x, int y, struct style style, const char *text);
int pane_foreign(struct pane pane, int x, int y, struct style style, struct slice text);
int pane_printf(struct pane pane, int x, int y, struct style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* At most room cells, with a mark at the end when something was left out. */
int pane_clipped(struct pane pane, int x, int y, int room, struct style style, struct slice text, bool ascii);
/* So that the last cell is at x + room - 1. */
void pane_right(struct pane pane, int x, int y, int room, struct style style, const char *text);
void pane_restyle(struct pane pane, int x, int y, int width, struct style style, unsigned add_attributes);
void pane_title(
	struct pane pane, int y, struct style style, bool ascii, const char *title); /* ── TITLE ──── */
void pane_bar(struct pane pane, int x, int y, int width, unsigned permille, struct style style, bool ascii);
void pane_spark(struct pane pane, int x, int y, const uint32_t *values, size_t count, uint32_t top,
		struct style style, bool ascii);

#endif
