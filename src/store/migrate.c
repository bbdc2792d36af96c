/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of an older version become those of rows.def: each is made anew and filled from the old one, new
 * columns with 0 or nothing, all in one transaction, behind a backup that is kept. What an old version's
 * tables were is frozen here; what a new column means when it is 0 is for those who add it: as before.
 */
#include "store/database.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/backup.h"

#define OLD_PREFIX "old_"
#define BACKUPS_MAX 1000

/* The tables of version 1, and how many columns each had; today's have all of them. */
static const struct { const char *name; size_t columns; } version_1[] = {
	{ "meta", 2 }, { "worker", 5 }, { "run", 12 }, { "spec", 4 }, { "job", 20 }, { "decision", 8 },
	{ "submit_key", 4 }, { "event", 3 },
};

static bool has_column(struct database *database, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(database->handle, "main", table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

static enum err is_damaged(struct database *database, const char *table, struct error *error)
{
	error_set(error, ERR_STORE_TRUST, "%s: its table %s isn't that of version 1", database->path, table);
	return store_hint(database->path, error);
}

static const struct table *find_table(const char *name)
{
	for (int i = 0; i < TABLE_COUNT; i++)
		if (strcmp(table_list[i].name, name) == 0)
			return &table_list[i];
	return NULL;
}

/* All of version 1, with the columns that its tables had. */
static enum err check_tables(struct database *database, struct error *error)
{
	for (size_t i = 0; i < sizeof(version_1) / sizeof(version_1[0]); i++) {
		const struct table *table = find_table(version_1[i].name);
		size_t found = 0;

		for (size_t column = 0; table && column < table->column_count; column++)
			found += has_column(database, table->name, table->columns()[column].name);
		if (found != version_1[i].columns)
			return is_damaged(database, version_1[i].name, error);
	}
	return ERR_NONE;
}

static bool is_old(const char *name)
{
	for (size_t i = 0; i < sizeof(version_1) / sizeof(version_1[0]); i++)
		if (strcmp(version_1[i].name, name) == 0)
			return true;
	return false;
}

/* The statements that fill one table from the one that it replaces. */
static void sql_fill(struct buf *sql, struct database *database, const struct table *table)
{
	static const char *const nothing[] = { [COLUMN_INT] = "0", [COLUMN_TEXT] = "''", [COLUMN_BLOB] = "x''" };
	const struct column *columns = table->columns();

	buf_addf(sql, "INSERT INTO %s (", table->name);
	for (size_t i = 0; i < table->column_count; i++)
		buf_addf(sql, "%s%s", i ? ", " : "", columns[i].name);
	buf_add_str(sql, ") SELECT ");
	for (size_t i = 0; i < table->column_count; i++)
		buf_addf(sql, "%s%s", i ? ", " : "", has_column(database, table->name, columns[i].name) ?
			 columns[i].name : nothing[columns[i].type]);
	buf_addf(sql, " FROM " OLD_PREFIX "%s;\nDROP TABLE " OLD_PREFIX "%s;\n", table->name, table->name);
}

static void sql_migrate(struct buf *sql, struct database *database)
{
	buf_add_str(sql, "BEGIN IMMEDIATE;\nDROP INDEX IF EXISTS run_live;\n");
	for (int i = 0; i < TABLE_COUNT; i++)
		if (is_old(table_list[i].name))
			buf_addf(sql, "ALTER TABLE %s RENAME TO " OLD_PREFIX "%s;\n", table_list[i].name,
				 table_list[i].name);
	store_schema(sql);
	for (int i = 0; i < TABLE_COUNT; i++)
		if (is_old(table_list[i].name))
			sql_fill(sql, database, &table_list[i]);
	buf_add_str(sql, "COMMIT;");
}

/* A name beside the store that nobody has. */
static enum err name_backup(const struct database *database, int version, char path[PATH_MAX],
			    struct error *error)
{
	struct stat info;

	for (int number = 1; number < BACKUPS_MAX; number++) {
		int len = snprintf(path, PATH_MAX, "%s-version-%d", database->path, version);

		if (number > 1)
			snprintf(path + len, (size_t)(PATH_MAX - len), ".%d", number);
		if (lstat(path, &info) < 0 && errno == ENOENT)
			return ERR_NONE;
	}
	return error_set(error, ERR_STORE, "%s: too many copies of it beside it", database->path);
}

static enum err back_up(struct database *database, const char *path, struct error *error)
{
	struct backup backup;
	char part[PATH_MAX];
	enum err err;
	int result;

	snprintf(part, sizeof(part), "%s-migrating", database->path);
	unlink(part);                    /* of one that was interrupted */
	err = backup_begin(&backup, database->handle, part, error);
	if (err == ERR_NONE && (result = backup_step(&backup, -1)) != SQLITE_DONE)
		err = backup_error(&backup, result, error);
	if (err != ERR_NONE) {
		backup_abandon(&backup);
		return err;
	}
	err = backup_end(&backup, error);
	if (err == ERR_NONE)
		err = backup_seal(part, error);
	return err == ERR_NONE ? backup_place(part, path, error) : err;
}

enum err database_migrate(struct database *database, int version, struct error *error)
{
	struct buf sql = { 0 };
	char path[PATH_MAX];
	enum err err = check_tables(database, error);

	if (err == ERR_NONE)
		err = name_backup(database, version, path, error);
	if (err == ERR_NONE)
		err = back_up(database, path, error);
	if (err != ERR_NONE)
		return err;
	log_info("%s has the tables of version %d: they become those of version %d; as it was: %s", database->path,
		 version, STORE_VERSION, path);
	sql_migrate(&sql, database);
	if (sqlite3_exec(database->handle, buf_cstr(&sql), NULL, NULL, NULL) != SQLITE_OK) {
		err = database_error(database, ERR_STORE, error, "its tables can't be brought to this version");
		sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
	}
	buf_free(&sql);
	return err;
}
