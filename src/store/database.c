/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens, checks and closes the database file. The lock on the file is taken first and held until the end, so no second
 * process uses it and no shared memory file is needed. A file is changed only after it was recognized as titan's. No
 * other descriptor of it may be opened in this process: closing that descriptor would drop SQLite's lock.
 */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/gather.h"
#include "store/ladder.h"
#include "store/mark.h"

#define CACHE_KIB 32768

/*
 * Suggest a restore, or moving the whole directory away, because a new store must not be used with workers that
 * remember the old one.
 */
enum err store_hint(const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 1;
	const char *dir = slash ? path : ".";

	return error_next(error, "titan restore FILE with a backup; without a backup, move %.*s away (keep it), then "
		"titan up begins with an empty store", len, dir);
}

enum err database_error(struct database *database, enum err code, struct error *error, const char *doing)
{
	int result = sqlite3_extended_errcode(database->handle);

	switch (result & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		error_set(error, ERR_STORE_LOCKED, "another process has the store %s open", database->path);
		return error_next(error, "titan status");
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		code = ERR_STORE_TRUST;
		break;
	}
	if (strcmp(sqlite3_errmsg(database->handle), sqlite3_errstr(result)) == 0)
		error_set(error, code, "%s: %s: %s", database->path, doing, sqlite3_errstr(result));
	else
		error_set(error, code, "%s: %s: %s (%s)", database->path, doing, sqlite3_errmsg(database->handle),
			  sqlite3_errstr(result));
	return code == ERR_STORE_TRUST ? store_hint(database->path, error) : code;
}

enum err database_prepare(struct database *database, const char *sql, sqlite3_stmt **ret_statement,
			  struct error *error)
{
	if (sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL) !=
	    SQLITE_OK)
		return database_error(database, ERR_STORE_TRUST, error,
				      "the tables of the store differ from those that this version of titan writes");
	return ERR_NONE;
}

static enum err run_sql(struct database *database, const char *sql, const char *doing, struct error *error)
{
	if (sqlite3_exec(database->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return database_error(database, ERR_STORE, error, doing);
	return ERR_NONE;
}

/* Run an SQL query and return the first column of the first row as text. */
static enum err ask(struct database *database, const char *sql, char *ret_text, size_t size,
		    struct error *error)
{
	sqlite3_stmt *statement = NULL;
	enum err err = ERR_NONE;

	if (sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		err = database_error(database, ERR_STORE, error, "can't be read");
	else
		snprintf(ret_text, size, "%s", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return err;
}

static enum err ask_number(struct database *database, const char *sql, int *ret_number, struct error *error)
{
	char text[32];
	enum err err = ask(database, sql, text, sizeof(text), error);

	if (err == ERR_NONE)
		*ret_number = (int)strtol(text, NULL, 10);
	return err;
}

/* Create the file with mode 0600, before SQLite creates it with another mode. Refuse a file that others may read. */
static enum err make_file(const char *path, struct error *error)
{
	struct stat info;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0) {
		close(fd);
		return ERR_NONE;
	}
	if (errno != EEXIST)
		return error_system(error, errno, "can't create the store %s", path);
	if (stat(path, &info) < 0)
		return error_system(error, errno, "can't look at the store %s", path);
	if (!S_ISREG(info.st_mode)) {
		error_set(error, ERR_STORE, "the store %s isn't a regular file", path);
		return error_next(error, "mv %s elsewhere, then titan up", path);
	}
	if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
		error_set(error, ERR_STORE, "the store %s must belong to you, and nobody else may have access to it",
			  path);
		if (info.st_uid != geteuid())
			return error_next(error, "chown %lu %s", (unsigned long)geteuid(), path);
		return error_next(error, "chmod 600 %s", path);
	}
	return ERR_NONE;
}

/* Was the last shutdown unclean? An orderly shutdown removes the write-ahead log. */
static bool ended_unclean(const char *path)
{
	char *name = sqlite3_mprintf("%s-wal", path);
	struct stat info;
	bool unclean = name && stat(name, &info) == 0 && info.st_size > 0;

	sqlite3_free(name);
	return unclean;
}

/* Check that the file is a titan store of a known version, before anything in it is changed. */
static enum err check_identity(struct database *database, bool *ret_empty, struct error *error)
{
	int application_id = 0, version = 0, tables = 0;
	enum err err = ask_number(database, "PRAGMA application_id", &application_id, error);

	if (err == ERR_NONE)
		err = ask_number(database, "PRAGMA user_version", &version, error);
	/* This query also makes SQLite read the file: it ignores a checkpoint on a connection that has read nothing. */
	if (err == ERR_NONE)
		err = ask_number(database, "SELECT count(*) FROM sqlite_schema", &tables, error);
	if (err != ERR_NONE)
		return err;
	*ret_empty = application_id == 0 && version == 0 && tables == 0;
	if (*ret_empty)
		return ERR_NONE;
	if (application_id != STORE_APPLICATION_ID) {
		error_set(error, ERR_STORE, "%s is a database, but not one of titan", database->path);
		return error_next(error, "mv %s elsewhere, then titan up", database->path);
	}
	if (version > store_ladder->newest) {
		error_set(error, ERR_VERSION, "the store %s has version %d; this titan supports versions up to %d",
			  database->path, version, store_ladder->newest);
		return error_next(error, "titan version");
	}
	if (version < 1) {
		error_set(error, ERR_VERSION, "the store %s has version %d, which no version of titan writes", database->path, version);
		return store_hint(database->path, error);
	}
	database->version = version;
	return ERR_NONE;
}

static enum err check_content(struct database *database, const char *pragma, struct error *error)
{
	char verdict[ERROR_TEXT_SIZE / 2];
	enum err err = ask(database, pragma, verdict, sizeof(verdict), error);

	if (err != ERR_NONE || strcmp(verdict, "ok") == 0)
		return err;
	error_set(error, ERR_STORE_TRUST, "the store %s is damaged: %s", database->path, verdict);
	return store_hint(database->path, error);
}

enum err database_check(struct database *database, struct error *error)
{
	return check_content(database, "PRAGMA integrity_check(1)", error);
}

static enum err create_tables(struct database *database, struct error *error)
{
	struct buf sql = { 0 };
	enum err err;

	buf_add_str(&sql, "BEGIN IMMEDIATE;\n");
	store_schema(&sql);
	buf_add_str(&sql, "COMMIT;");
	err = run_sql(database, buf_cstr(&sql), "can't create its tables", error);
	buf_free(&sql);
	return err;
}

static int log_grew_cb(void *arg, sqlite3 *handle, const char *name, int pages)
{
	struct database *database = arg;

	(void)handle;
	(void)name;
	database->log_pages = pages;
	return SQLITE_OK;
}

/* Prepare the store for writing: WAL mode, sync at each commit, tables created or migrated to the newest version. */
static enum err set_up_writing(struct database *database, bool empty, struct error *error)
{
	char mode[16], cache[64];
	enum err err = ask(database, "PRAGMA journal_mode = WAL", mode, sizeof(mode), error);

	if (err != ERR_NONE)
		return err;
	if (strcmp(mode, "wal") != 0)
		return error_set(error, ERR_STORE, "%s: SQLite can't use a write-ahead log here (mode %s)",
				 database->path, mode);
	sqlite3_exec(database->handle, "PRAGMA wal_autocheckpoint = 0", NULL, NULL, NULL);
	sqlite3_wal_hook(database->handle, log_grew_cb, database);
	err = run_sql(database, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
		      "PRAGMA temp_store = MEMORY;", "can't be set up", error);
	snprintf(cache, sizeof(cache), "PRAGMA cache_size = -%d", CACHE_KIB);
	if (err == ERR_NONE)
		err = run_sql(database, cache, "can't be set up", error);
	if (err == ERR_NONE && empty)
		err = create_tables(database, error);
	/* Take the writer's lock once: this fails if another process has the file open. */
	if (err == ERR_NONE)
		err = run_sql(database, "BEGIN IMMEDIATE; COMMIT;", "can't be written", error);
	if (err == ERR_NONE && empty)
		database->version = STORE_VERSION;
	if (err == ERR_NONE && database->version < store_ladder->newest)
		err = check_content(database, "PRAGMA quick_check(1)", error);
	if (err == ERR_NONE && database->version < store_ladder->newest)
		err = database_migrate(database, error);
	return err;
}

enum err database_agrees(struct database *database, struct error *error)
{
	char turn[32];
	enum err err = ask(database, "SELECT coalesce(max(value), 0) FROM meta WHERE name = 'turn'", turn, sizeof(turn), error);

	return err == ERR_NONE ? mark_agrees(database->path, strtoull(turn, NULL, 10), error) : err;
}

static enum err set_up(struct database *database, struct error *error)
{
	bool empty;
	enum err err;

	sqlite3_extended_result_codes(database->handle, 1);
	sqlite3_busy_timeout(database->handle, 0);
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	err = run_sql(database, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;"
		      "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", "can't be set up", error);
	if (err == ERR_NONE)
		err = check_identity(database, &empty, error);
	if (err == ERR_NONE && !empty)
		err = database_check_tables(database, database->version, error);
	if (err != ERR_NONE)
		return err;
	if (!database->inspect) {
		err = empty ? mark_agrees(database->path, 0, error) : database_agrees(database, error);
		return err == ERR_NONE ? set_up_writing(database, empty, error) : err;
	}
	return empty ? error_set(error, ERR_STORE, "%s is empty", database->path) : ERR_NONE;
}

/*
 * Sync the directory, so that the name of the write-ahead log is on disk: without it no commit is durable. SQLite also
 * does this, but ignores errors.
 */
enum err database_sync_dir(const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	enum err err = ERR_NONE;
	char dir[PATH_MAX];
	int fd;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		err = error_system(error, errno, "can't sync the directory %s", dir);
	if (fd >= 0)
		close(fd);
	return err;
}

/* Refuse a store whose restore was interrupted: the database and its log may not belong together. */
static enum err check_no_restore(const char *path, struct error *error)
{
	char *name = sqlite3_mprintf("%s" DATABASE_RESTORE_SUFFIX, path);
	bool there = name && access(name, F_OK) == 0;

	sqlite3_free(name);
	if (!there)
		return ERR_NONE;
	error_set(error, ERR_STORE, "a restore of the store %s is running or was interrupted", path);
	return error_next(error, "titan restore FILE again");
}

static enum err prepare_file(const char *path, bool inspect, struct error *error)
{
	struct stat info;
	enum err err;

	if (inspect && (stat(path, &info) < 0 || access(path, R_OK) < 0))
		return error_system(error, errno, "can't read %s", path);
	if (inspect)
		return S_ISREG(info.st_mode) ? ERR_NONE : error_set(error, ERR_STORE, "%s isn't a regular file", path);
	err = check_no_restore(path, error);
	return err == ERR_NONE ? make_file(path, error) : err;
}

enum err database_open(struct database *database, const char *path, bool inspect, struct error *error)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	bool unclean;
	enum err err;

	/*
	 * SQLite's memory statistics would take a lock at each allocation. The call fails if SQLite runs already, which
	 * does no harm.
	 */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	database->path = mem_strdup(path);
	database->inspect = inspect;
	err = prepare_file(path, inspect, error);
	if (err != ERR_NONE)
		return err;
	unclean = ended_unclean(path);
	if (sqlite3_open_v2(path, &database->handle, flags, gather_vfs()) != SQLITE_OK)
		return database_error(database, ERR_STORE, error, "can't be opened");
	err = set_up(database, error);
	if (err == ERR_STORE && error && error->next[0] == '\0')
		error_next(error, "ls -ld %s*", path);
	if (err != ERR_NONE || inspect)
		return err;
	if (unclean)
		err = check_content(database, "PRAGMA quick_check(1)", error);
	if (err == ERR_NONE)
		err = database_sync_dir(path, error);
	if (err == ERR_NONE)
		err = write_prepare(database, error);
	if (err == ERR_NONE)
		err = read_prepare(database, error);
	if (err == ERR_NONE)
		err = past_prepare(database, error);
	return err;
}

int database_checkpoint(struct database *database, int mode)
{
	int log = 0, copied = 0;
	int result = sqlite3_wal_checkpoint_v2(database->handle, NULL, mode, &log, &copied);

	/* When the whole log has been copied, the next commit writes at its beginning again. */
	if (result == SQLITE_OK) {
		database->log_pages = copied < log ? log : 0;
		database->copied_pages = copied < log ? copied : 0;
	}
	/* Only after this checkpoint may SQLite remove the log at close. A store that was refused keeps its log. */
	if (result == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE)
		sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return result;
}

void database_close(struct database *database)
{
	job_names_free(database->job_names);
	sqlite3_finalize(database->begin);
	sqlite3_finalize(database->commit);
	sqlite3_finalize(database->rollback);
	for (int i = 0; i < TABLE_COUNT; i++) {
		sqlite3_finalize(database->put[i]);
		sqlite3_finalize(database->put_group[i]);
		sqlite3_finalize(database->put_new_group[i]);
		sqlite3_finalize(database->delete[i]);
		sqlite3_finalize(database->delete_range[i]);
	}
	for (int i = 0; i < READ_COUNT; i++)
		sqlite3_finalize(database->read[i]);
	past_free(&database->past);
	sqlite3_close(database->handle);
	mem_free(database->path);
	memset(database, 0, sizeof(*database));
}
