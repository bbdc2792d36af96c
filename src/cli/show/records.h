/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of cells, printed in one of four styles: aligned table, tab-separated values, JSON, or a template. Text from
 * outside is stored as it is, and escaped when it is printed.
 */
#ifndef TITAN_CLI_RECORDS_H
#define TITAN_CLI_RECORDS_H

#include "cli/show/json.h"
#include "cli/show/look.h"
#include "proto/spec.h"
#include "proto/states.h"

struct column {
	const char *key;                 /* name of the column in JSON and templates */
	const char *title;               /* heading; NULL: only JSON and templates have the column */
	bool right;                      /* right-aligned, for numbers */
};

struct table { /* columns of one kind of rows; share/schema is generated from them (fields.def) */
	const struct column *columns;
	size_t count;
};

#define TABLE_OF(array) { (array), sizeof(array) / sizeof((array)[0]) }

enum cell_kind {
	CELL_NONE, CELL_TEXT, CELL_NUMBER, CELL_STATE, CELL_TIME, CELL_SPAN, CELL_WAIT, CELL_SHARE, CELL_BOOL, CELL_TEXTS,
};

struct record_cell {
	enum cell_kind kind;
	struct slice text;
	/* a number, a time or a span in ms, or the part of a share. SPAN: a measured time; WAIT: a time that was set */
	int64_t number;
	int64_t whole;
	const struct state_info *state;
	struct slice_list texts;
};

struct records {
	const struct column *columns;
	size_t column_count;
	/* memory of the cells; their texts belong to the caller and must live until they are printed */
	struct arena *arena;
	struct record_cell *cells;
	size_t cell_count, cell_room;
	bool wraps;          /* a text that is too long for its column goes on below, rather than being cut */
};

void records_begin(struct records *records, const struct column *columns, size_t column_count,
		   struct arena *arena);
/* Add cells in the order of the columns, row after row. */
void records_none(struct records *records);
void records_text(struct records *records, struct slice text);      /* an empty text becomes an empty cell */
void records_number(struct records *records, uint64_t value);
void records_state(struct records *records, const struct state_info *state, const char *name);
void records_time(struct records *records, int64_t wall_ms);        /* 0 becomes an empty cell */
void records_span(struct records *records, int64_t ms);             /* a negative span becomes an empty cell */
void records_share(struct records *records, uint64_t part, uint64_t whole);
void records_bool(struct records *records, bool value);
void records_texts(struct records *records, struct slice_list texts);
/* Add a list of texts. JSON gets the list; other styles print the text shown, unless it is empty. */
void records_texts_as(struct records *records, struct slice_list texts, struct slice shown);

/*
 * Add three cells about the end of an attempt: exit code, number of the signal, and the reason why it couldn't be
 * started. At most one of them isn't empty.
 */
void records_end(struct records *records, uint64_t outcome, uint64_t code);

/* Add a cell for each plain setting, in the order of proto/spec.def. */
void records_settings(struct records *records, const struct rec_job_settings *settings);

/*
 * Sort the rows by the column with this key or title; "-key": the largest first. Empty cells come last. An unknown key
 * is an error that lists the known ones.
 */
enum err records_sort(struct records *records, const char *key, struct error *error);
/* Keep the first rows and drop the rest. */
void records_keep(struct records *records, size_t rows);
size_t records_rows(const struct records *records);

/* Drop all rows of the records. Their arena may then be reset, and new rows may be added. */
void records_clear(struct records *records);

/* Check that the template fits these columns. Call this before anything is printed. */
enum err records_check(const struct records *records, const struct look *look, struct error *error);
void records_print(const struct records *records, const struct look *look, struct buf *out);

/*
 * Print rows in batches if there are too many for memory. For an aligned table all batches are made twice: first to
 * measure each, then to print them between begin and end. Other styles need no measuring.
 */
#define RECORDS_COLUMNS_MAX 128

struct printing {
	const struct look *look;
	size_t widths[RECORDS_COLUMNS_MAX];
	bool exact[RECORDS_COLUMNS_MAX];         /* the column has numbers or times, which are never cut */
	bool filled[RECORDS_COLUMNS_MAX];        /* the column isn't empty in all rows */
	bool left_out[RECORDS_COLUMNS_MAX];      /* there is no room for the column */
	struct json json;
};

bool printing_measures(const struct look *look);
void printing_measure(struct printing *printing, const struct records *records);
void printing_begin(struct printing *printing, const struct records *records, struct buf *out);
void printing_rows(struct printing *printing, const struct records *records, struct buf *out);
void printing_end(struct printing *printing, struct buf *out);
/*
 * Print one record: as lines "key value" for people, otherwise like records_print, but JSON without a list around it.
 */
void records_print_one(const struct records *records, const struct look *look, struct buf *out);
/* Print one record on a line of its own, also as JSON. */
void records_print_line(const struct records *records, const struct look *look, struct buf *out);
void records_json_row(const struct records *records, size_t row, struct json *json);
/* Write the row's fields into a JSON object that is already open. */
void records_json_fields(const struct records *records, size_t row, struct json *json);

#endif
