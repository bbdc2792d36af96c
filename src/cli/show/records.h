/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of cells, printed in one of four styles: an aligned table, tab-separated values, JSON, or a template.
 * Text from outside goes in as it is and comes out escaped.
 */
#ifndef TITAN_CLI_RECORDS_H
#define TITAN_CLI_RECORDS_H

#include "cli/show/json.h"
#include "cli/show/look.h"
#include "proto/spec.h"
#include "proto/states.h"

struct column {
	const char *key;                 /* in JSON and templates */
	const char *title;               /* NULL: neither in tables nor in plain output */
	bool right;                      /* numbers */
};

enum cell_kind {
	CELL_NONE, CELL_TEXT, CELL_NUMBER, CELL_STATE, CELL_TIME, CELL_SPAN, CELL_WAIT, CELL_SHARE, CELL_BOOL, CELL_TEXTS,
};

struct cell {
	enum cell_kind kind;
	struct slice text;
	int64_t number;                  /* also ms, and a share's part; SPAN: as it went by, WAIT: as it was set */
	int64_t whole;
	const struct state_info *state;
	struct slice_list texts;
};

struct records {
	const struct column *columns;
	size_t column_count;
	struct arena *arena;             /* of the cells; texts are the caller's until printed */
	struct cell *cells;
	size_t cell_count, cell_room;
};

void records_begin(struct records *records, const struct column *columns, size_t column_count,
		   struct arena *arena);
/* Cells in the order of the columns, row after row. */
void records_none(struct records *records);
void records_text(struct records *records, struct slice text);      /* empty: none */
void records_number(struct records *records, uint64_t value);
void records_state(struct records *records, const struct state_info *state, const char *name);
void records_time(struct records *records, int64_t wall_ms);        /* 0: none */
void records_span(struct records *records, int64_t ms);             /* < 0: none */
void records_share(struct records *records, uint64_t part, uint64_t whole);
void records_bool(struct records *records, bool value);
void records_texts(struct records *records, struct slice_list texts);
/* In JSON the list; elsewhere what is shown for it, unless that is empty. */
void records_texts_as(struct records *records, struct slice_list texts, struct slice shown);

/* A cell for each plain setting, in the order of proto/spec.def. */
void records_settings(struct records *records, const struct rec_job_settings *settings);

/* The rows so far are forgotten: their arena may be reset, and others follow. */
void records_clear(struct records *records);

/* Is the template right for these columns? Asked before anything is printed. */
enum err records_check(const struct records *records, const struct look *look, struct error *error);
void records_print(const struct records *records, const struct look *look, struct buf *out);

/*
 * The same for so many rows that they come in batches: first each batch is measured, which only a table for people
 * needs, then they come again, between begin and end.
 */
#define RECORDS_COLUMNS_MAX 128

struct printing {
	const struct look *look;
	size_t widths[RECORDS_COLUMNS_MAX];
	struct json json;
};

bool printing_measures(const struct look *look);
void printing_measure(struct printing *printing, const struct records *records);
void printing_begin(struct printing *printing, const struct records *records, struct buf *out);
void printing_rows(struct printing *printing, const struct records *records, struct buf *out);
void printing_end(struct printing *printing, struct buf *out);
/* One record as lines of "key  value" for people; as records_print with the other styles, JSON without a list. */
void records_print_one(const struct records *records, const struct look *look, struct buf *out);
void records_json_row(const struct records *records, size_t row, struct json *json);

#endif
