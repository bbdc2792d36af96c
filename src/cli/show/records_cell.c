/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes one cell in each style. Every text from outside is escaped here (by text_escape or the JSON writer), so
 * callers needn't do that.
 */
#include "cli/show/records_cell.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/records.h"

#define BAR_CELLS 12
#define PERCENT_CELLS 5                  /* a space, and 100% */
#define TEXTS_SHOWN 6                    /* most list items shown in a table; other styles show all */

static int percent(const struct record_cell *cell)
{
	return cell->whole > 0 ? (int)((double)cell->number * 100 / (double)cell->whole) : 100;
}

static void add_texts(const struct record_cell *cell, size_t most, struct buf *out)
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

void cell_plain(const struct record_cell *cell, struct buf *out)
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
	case CELL_WAIT:
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

static void add_share(const struct look *look, const struct record_cell *cell, size_t width, struct buf *out)
{
	size_t cells = width < BAR_CELLS + PERCENT_CELLS ? width - (width < PERCENT_CELLS ? width : PERCENT_CELLS) : BAR_CELLS;

	look_bar(look, (uint64_t)cell->number, (uint64_t)cell->whole, (int)cells, out);
	buf_addf(out, cells > 0 ? " %3d%%" : "%3d%%", percent(cell));
}

void cell_human(const struct look *look, const struct record_cell *cell, size_t width, struct buf *out)
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
		buf_add_str(out, when_format(cell->number, clock_wall_ms(), time));
		break;
	case CELL_SPAN:
		text_add_span(out, cell->number);
		break;
	case CELL_WAIT:
		buf_add_str(out, clock_write_span(cell->number, time));
		break;
	case CELL_SHARE:
		add_share(look, cell, width, out);
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
		cell_plain(cell, out);
		break;
	}
}

bool cell_has_nothing(const struct record_cell *cell)
{
	return cell->kind == CELL_NONE || (cell->kind == CELL_TEXTS && cell->texts.n == 0 && cell->text.len == 0);
}

void cell_json(const struct record_cell *cell, struct json *json)
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
	case CELL_WAIT:
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
