/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds the tables of rows.def as data, and makes the SQL text from them: schema and statements. No SQL about a table's
 * columns is written by hand anywhere.
 */
#include "store/tables.h"

#include <stddef.h>

#include "proto/states.h"
#include "store/store.h"

/* In rows.def's CHECK clauses this stands for the number of the last state, which only the compiler knows. */
#define LAST_STATE "@last@"

/* One function per table: only inside a function can a typedef name the table's struct for every column. */
#define TABLE(name, what) \
	static const struct table_column *columns_##name(void) \
	{ \
		typedef struct row_##name its_row; \
		static const struct table_column columns[] = {
#define KEY(type, name, what) \
			{ #name, "", what, offsetof(struct row, meta) + offsetof(its_row, name), \
			  COLUMN_##type, true },
#define COLUMN(type, name, check, what) \
			{ #name, check, what, offsetof(struct row, meta) + offsetof(its_row, name), \
			  COLUMN_##type, false },
#define END(name) \
		}; \
		return columns; \
	}
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END

/* Declare meta_keys, meta_columns and so on: the numbers of key columns and of columns. */
#define TABLE(name, what) enum { name##_keys = 0
#define KEY(type, name, what) + 1
#define COLUMN(type, name, check, what)
#define END(name) };
#include "core/rows/rows.def"
#undef TABLE
#undef COLUMN
#undef END
#define TABLE(name, what) enum { name##_columns = 0
#define COLUMN(type, name, check, what) + 1
#define END(name) };
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END

const struct store_table table_list[TABLE_COUNT] = {
#define TABLE(name, what) [TABLE_##name] = { #name, what, columns_##name, name##_columns, name##_keys },
#define KEY(type, name, what)
#define COLUMN(type, name, check, what)
#define END(name)
#include "core/rows/rows.def"
#undef TABLE
#undef KEY
#undef COLUMN
#undef END
};

static const char *sql_type(enum column_type type)
{
	static const char *const names[] = {
		[COLUMN_INT] = "INTEGER", [COLUMN_TEXT] = "TEXT", [COLUMN_BLOB] = "BLOB",
	};

	return names[type];
}

static void add_check(struct buf *out, const char *check)
{
	const char *mark = strstr(check, LAST_STATE);

	if (!mark) {
		buf_add_str(out, check);
		return;
	}
	buf_add(out, check, (size_t)(mark - check));
	buf_addf(out, "%d", STATE_COUNT - 1);
	buf_add_str(out, mark + strlen(LAST_STATE));
}

static void add_names(struct buf *out, const struct store_table *table, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "%s%s", i ? ", " : "", table->columns()[i].name);
}

static void add_table(struct buf *out, const struct store_table *table)
{
	const struct table_column *columns = table->columns();
	/* A single integer key is the rowid itself: the table is sorted by it and needs no index. */
	bool is_rowid = table->key_count == 1 && columns[0].type == COLUMN_INT;

	buf_addf(out, "\n-- %s\nCREATE TABLE %s (\n", table->what, table->name);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &columns[i];

		buf_addf(out, "\t%s %s%s", column->name, sql_type(column->type),
			 is_rowid && i == 0 ? " PRIMARY KEY" : " NOT NULL");
		if (column->check[0]) {
			buf_add_byte(out, ' ');
			add_check(out, column->check);
		}
		if (i + 1 < table->column_count || !is_rowid)
			buf_add_byte(out, ',');
		if (column->what[0])
			buf_addf(out, " -- %s", column->what);
		buf_add_byte(out, '\n');
	}
	if (!is_rowid) {
		buf_add_str(out, "\tPRIMARY KEY (");
		add_names(out, table, table->key_count);
		buf_add_str(out, ")\n");
	}
	buf_add_str(out, is_rowid ? ") STRICT;\n" : ") STRICT, WITHOUT ROWID;\n");
}

void store_schema(struct buf *out)
{
	buf_add_str(out, "-- The tables of titan's store, made from src/core/rows/rows.def: change them there.\n");
	buf_addf(out, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", STORE_APPLICATION_ID,
		 STORE_VERSION);
	for (int table = 0; table < TABLE_COUNT; table++)
		add_table(out, &table_list[table]);
	buf_add_str(out, "\n-- what a start reads\nCREATE INDEX run_live ON run (run) WHERE ended_ms = 0;\n"
		    "CREATE INDEX job_artifacts ON job (job) WHERE length(artifacts) > 0;\n");
}

void sql_put(struct buf *out, enum row_table which, size_t rows, bool replace)
{
	const struct store_table *table = &table_list[which];
	size_t place = 0;

	buf_addf(out, "INSERT OR %s INTO %s (", replace ? "REPLACE" : "FAIL", table->name);
	add_names(out, table, table->column_count);
	buf_add_str(out, ") VALUES ");
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < table->column_count; i++)
			buf_addf(out, "%s?%zu", i ? ", " : row ? "), (" : "(", ++place);
	}
	buf_add_str(out, ")");
}

void sql_where_key(struct buf *out, enum row_table which)
{
	const struct store_table *table = &table_list[which];

	for (size_t i = 0; i < table->key_count; i++)
		buf_addf(out, "%s%s = ?%zu", i ? " AND " : "", table->columns()[i].name, i + 1);
}

void sql_where_range(struct buf *out, enum row_table which)
{
	const struct table_column *columns = table_list[which].columns();
	size_t keys = table_range_keys(which);

	for (size_t i = 0; i < keys; i++)
		buf_addf(out, "%s %s ?%zu AND ", columns[i].name, i + 1 < keys ? "=" : ">=", i + 1);
	buf_addf(out, "%s < ?%zu", columns[keys - 1].name, keys + 1);
}

void sql_delete(struct buf *out, enum row_table which)
{
	buf_addf(out, "DELETE FROM %s WHERE ", table_list[which].name);
	sql_where_key(out, which);
}

void sql_delete_range(struct buf *out, enum row_table which)
{
	buf_addf(out, "DELETE FROM %s WHERE ", table_list[which].name);
	sql_where_range(out, which);
}

void sql_columns(struct buf *out, enum row_table which, bool brief)
{
	const struct store_table *table = &table_list[which];

	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns()[i];

		buf_add_str(out, i ? ", " : "");
		if (brief && column->type == COLUMN_BLOB)
			buf_add_str(out, "x''");
		else
			buf_addf(out, "%s.%s", table->name, column->name);
	}
}
