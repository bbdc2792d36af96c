/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grid of cells. Every write goes through put_cell, which clips it and blanks the other half of a wide character.
 */
#include "tui/cells.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"

static const struct cell blank = { .text = " ", .len = 1, .width = 1 };

void grid_resize(struct grid *grid, int width, int height)
{
	CHECK(width >= 0 && height >= 0 && width <= 10000 && height <= 10000);
	if (width != grid->width || height != grid->height) {
		mem_free(grid->cells);
		grid->cells = mem_array((size_t)width * (size_t)height + 1, sizeof *grid->cells);
		grid->width = width;
		grid->height = height;
	}
	grid_clear(grid);
}

void grid_clear(struct grid *grid)
{
	size_t count = (size_t)grid->width * (size_t)grid->height;

	for (size_t i = 0; i < count; i++)
		grid->cells[i] = blank;
}

void grid_free(struct grid *grid)
{
	mem_free(grid->cells);
	*grid = (struct grid){ 0 };
}

void grid_copy(struct grid *to, const struct grid *from)
{
	grid_resize(to, from->width, from->height);
	memcpy(to->cells, from->cells, (size_t)from->width * (size_t)from->height * sizeof *from->cells);
}

bool grid_equal(const struct grid *a, const struct grid *b)
{
	if (a->width != b->width || a->height != b->height)
		return false;
	return memcmp(a->cells, b->cells, (size_t)a->width * (size_t)a->height * sizeof *a->cells) == 0;
}

void grid_dim(struct grid *grid)
{
	size_t count = (size_t)grid->width * (size_t)grid->height;

	for (size_t i = 0; i < count; i++) {
		unsigned attributes = grid->cells[i].style.attributes;

		attributes = (attributes & ~(unsigned)STYLE_BOLD) | STYLE_DIM;
		grid->cells[i].style = (struct style){ .attributes = (uint8_t)attributes };
	}
}

const struct cell *grid_at(const struct grid *grid, int x, int y)
{
	CHECK(x >= 0 && y >= 0 && x < grid->width && y < grid->height);
	return &grid->cells[(size_t)y * (size_t)grid->width + (size_t)x];
}

struct pane grid_pane(struct grid *grid)
{
	return (struct pane){ grid, 0, 0, grid->width, grid->height };
}

static void dump_style(const struct grid *grid, int y, bool colours, struct buf *out)
{
	static const char letters[] = ".rgybmc";
	static const char digits[] = ".123456789abcdef";

	for (int x = 0; x < grid->width; x++) {
		struct style style = grid_at(grid, x, y)->style;

		if (colours && (style.fine || style.behind))
			buf_add_byte(out, '*');
		else
			buf_add_byte(out, (uint8_t)(colours ? letters[style.colour] : digits[style.attributes & 15]));
	}
	buf_add_byte(out, '\n');
}

void grid_dump(const struct grid *grid, bool styles, struct buf *out)
{
	for (int y = 0; y < grid->height; y++) {
		size_t end = out->len;

		for (int x = 0; x < grid->width; x++) {
			const struct cell *cell = grid_at(grid, x, y);

			buf_add(out, cell->text, cell->len);
			if (cell->len != 1 || cell->text[0] != ' ')
				end = out->len;
		}
		buf_cut(out, end);
		buf_add_byte(out, '\n');
	}
	if (!styles)
		return;
	buf_add_str(out, "--- colours\n");
	for (int y = 0; y < grid->height; y++)
		dump_style(grid, y, true, out);
	buf_add_str(out, "--- attributes\n");
	for (int y = 0; y < grid->height; y++)
		dump_style(grid, y, false, out);
}

static int at_least(int value, int least)
{
	return value < least ? least : value;
}

static int at_most(int value, int most)
{
	return value > most ? most : value;
}

struct pane pane_cut(struct pane pane, int x, int y, int width, int height)
{
	int right = at_most(x + at_least(width, 0), pane.width);
	int bottom = at_most(y + at_least(height, 0), pane.height);

	x = at_least(x, 0);
	y = at_least(y, 0);
	return (struct pane){
		.grid = pane.grid, .x = pane.x + x, .y = pane.y + y,
		.width = at_least(right - x, 0), .height = at_least(bottom - y, 0),
	};
}

/* One half of a wide character is being overwritten: blank its other half. */
static void mend(struct cell *row, int x, int width)
{
	if (row[x].width == 0 && x > 0 && row[x - 1].width == 2) {
		struct style style = row[x - 1].style;

		row[x - 1] = blank;
		row[x - 1].style = style;
	}
	if (row[x].width == 2 && x + 1 < width) {
		struct style style = row[x + 1].style;

		row[x + 1] = blank;
		row[x + 1].style = style;
	}
}

static void put_cell(
	struct pane pane, int x, int y, struct style style, const void *text, size_t len, int width)
{
	struct grid *grid = pane.grid;
	struct cell *row;

	if (x < 0 || y < 0 || x >= pane.width || y >= pane.height)
		return;
	if (width == 2 && x + 1 >= pane.width) {
		text = " ";
		len = 1;
		width = 1;
	}
	row = &grid->cells[(size_t)(pane.y + y) * (size_t)grid->width];
	x += pane.x;
	mend(row, x, grid->width);
	if (width == 2) {
		mend(row, x + 1, grid->width);
		row[x + 1] = (struct cell){ .style = style };
	}
	row[x] = (struct cell){ .len = (uint8_t)len, .width = (uint8_t)width, .style = style };
	memcpy(row[x].text, text, len);
}

/* Add a combining mark to the character before it if the cell has room. */
static void add_mark(struct pane pane, int x, int y, const void *text, size_t len)
{
	struct cell *cell;

	if (x < 0 || y < 0 || x >= pane.width || y >= pane.height)
		return;
	cell = &pane.grid->cells[(size_t)(pane.y + y) * (size_t)pane.grid->width + (size_t)(pane.x + x)];
	if (cell->width == 0 && x > 0)
		cell--;
	if (cell->len + len <= CELL_BYTES) {
		memcpy(cell->text + cell->len, text, len);
		cell->len = (uint8_t)(cell->len + len);
	}
}

/* Is this a harmless combining mark? Marks that are invisible or change the direction of text aren't. */
static bool is_mark(struct slice text)
{
	struct buf escaped = { 0 };
	bool same;

	text_escape(&escaped, text, TEXT_KEEP_NONE);
	same = slice_eq(buf_slice(&escaped), text);
	buf_free(&escaped);
	return same;
}

void pane_clear(struct pane pane, struct style style)
{
	for (int y = 0; y < pane.height; y++)
		for (int x = 0; x < pane.width; x++)
			put_cell(pane, x, y, style, " ", 1, 1);
}

int pane_text(struct pane pane, int x, int y, struct style style, struct slice text)
{
	while (text.len > 0) {
		uint32_t code = text.data[0];
		int width = 1;
		size_t used = 1;

		if (code >= 0x80)
			used = text_next(text, &code, &width);
		if (code < 0x20 || (code >= 0x7f && code < 0xa0) || width < 0 ||
			(code == 0xfffd && used == 1) ||
			(width == 0 && !is_mark(slice_make(text.data, used)))) {
			put_cell(pane, x, y, style, "?", 1, 1);
			x++;
		} else if (width == 0) {
			add_mark(pane, x - 1, y, text.data, used);
		} else {
			if (x < 0 && x + width > 0)
				put_cell(pane, 0, y, style, " ", 1, 1);
			put_cell(pane, x, y, style, text.data, used, width);
			x += width;
		}
		text.data += used;
		text.len -= used;
	}
	return x;
}

int pane_str(struct pane pane, int x, int y, struct style style, const char *text)
{
	return pane_text(pane, x, y, style, slice_str(text));
}

int pane_foreign(struct pane pane, int x, int y, struct style style, struct slice text)
{
	struct buf escaped = { 0 };
	size_t plain = 0;

	while (plain < text.len && text.data[plain] >= 0x20 && text.data[plain] < 0x7f)
		plain++;
	if (plain == text.len)
		return pane_text(pane, x, y, style, text);
	text_escape(&escaped, text, TEXT_KEEP_NONE);
	x = pane_text(pane, x, y, style, buf_slice(&escaped));
	buf_free(&escaped);
	return x;
}

int pane_printf(struct pane pane, int x, int y, struct style style, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	return pane_str(pane, x, y, style, line);
}

int pane_clipped(struct pane pane, int x, int y, int room, struct style style, struct slice text, bool ascii)
{
	struct buf escaped = { 0 };
	struct slice shown;

	if (room <= 0)
		return x;
	text_escape(&escaped, text, TEXT_KEEP_NONE);
	shown = buf_slice(&escaped);
	if (text_width(shown) > (size_t)room) {
		shown.len = text_clip(shown, (size_t)room - 1, NULL);
		x = pane_text(pane, x, y, style, shown);
		x = pane_str(pane, x, y, style, ascii ? "~" : "…");
	} else {
		x = pane_text(pane, x, y, style, shown);
	}
	buf_free(&escaped);
	return x;
}

void pane_right(struct pane pane, int x, int y, int room, struct style style, const char *text)
{
	int width = (int)text_width(slice_str(text));

	if (width <= room)
		pane_str(pane, x + room - width, y, style, text);
	else
		pane_str(pane_cut(pane, x, y, room, 1), 0, 0, style, text);
}

void pane_restyle(struct pane pane, int x, int y, int width, struct style style, unsigned add_attributes)
{
	struct pane part = pane_cut(pane, x, y, width, 1);

	for (int i = 0; part.height > 0 && i < part.width; i++) {
		struct cell *cell =
			&part.grid->cells[(size_t)part.y * (size_t)part.grid->width + (size_t)(part.x + i)];

		if (style.colour != COLOUR_DEFAULT)
			cell->style.colour = style.colour;
		cell->style.attributes =
			(uint8_t)(cell->style.attributes | style.attributes | add_attributes);
	}
}

void pane_title(struct pane pane, int y, struct style style, bool ascii, const char *title)
{
	const char *line = ascii ? "-" : "─";
	int x = 0;

	for (x = 0; x < 2; x++)
		pane_str(pane, x, y, style, line);
	if (title[0] != '\0') {
		x = pane_str(pane, x, y, style, " ");
		x = pane_str(pane, x, y, style, title);
		x = pane_str(pane, x, y, style, " ");
	}
	for (; x < pane.width; x++)
		pane_str(pane, x, y, style, line);
}

void pane_bar(struct pane pane, int x, int y, int width, unsigned permille, struct style style, bool ascii)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned eighths = (unsigned)at_least(width, 0) * 8 * (permille > 1000 ? 1000 : permille) / 1000;
	struct pane part = pane_cut(pane, x, y, width, 1);
	int full = (int)(eighths / 8);

	for (int i = 0; i < full; i++)
		pane_str(part, i, 0, style, ascii ? "#" : "█");
	if (eighths % 8 > 0)
		pane_str(part, full, 0, style, ascii ? "=" : parts[eighths % 8]);
}

void pane_spark(struct pane pane, int x, int y, const uint32_t *values, size_t count, uint32_t top,
		struct style style, bool ascii)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const signs[] = { "_", ".", ":", "-", "=", "+", "*", "#" };

	for (size_t i = 0; i < count; i++) {
		uint64_t level = top > 0 ? (uint64_t)values[i] * 7 / top : 0;

		if (values[i] > 0 && level == 0)
			level = 1;
		if (level > 7)
			level = 7;
		x = pane_str(pane, x, y, style, ascii ? signs[level] : blocks[level]);
	}
}
