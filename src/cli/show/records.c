/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects rows of cells and prints them for programs; records_table.c prints them for people. records_cell.c writes each cell. */
#include "cli/show/records.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/records_cell.h"
#include "cli/show/records_table.h"

void records_begin(struct records *records, const struct column *columns, size_t column_count,
		   struct arena *arena)
{
	*records = (struct records){ .columns = columns, .column_count = column_count, .arena = arena };
}

void records_clear(struct records *records)
{
	records->cells = NULL;
	records->cell_count = records->cell_room = 0;
}

static struct record_cell *add_cell(struct records *records, enum cell_kind kind)
{
	struct record_cell *cell;

	if (records->cell_count == records->cell_room) {
		size_t room = records->cell_room ? records->cell_room * 2 : 64;
		struct record_cell *cells = arena_zalloc(records->arena, room, sizeof(*cells));

		if (records->cell_count > 0)
			memcpy(cells, records->cells, records->cell_count * sizeof(*cells));
		records->cells = cells;
		records->cell_room = room;
	}
	cell = &records->cells[records->cell_count++];
	*cell = (struct record_cell){ .kind = kind };
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
	struct record_cell *cell = add_cell(records, CELL_STATE);

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
	struct record_cell *cell = add_cell(records, CELL_SHARE);

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
	struct record_cell *cell = add_cell(records, CELL_TEXTS);

	cell->texts = texts;
	cell->text = shown;
}

void records_end(struct records *records, uint64_t outcome, uint64_t code)
{
	bool no_start = outcome_is_no_start(outcome);
	const char *why = no_start && code <= INT32_MAX ? strerrordesc_np((int)code) : NULL;

	outcome == OUTCOME_EXIT ? records_number(records, code) : records_none(records);
	outcome == OUTCOME_SIGNAL ? records_number(records, code) : records_none(records);
	records_text(records, slice_str(no_start && !why ? "unknown error" : why));
}

void records_settings(struct records *records, const struct rec_job_settings *settings)
{
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		struct rec_job_settings copy = *settings;

		if (setting->shape == SHAPE_OWN)
			continue;
		if (setting->shape == SHAPE_TEXT)
			records_text(records, *setting_text(setting, &copy));
		else if (setting->shape == SHAPE_TIME)
			records_time(records, setting_number(setting, settings));
		else if (setting_plain_said(setting, settings))
			add_cell(records, CELL_WAIT)->number = setting_number(setting, settings);
		else
			records_none(records);
	}
}

void records_json_fields(const struct records *records, size_t row, struct json *json)
{
	CHECK(row < records_rows(records));
	for (size_t i = 0; i < records->column_count; i++) {
		json_key(json, records->columns[i].key);
		cell_json(&records->cells[row * records->column_count + i], json);
	}
}

void records_json_row(const struct records *records, size_t row, struct json *json)
{
	json_object(json);
	records_json_fields(records, row, json);
	json_end(json);
}

static void print_plain(const struct records *records, struct buf *out)
{
	size_t last = table_last(records);

	for (size_t row = 0; row < records_rows(records); row++) {
		for (size_t i = 0; i <= last; i++) {
			if (records->columns[i].title == NULL)
				continue;
			cell_plain(&records->cells[row * records->column_count + i], out);
			if (i < last)
				buf_add_byte(out, '\t');
		}
		buf_add_byte(out, '\n');
	}
}

/* Find the column that the template names here. *ret_len: length of the name with its braces. */
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
			error_set(error, ERR_USAGE, "--format: a } is missing after %.*s", (int)(len < 60 ? len : 60), at);
		else
			error_set(error, ERR_USAGE, "--format: unknown field %.*s; the fields are:%s", (int)(len < 60 ? len : 60), at,
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
			cell_plain(&records->cells[row * records->column_count + (size_t)(column - records->columns)],
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

void printing_begin(struct printing *printing, const struct records *records, struct buf *out)
{
	CHECK(records->column_count <= RECORDS_COLUMNS_MAX);
	if (printing->look->style == STYLE_HUMAN)
		table_begin(printing, records, out);
	if (printing->look->style != STYLE_JSON)
		return;
	json_begin(&printing->json, out);
	json_array(&printing->json);
}

void printing_rows(struct printing *printing, const struct records *records, struct buf *out)
{
	switch (printing->look->style) {
	case STYLE_HUMAN:
		table_rows(printing, records, out);
		break;
	case STYLE_PLAIN:
		print_plain(records, out);
		break;
	case STYLE_FORMAT:
		for (size_t row = 0; row < records_rows(records); row++)
			print_template(records, row, printing->look->format, out);
		break;
	case STYLE_JSON:
		for (size_t row = 0; row < records_rows(records); row++)
			records_json_row(records, row, &printing->json);
		break;
	}
}

void printing_end(struct printing *printing, struct buf *out)
{
	if (printing->look->style != STYLE_JSON)
		return;
	json_end(&printing->json);
	buf_add_byte(out, '\n');
}

void records_print(const struct records *records, const struct look *look, struct buf *out)
{
	struct printing printing = { .look = look };

	if (printing_measures(look))
		printing_measure(&printing, records);
	printing_begin(&printing, records, out);
	printing_rows(&printing, records, out);
	printing_end(&printing, out);
}

void records_print_line(const struct records *records, const struct look *look, struct buf *out)
{
	if (look->style == STYLE_JSON)
		records_print_one(records, look, out);
	else
		records_print(records, look, out);
}

void records_print_one(const struct records *records, const struct look *look, struct buf *out)
{
	struct json json;

	CHECK(records_rows(records) == 1);
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
	table_fields(records, 0, look, out);
}
