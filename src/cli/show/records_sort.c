/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts records by one of their columns. Rows with equal values keep their order. */
#include <stdlib.h>
#include <strings.h>

#include "base/check.h"
#include "cli/show/records.h"
#include "cli/show/records_cell.h"

struct sort_key {
	const struct record_cell *cell;
	size_t row;
	bool falling;
};

size_t records_rows(const struct records *records)
{
	CHECK(records->cell_count % records->column_count == 0);
	return records->cell_count / records->column_count;
}

void records_keep(struct records *records, size_t rows)
{
	if (rows < records_rows(records))
		records->cell_count = rows * records->column_count;
}

static int number_order(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int text_order(struct slice a, struct slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

	return order != 0 ? order : number_order((int64_t)a.len, (int64_t)b.len);
}

/*
 * States are sorted in the order in which a job passes through them; a flag is sorted like the state that it is shown
 * with.
 */
static int state_place(const struct state_info *state)
{
	int place = 0;

	while (place < STATE_COUNT && strcmp(state_table[place].name, state->name) != 0)
		place++;
	return place;
}

static int cell_order(const struct record_cell *a, const struct record_cell *b)
{
	switch (a->kind) {
	case CELL_TEXT:
		return text_order(a->text, b->text);
	case CELL_STATE:
		return number_order(state_place(a->state), state_place(b->state));
	case CELL_SHARE:
		/* 0 of 0 counts as 100 %, as it is printed */
		return number_order(a->whole ? a->number * 100 / a->whole : 100, b->whole ? b->number * 100 / b->whole : 100);
	case CELL_TEXTS:
		return a->texts.n == 0 || b->texts.n == 0 ? number_order((int64_t)a->texts.n, (int64_t)b->texts.n) :
		       text_order(a->texts.at[0], b->texts.at[0]);
	default:
		return number_order(a->number, b->number);
	}
}

static int key_order(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	bool a_none = cell_has_nothing(a->cell), b_none = cell_has_nothing(b->cell);
	int order = 0;

	if (a_none != b_none)
		return a_none ? 1 : -1;
	if (!a_none)
		order = a->cell->kind == b->cell->kind ? cell_order(a->cell, b->cell) :
			number_order((int64_t)a->cell->kind, (int64_t)b->cell->kind);
	if (order != 0)
		return a->falling ? -order : order;
	return number_order((int64_t)a->row, (int64_t)b->row);
}

static bool find_column(const struct records *records, const char *word, size_t *ret)
{
	for (size_t i = 0; i < records->column_count; i++)
		if (strcmp(records->columns[i].key, word) == 0) {
			*ret = i;
			return true;
		}
	for (size_t i = 0; i < records->column_count; i++)
		if (records->columns[i].title != NULL && strcasecmp(records->columns[i].title, word) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

static enum err unknown_column(const struct records *records, const char *word, struct error *error)
{
	struct buf keys = { 0 };

	for (size_t i = 0; i < records->column_count; i++)
		buf_addf(&keys, " %s", records->columns[i].key);
	error_set(error, ERR_USAGE, "--sort: there is no column '%.40s'; the columns are:%s", word, buf_cstr(&keys));
	buf_free(&keys);
	return ERR_USAGE;
}

enum err records_sort(struct records *records, const char *key, struct error *error)
{
	bool falling = key[0] == '-';
	size_t count = records_rows(records), width = records->column_count, column;
	struct sort_key *keys;
	struct record_cell *cells;

	if (!find_column(records, key + falling, &column))
		return unknown_column(records, key + falling, error);
	if (count == 0)
		return ERR_NONE;
	keys = arena_zalloc(records->arena, count, sizeof(*keys));
	cells = arena_zalloc(records->arena, count * width, sizeof(*cells));
	for (size_t row = 0; row < count; row++)
		keys[row] = (struct sort_key){ &records->cells[row * width + column], row, falling };
	qsort(keys, count, sizeof(*keys), key_order);
	for (size_t row = 0; row < count; row++)
		memcpy(&cells[row * width], &records->cells[keys[row].row * width], width * sizeof(*cells));
	records->cells = cells;
	records->cell_room = count * width;
	return ERR_NONE;
}
