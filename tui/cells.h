/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture made of cells, and panes: rectangles of the picture to draw in. Nothing is drawn outside a pane. A wide
 * character takes two cells (the second has width 0), and half of one is never left. Control characters can't get into
 * a cell: pane_text draws '?' for them, and pane_foreign escapes text from outside.
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
	uint16_t fine, behind;   /* colours that a program wrote, as numbers of the palette + 1; 0: colour, and no background */
};

struct cell {
	char text[CELL_BYTES];   /* UTF-8, with zeros behind its len bytes */
	uint8_t len;             /* bytes in text; 0 in the second half of a wide character */
	uint8_t width;           /* cells: 1 or 2; 0 in the second half of a wide character */
	struct style style;
};

struct grid {
	struct cell *cells;      /* row by row */
	int width, height;
};

struct pane {
	struct grid *grid;
	int x, y, width, height;
};

/* Set the size, and clear. A zeroed grid is empty. */
void grid_resize(struct grid *grid, int width, int height);
void grid_clear(struct grid *grid);
void grid_free(struct grid *grid);
void grid_copy(struct grid *to, const struct grid *from);
bool grid_equal(const struct grid *a, const struct grid *b);
void grid_dim(struct grid *grid);                        /* remove colours and dim everything */
const struct cell *grid_at(const struct grid *grid, int x, int y);
struct pane grid_pane(struct grid *grid);
/*
 * Write the rows as text without trailing blanks. With styles, two more blocks follow, with a character for each cell:
 * a letter for its colour (*: a colour that a program wrote), and a hexadecimal digit for its attributes.
 */
void grid_dump(const struct grid *grid, bool styles, struct buf *out);

/* Return the part of the pane at x, y with this size, as far as it is inside the pane. */
struct pane pane_cut(struct pane pane, int x, int y, int width, int height);
void pane_clear(struct pane pane, struct style style);
/* Draw at x, y. Return the x behind the text, even if it was clipped. */
int pane_text(struct pane pane, int x, int y, struct style style, struct slice text);
int pane_str(struct pane pane, int x, int y, struct style style, const char *text);
int pane_foreign(struct pane pane, int x, int y, struct style style, struct slice text);
int pane_printf(struct pane pane, int x, int y, struct style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Draw at most room cells; a mark at the end shows that something was cut off. */
int pane_clipped(struct pane pane, int x, int y, int room, struct style style, struct slice text, bool ascii);
/* Draw right-aligned, so that the last cell is at x + room - 1. */
void pane_right(struct pane pane, int x, int y, int room, struct style style, const char *text);
void pane_restyle(struct pane pane, int x, int y, int width, struct style style, unsigned add_attributes);
void pane_title(
	struct pane pane, int y, struct style style, bool ascii, const char *title); /* ── TITLE ──── */
void pane_bar(struct pane pane, int x, int y, int width, unsigned permille, struct style style, bool ascii);
void pane_spark(struct pane pane, int x, int y, const uint32_t *values, size_t count, uint32_t top,
		struct style style, bool ascii);

#endif
