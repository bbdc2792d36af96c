/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints rows for people: aligned tables, which fit the terminal (records_fit.c), and lines "key  value". A text that is
 * too long for its column ends in an ellipsis, or goes on below in tables that say so.
 */
#include "cli/show/records_table.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/show/look.h"
#include "cli/show/records_cell.h"
#include "cli/show/wrap.h"

static void add_spaces(struct buf *out, size_t count)
{
	while (count-- > 0)
		buf_add_byte(out, ' ');
}

/* Write the text of a cell into a column of this width, with spaces around it unless the line ends there. */
static void add_column(const struct look *look, const struct column *column, const struct record_cell *cell, struct slice text,
		       size_t width, bool last, struct buf *out)
{
	struct buf cut = { 0 };
	size_t used;

	wrap_cut(look, text, width, &cut);
	used = text_width(buf_slice(&cut));
	if (column->right && width > used)
		add_spaces(out, width - used);
	if (cell->kind == CELL_STATE)
		look_colour(look, cell->state->colour, cell->state->attribute, out);
	buf_add_slice(out, buf_slice(&cut));
	if (cell->kind == CELL_STATE)
		look_plain(look, out);
	if (!column->right && !last)
		add_spaces(out, width - used);
	buf_free(&cut);
}

bool printing_measures(const struct look *look)
{
	return look->style == STYLE_HUMAN && !look->expanded;
}

static bool is_exact(enum cell_kind kind)
{
	return kind != CELL_NONE && kind != CELL_TEXT && kind != CELL_TEXTS && kind != CELL_SHARE;
}

void printing_measure(struct printing *printing, const struct records *records)
{
	struct buf text = { 0 };

	CHECK(records->column_count <= RECORDS_COLUMNS_MAX);
	for (size_t i = 0; i < records->cell_count; i++) {
		const struct record_cell *cell = &records->cells[i];
		size_t column = i % records->column_count;
		size_t width;

		if (records->columns[column].title == NULL)
			continue;
		buf_clear(&text);
		cell_human(printing->look, cell, SIZE_MAX, &text);
		width = text_width(buf_slice(&text));
		if (width > printing->widths[column])
			printing->widths[column] = width;
		printing->exact[column] |= is_exact(cell->kind);
		printing->filled[column] |= !cell_has_nothing(cell);
	}
	buf_free(&text);
}

size_t table_last(const struct records *records)
{
	size_t last = 0;

	for (size_t i = 0; i < records->column_count; i++)
		if (records->columns[i].title != NULL)
			last = i;
	return last;
}

static bool is_shown(const struct printing *printing, const struct records *records, size_t column)
{
	return records->columns[column].title != NULL && !printing->left_out[column];
}

static size_t last_shown(const struct printing *printing, const struct records *records)
{
	size_t last = table_last(records);

	while (last > 0 && !is_shown(printing, records, last))
		last--;
	return last;
}

static void print_titles(const struct printing *printing, const struct records *records, struct buf *out)
{
	const struct record_cell none = { 0 };
	size_t last = last_shown(printing, records);

	look_colour(printing->look, COLOUR_DEFAULT, ATTR_DIM, out);
	for (size_t i = 0; i <= last; i++) {
		if (!is_shown(printing, records, i))
			continue;
		add_column(printing->look, &records->columns[i], &none, slice_str(records->columns[i].title), printing->widths[i],
			   i == last, out);
		if (i < last)
			add_spaces(out, TABLE_GAP);
	}
	look_plain(printing->look, out);
	buf_add_byte(out, '\n');
}

void table_begin(struct printing *printing, const struct records *records, struct buf *out)
{
	const struct look *look = printing->look;

	for (size_t i = 0; i < records->column_count; i++) {
		size_t width = records->columns[i].title ? text_width(slice_str(records->columns[i].title)) : 0;

		if (width > printing->widths[i])
			printing->widths[i] = width;
	}
	table_fit(printing, records);
	if (!look->quiet && !look->expanded)
		print_titles(printing, records, out);
}

/* Print a value behind its key. It goes on below itself, except that a command is left whole, so that it can be copied. */
static void print_value(const struct look *look, const struct column *column, const struct record_cell *cell, size_t indent,
			struct buf *out)
{
	struct buf text = { 0 };

	cell_human(look, cell, SIZE_MAX, &text);
	if (cell->kind == CELL_STATE)
		look_state(look, cell->state, out);
	else if (strcmp(column->key, "command") == 0)
		buf_add_slice(out, buf_slice(&text));
	else
		wrap_add(look, buf_slice(&text), indent, indent, out);
	buf_add_byte(out, '\n');
	buf_free(&text);
}

void table_fields(const struct records *records, size_t row, const struct look *look, struct buf *out)
{
	const struct record_cell *cells = &records->cells[row * records->column_count];
	size_t widest = 0;

	for (size_t i = 0; i < records->column_count; i++)
		if (records->columns[i].title != NULL && strlen(records->columns[i].title) > widest)
			widest = strlen(records->columns[i].title);
	for (size_t i = 0; i < records->column_count; i++) {
		const struct column *column = &records->columns[i];

		if (column->title == NULL)
			continue;
		if (look->style == STYLE_PLAIN) {
			buf_addf(out, "%s\t", column->key);
			cell_plain(&cells[i], out);
			buf_add_byte(out, '\n');
		} else if (!cell_has_nothing(&cells[i])) {
			look_colour(look, COLOUR_DEFAULT, ATTR_DIM, out);
			buf_addf(out, "%-*s", (int)(widest + TABLE_GAP), column->title);
			look_plain(look, out);
			print_value(look, column, &cells[i], widest + TABLE_GAP, out);
		}
	}
}

/* Print a row on one line; texts that are too long are cut. */
static void print_row(const struct printing *printing, const struct records *records, const struct record_cell *cells,
		      struct buf *out)
{
	size_t last = last_shown(printing, records);
	struct buf text = { 0 };

	for (size_t i = 0; i <= last; i++) {
		if (!is_shown(printing, records, i))
			continue;
		buf_clear(&text);
		cell_human(printing->look, &cells[i], printing->widths[i], &text);
		add_column(printing->look, &records->columns[i], &cells[i], buf_slice(&text), printing->widths[i], i == last, out);
		if (i < last)
			add_spaces(out, TABLE_GAP);
	}
	buf_add_byte(out, '\n');
	buf_free(&text);
}

/* Print a row on as many lines as its longest text needs. */
static void print_wrapped(const struct printing *printing, const struct records *records, const struct record_cell *cells,
			  struct buf *out)
{
	size_t last = last_shown(printing, records);
	struct buf texts[RECORDS_COLUMNS_MAX] = { 0 };
	size_t at[RECORDS_COLUMNS_MAX] = { 0 };
	bool more = true;

	for (size_t i = 0; i <= last; i++)
		if (is_shown(printing, records, i))
			cell_human(printing->look, &cells[i], printing->widths[i], &texts[i]);
	while (more) {
		more = false;
		for (size_t i = 0; i <= last; i++) {
			struct slice line = { 0 };
			size_t next = 0;

			if (!is_shown(printing, records, i))
				continue;
			if (at[i] < texts[i].len) {
				line = slice_make(texts[i].data + at[i], texts[i].len - at[i]);
				line.len = wrap_line(line, printing->widths[i], false, &next);
			}
			add_column(printing->look, &records->columns[i], &cells[i], line, printing->widths[i], i == last, out);
			at[i] += next;
			more |= at[i] < texts[i].len;
			if (i < last)
				add_spaces(out, TABLE_GAP);
		}
		while (out->len > 0 && out->data[out->len - 1] == ' ')
			out->len--;
		buf_add_byte(out, '\n');
	}
	for (size_t i = 0; i <= last; i++)
		buf_free(&texts[i]);
}

void table_rows(const struct printing *printing, const struct records *records, struct buf *out)
{
	for (size_t row = 0; row < records_rows(records); row++) {
		const struct record_cell *cells = &records->cells[row * records->column_count];

		if (printing->look->expanded) {
			buf_add_str(out, row > 0 ? "\n" : "");
			table_fields(records, row, printing->look, out);
		} else if (records->wraps) {
			print_wrapped(printing, records, cells, out);
		} else {
			print_row(printing, records, cells, out);
		}
	}
}
