/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The four styles of rows. Every byte from outside passes text_escape (or the JSON writer) here, so no
 * caller has to think of it.
 */
#include "cli/records.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#define BAR_CELLS 12
#define GAP 2
#define TEXTS_SHOWN 6                    /* of a list in a table; the other styles have all */

void records_begin(struct records *records, const struct column *columns, size_t column_count,
		   struct arena *arena)
{
	*records = (struct records){ .columns = columns, .column_count = column_count, .arena = arena };
}

static struct cell *add_cell(struct records *records, enum cell_kind kind)
{
	struct cell *cell;

	if (records->cell_count == records->cell_room) {
		size_t room = records->cell_room ? records->cell_room * 2 : 64;
		struct cell *cells = arena_zalloc(records->arena, room, sizeof(*cells));

		if (records->cell_count > 0)
			memcpy(cells, records->cells, records->cell_count * sizeof(*cells));
		records->cells = cells;
		records->cell_room = room;
	}
	cell = &records->cells[records->cell_count++];
	*cell = (struct cell){ .kind = kind };
	return cell;
}

void records_none(struct records *records)
{
	add_cell(records, CELL_NONE);
}

void records_text(struct records *records, struct slice text)
{
	add_cell(records, text.len ? CELL_TEXT : CELL_NONE)->text = text;
}

void records_number(struct records *records, uint64_t value)
{
	add_cell(records, CELL_NUMBER)->number = (int64_t)value;
}

void records_state(struct records *records, const struct state_info *state, const char *name)
{
	struct cell *cell = add_cell(records, CELL_STATE);

	cell->state = state;
	cell->text = slice_str(name);
}

void records_time(struct records *records, int64_t wall_ms)
{
	add_cell(records, wall_ms ? CELL_TIME : CELL_NONE)->number = wall_ms;
}

void records_span(struct records *records, int64_t ms)
{
	add_cell(records, ms >= 0 ? CELL_SPAN : CELL_NONE)->number = ms;
}

void records_share(struct records *records, uint64_t part, uint64_t whole)
{
	struct cell *cell = add_cell(records, CELL_SHARE);

	cell->number = (int64_t)part;
	cell->whole = (int64_t)whole;
}

void records_bool(struct records *records, bool value)
{
	add_cell(records, CELL_BOOL)->number = value;
}

void records_texts(struct records *records, struct slice_list texts)
{
	add_cell(records, CELL_TEXTS)->texts = texts;
}

void records_texts_as(struct records *records, struct slice_list texts, struct slice shown)
{
	struct cell *cell = add_cell(records, CELL_TEXTS);

	cell->texts = texts;
	cell->text = shown;
}

static int percent(const struct cell *cell)
{
	return cell->whole > 0 ? (int)((double)cell->number * 100 / (double)cell->whole) : 100;
}

static void add_texts(const struct cell *cell, size_t most, struct buf *out)
{
	if (cell->text.len > 0) {
		text_escape(out, cell->text, TEXT_KEEP_NONE);
		return;
	}
	for (size_t i = 0; i < cell->texts.n; i++) {
		if (i == most) {
			buf_addf(out, " +%zu", cell->texts.n - most);
			break;
		}
		if (i > 0)
			buf_add_byte(out, ',');
		text_escape(out, cell->texts.at[i], TEXT_KEEP_NONE);
	}
}

/* Exact, and without what only people need. */
static void plain_cell(const struct cell *cell, struct buf *out)
{
	char time[CLOCK_TEXT_SIZE];

	switch (cell->kind) {
	case CELL_NONE:
		break;
	case CELL_TEXT:
	case CELL_STATE:
		text_escape(out, cell->text, TEXT_KEEP_NONE);
		break;
	case CELL_NUMBER:
	case CELL_SPAN:
		buf_addf(out, "%" PRId64, cell->number);
		break;
	case CELL_TIME:
		buf_add_str(out, clock_format_utc(cell->number, time));
		break;
	case CELL_SHARE:
		buf_addf(out, "%d", percent(cell));
		break;
	case CELL_BOOL:
		buf_add_str(out, cell->number ? "true" : "false");
		break;
	case CELL_TEXTS:
		add_texts(cell, SIZE_MAX, out);
		break;
	}
}

/* Without colour and state glyphs, which have no place in the width. */
static void human_cell(const struct look *look, const struct cell *cell, struct buf *out)
{
	char time[CLOCK_TEXT_SIZE];

	switch (cell->kind) {
	case CELL_NONE:
		buf_add_byte(out, '-');
		break;
	case CELL_STATE:
		buf_addf(out, "%s %s", look->utf8 ? cell->state->glyph : cell->state->ascii, cell->state->word);
		break;
	case CELL_TIME:
		buf_add_str(out, clock_format_local(cell->number, time));
		break;
	case CELL_SPAN:
		text_add_span(out, cell->number);
		break;
	case CELL_SHARE:
		look_bar(look, (uint64_t)cell->number, (uint64_t)cell->whole, BAR_CELLS, out);
		buf_addf(out, " %3d%%", percent(cell));
		break;
	case CELL_BOOL:
		buf_add_str(out, cell->number ? "yes" : "no");
		break;
	case CELL_TEXTS:
		if (cell->texts.n == 0 && cell->text.len == 0)
			buf_add_byte(out, '-');
		add_texts(cell, TEXTS_SHOWN, out);
		break;
	case CELL_TEXT:
	case CELL_NUMBER:
		plain_cell(cell, out);
		break;
	}
}

static bool has_nothing(const struct cell *cell)
{
	return cell->kind == CELL_NONE || (cell->kind == CELL_TEXTS && cell->texts.n == 0 && cell->text.len == 0);
}

static void json_cell(const struct cell *cell, struct json *json)
{
	switch (cell->kind) {
	case CELL_NONE:
		json_null(json);
		break;
	case CELL_TEXT:
	case CELL_STATE:
		json_text(json, cell->text);
		break;
	case CELL_NUMBER:
	case CELL_SPAN:
		json_i64(json, cell->number);
		break;
	case CELL_TIME:
		json_time(json, cell->number);
		break;
	case CELL_SHARE:
		json_i64(json, percent(cell));
		break;
	case CELL_BOOL:
		json_bool(json, cell->number != 0);
		break;
	case CELL_TEXTS:
		json_array(json);
		for (size_t i = 0; i < cell->texts.n; i++)
			json_text(json, cell->texts.at[i]);
		json_end(json);
		break;
	}
}

static size_t row_count(const struct records *records)
{
	CHECK(records->cell_count % records->column_count == 0);
	return records->cell_count / records->column_count;
}

void records_json_row(const struct records *records, size_t row, struct json *json)
{
	CHECK(row < row_count(records));
	json_object(json);
	for (size_t i = 0; i < records->column_count; i++) {
		json_key(json, records->columns[i].key);
		json_cell(&records->cells[row * records->column_count + i], json);
	}
	json_end(json);
}

static void add_spaces(struct buf *out, size_t count)
{
	while (count-- > 0)
		buf_add_byte(out, ' ');
}

static void human_column(const struct look *look, const struct column *column, const struct cell *cell,
			 size_t width, bool last, struct buf *out)
{
	struct buf text = { 0 };
	size_t used;

	human_cell(look, cell, &text);
	used = text_width(buf_slice(&text));
	if (column->right && width > used)
		add_spaces(out, width - used);
	if (cell->kind == CELL_STATE)
		look_state(look, cell->state, out);
	else
		buf_add_slice(out, buf_slice(&text));
	if (!column->right && !last)
		add_spaces(out, width - used);
	buf_free(&text);
}

static void measure(const struct records *records, const struct look *look, size_t *widths)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < records->column_count; i++)
		widths[i] = records->columns[i].title ? text_width(slice_str(records->columns[i].title)) : 0;
	for (size_t i = 0; i < records->cell_count; i++) {
		size_t column = i % records->column_count;
		size_t width;

		if (records->columns[column].title == NULL)
			continue;
		buf_clear(&text);
		human_cell(look, &records->cells[i], &text);
		width = text_width(buf_slice(&text));
		if (width > widths[column])
			widths[column] = width;
	}
	buf_free(&text);
}

static size_t last_shown(const struct records *records)
{
	size_t last = 0;

	for (size_t i = 0; i < records->column_count; i++)
		if (records->columns[i].title != NULL)
			last = i;
	return last;
}

static void print_titles(const struct records *records, const struct look *look, const size_t *widths, size_t last,
			 struct buf *out)
{
	look_colour(look, COLOUR_DEFAULT, ATTR_DIM, out);
	for (size_t i = 0; i <= last; i++) {
		const char *title = records->columns[i].title;
		size_t pad;

		if (title == NULL)
			continue;
		pad = widths[i] - text_width(slice_str(title));
		if (records->columns[i].right)
			add_spaces(out, pad);
		buf_add_str(out, title);
		if (i < last)
			add_spaces(out, (records->columns[i].right ? 0 : pad) + GAP);
	}
	look_plain(look, out);
	buf_add_byte(out, '\n');
}

static void print_human(const struct records *records, const struct look *look, struct buf *out)
{
	size_t *widths = arena_zalloc(records->arena, records->column_count, sizeof(*widths));
	size_t last = last_shown(records);

	measure(records, look, widths);
	if (!look->quiet)
		print_titles(records, look, widths, last, out);
	for (size_t row = 0; row < row_count(records); row++) {
		for (size_t i = 0; i <= last; i++) {
			if (records->columns[i].title == NULL)
				continue;
			human_column(look, &records->columns[i], &records->cells[row * records->column_count + i],
				     widths[i], i == last, out);
			if (i < last)
				add_spaces(out, GAP);
		}
		buf_add_byte(out, '\n');
	}
}

static void print_plain(const struct records *records, struct buf *out)
{
	size_t last = last_shown(records);

	for (size_t row = 0; row < row_count(records); row++) {
		for (size_t i = 0; i <= last; i++) {
			if (records->columns[i].title == NULL)
				continue;
			plain_cell(&records->cells[row * records->column_count + i], out);
			if (i < last)
				buf_add_byte(out, '\t');
		}
		buf_add_byte(out, '\n');
	}
}

/* The column that a template names from here on; its length with braces in *ret_len. */
static const struct column *template_column(const struct records *records, const char *at, size_t *ret_len)
{
	const char *end = strchr(at, '}');
	size_t len = end ? (size_t)(end - at) + 1 : strlen(at);

	*ret_len = len;
	for (size_t i = 0; end != NULL && i < records->column_count; i++)
		if (strlen(records->columns[i].key) == len - 2 &&
		    memcmp(records->columns[i].key, at + 1, len - 2) == 0)
			return &records->columns[i];
	return NULL;
}

enum err records_check(const struct records *records, const struct look *look, struct error *error)
{
	if (look->style != STYLE_FORMAT)
		return ERR_NONE;
	for (const char *at = look->format; *at != '\0'; at++) {
		struct buf keys = { 0 };
		size_t len;

		if (*at != '{')
			continue;
		if (template_column(records, at, &len) != NULL) {
			at += len - 1;
			continue;
		}
		for (size_t i = 0; i < records->column_count; i++)
			buf_addf(&keys, " %s", records->columns[i].key);
		if (at[len - 1] != '}')
			error_set(error, ERR_USAGE, "--format: a } is missing behind %.*s", (int)(len < 60 ? len : 60), at);
		else
			error_set(error, ERR_USAGE, "--format: no field %.*s; there are:%s", (int)(len < 60 ? len : 60), at,
				  buf_cstr(&keys));
		buf_free(&keys);
		return ERR_USAGE;
	}
	return ERR_NONE;
}

static void print_template(const struct records *records, size_t row, const char *format, struct buf *out)
{
	for (const char *at = format; *at != '\0'; at++) {
		size_t len;

		if (*at == '{') {
			const struct column *column = template_column(records, at, &len);

			CHECK(column != NULL);
			plain_cell(&records->cells[row * records->column_count + (size_t)(column - records->columns)],
				   out);
			at += len - 1;
		} else if (at[0] == '\\' && (at[1] == 't' || at[1] == 'n')) {
			at++;
			buf_add_byte(out, *at == 't' ? '\t' : '\n');
		} else {
			buf_add_byte(out, (uint8_t)*at);
		}
	}
	buf_add_byte(out, '\n');
}

void records_print(const struct records *records, const struct look *look, struct buf *out)
{
	struct json json;

	switch (look->style) {
	case STYLE_HUMAN:
		print_human(records, look, out);
		break;
	case STYLE_PLAIN:
		print_plain(records, out);
		break;
	case STYLE_FORMAT:
		for (size_t row = 0; row < row_count(records); row++)
			print_template(records, row, look->format, out);
		break;
	case STYLE_JSON:
		json_begin(&json, out);
		json_array(&json);
		for (size_t row = 0; row < row_count(records); row++)
			records_json_row(records, row, &json);
		json_end(&json);
		buf_add_byte(out, '\n');
		break;
	}
}

void records_print_one(const struct records *records, const struct look *look, struct buf *out)
{
	struct json json;
	size_t widest = 0;

	CHECK(row_count(records) == 1);
	if (look->style == STYLE_JSON) {
		json_begin(&json, out);
		records_json_row(records, 0, &json);
		buf_add_byte(out, '\n');
		return;
	}
	if (look->style == STYLE_FORMAT) {
		print_template(records, 0, look->format, out);
		return;
	}
	for (size_t i = 0; i < records->column_count; i++)
		if (records->columns[i].title != NULL && strlen(records->columns[i].title) > widest)
			widest = strlen(records->columns[i].title);
	for (size_t i = 0; i < records->column_count; i++) {
		const struct column *column = &records->columns[i];

		if (column->title == NULL)
			continue;
		if (look->style == STYLE_PLAIN) {
			buf_addf(out, "%s\t", column->key);
			plain_cell(&records->cells[i], out);
			buf_add_byte(out, '\n');
		} else if (!has_nothing(&records->cells[i])) {
			look_colour(look, COLOUR_DEFAULT, ATTR_DIM, out);
			buf_addf(out, "%-*s", (int)(widest + GAP), column->title);
			look_plain(look, out);
			human_column(look, column, &records->cells[i], 0, true, out);
			buf_add_byte(out, '\n');
		}
	}
}
