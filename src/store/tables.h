/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.def as data. The schema, the statements and the binding of rows are made from it. */
#ifndef TITAN_STORE_TABLES_H
#define TITAN_STORE_TABLES_H

#include "base/buf.h"
#include "core/rows/row.h"

#define STORE_APPLICATION_ID 0x7469746e  /* SQLite's application id of titan's stores: "titn" in ASCII */

/* The version of the tables, kept in user_version. The first is 1; each step adds one. */
enum {
	STORE_VERSION = 1
#define STEP(version, what) + 1
#define FILL(version, table, column, value)
#define GONE(version, table, column)
#include "store/steps.def"
#undef STEP
#undef FILL
#undef GONE
};

enum column_type { COLUMN_INT, COLUMN_TEXT, COLUMN_BLOB };

struct table_column {
	const char *name;
	const char *check;               /* SQL of the column's CHECK clause, or empty */
	const char *what;
	size_t offset;                   /* offset of the column in struct row */
	enum column_type type;
	bool key;
};

struct store_table {
	const char *name;
	const char *what;
	const struct table_column *(*columns)(void);
	size_t column_count;
	size_t key_count;                /* number of key columns of the table; they come first */
};

extern const struct store_table table_list[TABLE_COUNT];

/* Are rows of this table put once and never changed? Then no earlier put of the same key is looked for. */
static inline bool table_appends(enum row_table table)
{
	return table == TABLE_spec || table == TABLE_submit_key || table == TABLE_event || table == TABLE_act ||
	       table == TABLE_pruned_run;
}

/* Is the key a single number? New rows mostly have a number that is higher than all before. */
static inline bool table_counts(enum row_table table)
{
	return table_list[table].key_count == 1 && table_list[table].columns()[0].type == COLUMN_INT;
}

static inline int64_t row_int(const struct row *row, const struct table_column *column)
{
	int64_t value;

	memcpy(&value, (const char *)row + column->offset, sizeof(value));
	return value;
}

static inline struct slice row_slice(const struct row *row, const struct table_column *column)
{
	struct slice value;

	memcpy(&value, (const char *)row + column->offset, sizeof(value));
	return value;
}

/* How many key columns a range delete binds before the end of the range; 0: the table has no range deletes. */
static inline size_t table_range_keys(enum row_table table)
{
	const struct row row = { .table = table };

	return !row_number(&row) ? 0 : table == TABLE_spec ? 2 : 1;
}

/*
 * Write the SQL text of the prepared statements. replace: rows with these keys may exist. Without it, a statement of
 * several rows makes no copy of the pages that it changes: SQLite needs the copy to undo half a statement, and here a
 * batch is undone as a whole.
 */
void sql_put(struct buf *out, enum row_table table, size_t rows, bool replace);
void sql_delete(struct buf *out, enum row_table table);
/* Write the SQL text that deletes a range over row_number, for one value of the key columns before it. */
void sql_delete_range(struct buf *out, enum row_table table);
void sql_where_key(struct buf *out, enum row_table table);
void sql_where_range(struct buf *out, enum row_table table);
/* Write the columns of a SELECT, such as job.job, job.run; brief: leave out blobs. */
void sql_columns(struct buf *out, enum row_table table, bool brief);

#endif
