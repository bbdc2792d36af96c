/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Migrates the tables of an older store to the newest version, one version at a time. A backup is made first and kept.
 * Each step is one transaction: it creates the changed tables anew, copies their rows, and before the commit compares
 * the result with the frozen schema of its version.
 */
#include "store/database.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/backup.h"
#include "store/ladder.h"
#include "store/trailer.h"

#define OLD_PREFIX "old_"
#define BACKUPS_MAX 1000

struct step {
	struct database *database;
	int version;                     /* the version to which the step leads */
	struct error *error;
};

/* ---- do a store's tables match its version ---- */

static enum err is_damaged(struct database *database, int version, const char *name, struct error *error)
{
	error_set(error, ERR_STORE_TRUST, "%s: its table %s differs from that of version %d", database->path, name, version);
	return store_hint(database->path, error);
}

static enum err check_object(struct database *database, sqlite3_stmt *statement, const struct object *object,
			     struct error *error)
{
	struct buf found = { 0 };
	bool same;
	int result;

	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, object->name, -1, SQLITE_STATIC);
	result = sqlite3_step(statement);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return database_error(database, ERR_STORE, error, "can't be read");
	if (result == SQLITE_ROW && sqlite3_column_text(statement, 0))
		sql_squeeze(&found, (const char *)sqlite3_column_text(statement, 0));
	same = strcmp(buf_cstr(&found), object->sql) == 0;
	buf_free(&found);
	return same ? ERR_NONE : is_damaged(database, object->version, object->name, error);
}

enum err database_check_tables(struct database *database, int version, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	enum err err = ERR_NONE;

	if (sqlite3_prepare_v2(database->handle, "SELECT sql FROM sqlite_schema WHERE name = ?1", -1, &statement, NULL) !=
	    SQLITE_OK)
		err = database_error(database, ERR_STORE, error, "can't be read");
	for (size_t i = 0; err == ERR_NONE && i < store_ladder->object_count; i++)
		if (store_ladder->objects[i].version == version)
			err = check_object(database, statement, &store_ladder->objects[i], error);
	sqlite3_finalize(statement);
	return err;
}

/* ---- one step ---- */

static enum err run(struct step *step, const char *sql)
{
	if (sqlite3_exec(step->database->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return database_error(step->database, ERR_STORE, step->error, "the tables of the store can't be changed to this version");
	return ERR_NONE;
}

static enum err runf(struct step *step, const char *format, const char *name)
{
	struct buf sql = { 0 };
	enum err err;

	buf_addf(&sql, format, name);
	err = run(step, buf_cstr(&sql));
	buf_free(&sql);
	return err;
}

/* Is the table the same in both versions? Then it stays with its rows. */
static bool stays(const struct object *old, const struct object *new)
{
	return old && new && strcmp(old->sql, new->sql) == 0;
}

static bool has_column(struct step *step, const char *prefix, const char *table, const char *column)
{
	struct buf name = { 0 };
	int result;

	buf_addf(&name, "%s%s", prefix, table);
	result = sqlite3_table_column_metadata(step->database->handle, "main", buf_cstr(&name), column, NULL, NULL, NULL,
					       NULL, NULL);
	buf_free(&name);
	return result == SQLITE_OK;
}

static enum err is_lost(struct step *step, const char *table, const char *column)
{
	return error_set(step->error, ERR_STORE, "%s: the step to version %d loses %s%s%s, and steps.def has no GONE for it",
			 step->database->path, step->version, table, column[0] ? "." : "", column);
}

/* Rename a table that changed. Drop indices, and the tables or rows that steps.def marks as gone. */
static enum err put_old_aside(struct step *step, const struct object *old)
{
	const struct object *new = ladder_find(step->version, old->name);

	if (!object_is_table(old))
		return runf(step, "DROP INDEX %s", old->name);
	if (stays(old, new))
		return ladder_change(step->version, old->name, "*", true) ? runf(step, "DELETE FROM %s", old->name) : ERR_NONE;
	if (new)
		return runf(step, "ALTER TABLE %1$s RENAME TO " OLD_PREFIX "%1$s", old->name);
	return ladder_change(step->version, old->name, "", true) ? runf(step, "DROP TABLE %s", old->name) :
	       is_lost(step, old->name, "");
}

/* Prepare a statement that returns the columns (name, type) of a table. */
static sqlite3_stmt *ask_columns(struct step *step, const char *prefix, const char *table)
{
	sqlite3_stmt *statement = NULL;
	struct buf sql = { 0 };

	buf_addf(&sql, "SELECT name, type FROM pragma_table_info('%s%s')", prefix, table);
	sqlite3_prepare_v2(step->database->handle, buf_cstr(&sql), -1, &statement, NULL);
	buf_free(&sql);
	return statement;
}

static enum err check_nothing_lost(struct step *step, const char *table)
{
	sqlite3_stmt *columns = ask_columns(step, OLD_PREFIX, table);
	enum err err = ERR_NONE;

	while (err == ERR_NONE && sqlite3_step(columns) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(columns, 0);

		if (!has_column(step, "", table, column) && !ladder_change(step->version, table, column, true))
			err = is_lost(step, table, column);
	}
	sqlite3_finalize(columns);
	return err;
}

static const char *value_of(struct step *step, const char *table, const char *column, const char *type)
{
	const struct column_change *fill = ladder_change(step->version, table, column, false);

	if (fill)
		return fill->value;
	if (has_column(step, OLD_PREFIX, table, column))
		return column;
	return strcmp(type, "TEXT") == 0 ? "''" : strcmp(type, "BLOB") == 0 ? "x''" : "0";
}

static enum err copy_rows(struct step *step, const char *table)
{
	sqlite3_stmt *columns = ask_columns(step, "", table);
	struct buf names = { 0 }, values = { 0 }, sql = { 0 };
	enum err err;

	while (sqlite3_step(columns) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(columns, 0);
		const char *type = (const char *)sqlite3_column_text(columns, 1);

		buf_addf(&names, "%s%s", names.len ? ", " : "", column);
		buf_addf(&values, "%s%s", values.len ? ", " : "", value_of(step, table, column, type));
	}
	sqlite3_finalize(columns);
	buf_addf(&sql, "INSERT INTO %1$s (%2$s) SELECT %3$s FROM " OLD_PREFIX "%1$s", table, buf_cstr(&names),
		 buf_cstr(&values));
	err = run(step, buf_cstr(&sql));
	buf_free(&names);
	buf_free(&values);
	buf_free(&sql);
	return err;
}

static enum err make_new(struct step *step, const struct object *new)
{
	const struct object *old = ladder_find(step->version - 1, new->name);
	enum err err;

	if (object_is_table(new) && stays(old, new))
		return ERR_NONE;
	err = run(step, new->sql);
	if (err != ERR_NONE || !old || !object_is_table(new))
		return err;
	err = check_nothing_lost(step, new->name);
	if (err == ERR_NONE)
		err = copy_rows(step, new->name);
	return err == ERR_NONE ? runf(step, "DROP TABLE " OLD_PREFIX "%s", new->name) : err;
}

/* Change the tables, then the indexes: frozen.def lists indexes after the tables. */
static enum err change_tables(struct step *step)
{
	const struct ladder *ladder = store_ladder;
	enum err err = ERR_NONE;
	char sql[64];

	for (size_t i = 0; err == ERR_NONE && i < ladder->object_count; i++)
		if (ladder->objects[i].version == step->version - 1)
			err = put_old_aside(step, &ladder->objects[i]);
	for (size_t i = 0; err == ERR_NONE && i < ladder->object_count; i++)
		if (ladder->objects[i].version == step->version)
			err = make_new(step, &ladder->objects[i]);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", step->version);
	return err == ERR_NONE ? run(step, sql) : err;
}

static enum err take_step(struct database *database, int version, struct error *error)
{
	struct step step = { .database = database, .version = version, .error = error };
	enum err err = run(&step, "BEGIN IMMEDIATE");

	if (err != ERR_NONE)
		return err;
	err = change_tables(&step);
	if (err == ERR_NONE)
		err = database_check_tables(database, version, error);
	if (err == ERR_NONE)
		err = run(&step, "COMMIT");
	if (err != ERR_NONE)
		sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* ---- the backup before the first step ---- */

/* Find a file name beside the store that isn't in use. */
static enum err name_backup(const struct database *database, char path[PATH_MAX], struct error *error)
{
	struct stat info;

	for (int number = 1; number < BACKUPS_MAX; number++) {
		int len = snprintf(path, PATH_MAX, "%s-version-%d", database->path, database->version);

		if (number > 1)
			snprintf(path + len, (size_t)(PATH_MAX - len), ".%d", number);
		if (lstat(path, &info) < 0 && errno == ENOENT)
			return ERR_NONE;
	}
	return error_set(error, ERR_STORE, "%s: there are too many old copies beside the store; remove some", database->path);
}

static enum err back_up(struct database *database, const char *path, struct error *error)
{
	struct backup backup;
	char part[PATH_MAX];
	enum err err;
	int result;

	snprintf(part, sizeof(part), "%s-migrating", database->path);
	unlink(part);                    /* remove a part file that an interrupted migration left */
	err = backup_begin(&backup, database->handle, part, 0, error);
	if (err == ERR_NONE && (result = backup_step(&backup, -1)) != SQLITE_DONE)
		err = backup_error(&backup, result, error);
	if (err != ERR_NONE) {
		backup_abandon(&backup);
		return err;
	}
	err = backup_end(&backup, error);
	if (err == ERR_NONE)
		err = backup_complete(part, error);
	if (err == ERR_NONE)
		err = trailer_write(part, error);
	return err == ERR_NONE ? backup_place(part, path, error) : err;
}

enum err database_migrate(struct database *database, struct error *error)
{
	char path[PATH_MAX];
	enum err err = name_backup(database, path, error);

	if (err == ERR_NONE)
		err = back_up(database, path, error);
	if (err != ERR_NONE)
		return err;
	log_info("%s has tables of version %d, which are changed to version %d; a copy of the old store is %s", database->path,
		 database->version, store_ladder->newest, path);
	while (err == ERR_NONE && database->version < store_ladder->newest) {
		err = take_step(database, database->version + 1, error);
		if (err == ERR_NONE)
			database->version++;
	}
	return err;
}
