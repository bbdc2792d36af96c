/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies the database with SQLite's backup API. If this connection changes a page during the copy, SQLite copies that
 * page again. The part file needs no journal: after a crash it is thrown away, because only the rename makes it a
 * backup.
 */
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/limits.h"
#include "store/database.h"

#define SPARE_LEAST 65536                /* room for the directory entry and for the trailer behind the pages */

enum err backup_error(const struct backup *backup, int result, struct error *error)
{
	enum err code = (result & 0xff) == SQLITE_FULL ? ERR_FULL : ERR_STORE;

	return error_set(error, code, "can't write the backup %s: %s", backup->path, sqlite3_errstr(result));
}

static int64_t ask_size(sqlite3 *from)
{
	sqlite3_stmt *statement = NULL;
	int64_t size = 0;

	if (sqlite3_prepare_v2(from, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", -1,
			       &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		size = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return size;
}

/* Refuse a copy that would fill the disk: if the master's store is on the same disk, the master would stop. */
static enum err check_room(int fd, const char *part, sqlite3 *from, int64_t spare, struct error *error)
{
	const char *name = sqlite3_db_filename(from, "main");
	int64_t size = ask_size(from) + SPARE_LEAST;
	struct statvfs info;
	struct stat own, other;

	if (name && stat(name, &own) == 0 && fstat(fd, &other) == 0 && own.st_dev == other.st_dev)
		size += spare;
	if (fstatvfs(fd, &info) < 0 || (uint64_t)info.f_bavail * info.f_frsize >= (uint64_t)size)
		return ERR_NONE;
	error_set(error, ERR_FULL, "not enough disk space for the backup %s: it needs %lld bytes", part, (long long)size);
	return error_next(error, "titan backup FILE, on a disk with more space");
}

enum err backup_begin(struct backup *backup, sqlite3 *from, const char *part, int64_t spare, struct error *error)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result;
	enum err err;

	*backup = (struct backup){ 0 };
	if (fd < 0)
		return error_system(error, errno, "can't create the backup %s", part);
	backup->path = mem_strdup(part);
	err = check_room(fd, part, from, spare, error);
	close(fd);
	if (err != ERR_NONE)
		return err;
	result = sqlite3_open_v2(part, &backup->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_exec(backup->to, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF;"
				      "PRAGMA synchronous = OFF;", NULL, NULL, NULL);
	if (result != SQLITE_OK)
		return backup_error(backup, result, error);
	backup->job = sqlite3_backup_init(backup->to, "main", from, "main");
	return backup->job ? ERR_NONE : backup_error(backup, sqlite3_errcode(backup->to), error);
}

int backup_step(struct backup *backup, int pages)
{
	return sqlite3_backup_step(backup->job, pages);
}

static void release(struct backup *backup)
{
	sqlite3_backup_finish(backup->job);
	sqlite3_close(backup->to);
	mem_free(backup->path);
	*backup = (struct backup){ 0 };
}

enum err backup_end(struct backup *backup, struct error *error)
{
	int result = sqlite3_backup_finish(backup->job);
	enum err err = ERR_NONE;

	backup->job = NULL;
	if (result != SQLITE_OK) {
		err = backup_error(backup, result, error);
		backup_abandon(backup);
		return err;
	}
	release(backup);
	return ERR_NONE;
}

void backup_abandon(struct backup *backup)
{
	if (backup->path)
		unlink(backup->path);
	release(backup);
}

/* ---- completing the part file, on the caller's thread ---- */

static int is_ok_cb(void *arg, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(bool *)arg = values[0] && strcmp(values[0], "ok") == 0;
	return 0;
}

static enum err sync_file(const char *path, struct error *error)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int result = fd < 0 ? -1 : fsync(fd);
	int fault = errno;

	if (fd >= 0)
		close(fd);
	return result == 0 ? ERR_NONE : error_system(error, fault, "can't sync %s", path);
}

static int count_cb(void *arg, int columns, char **values, char **names)
{
	int64_t *count = arg;

	(void)names;
	*count = columns == 1 && values[0] ? strtoll(values[0], NULL, 10) : 0;
	return 0;
}

/*
 * Is there room for VACUUM? It writes the whole database again, and once more into its journal, which must not fill the
 * disk of a running master.
 */
static bool may_compact(const char *part, int64_t size)
{
	struct statvfs info;

	return statvfs(part, &info) == 0 &&
	       (uint64_t)info.f_bavail * info.f_frsize >= 2 * (uint64_t)size + 2 * (uint64_t)LIMIT_STORE_BALLAST;
}

/* Drop the unused pages that pruning left. Without room for VACUUM the copy keeps them. */
static void compact(sqlite3 *handle, const char *part)
{
	int64_t pages = 0, unused = 0;

	sqlite3_exec(handle, "PRAGMA page_count", count_cb, &pages, NULL);
	sqlite3_exec(handle, "PRAGMA freelist_count", count_cb, &unused, NULL);
	if (unused > pages / 4 && may_compact(part, ask_size(handle)))
		sqlite3_exec(handle, "VACUUM", NULL, NULL, NULL);
}

enum err backup_complete(const char *part, struct error *error)
{
	sqlite3 *handle = NULL;
	bool is_ok = false;
	int result = sqlite3_open_v2(part, &handle, SQLITE_OPEN_READWRITE, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_exec(handle, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE",
				      NULL, NULL, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_exec(handle, "PRAGMA quick_check(1)", is_ok_cb, &is_ok, NULL);
	if (result == SQLITE_OK && is_ok)
		compact(handle, part);
	sqlite3_close(handle);
	if (result != SQLITE_OK)
		return error_set(error, ERR_STORE, "can't check the copy %s: %s", part, sqlite3_errstr(result));
	if (!is_ok)
		return error_set(error, ERR_STORE_TRUST, "the copy %s failed its check", part);
	return sync_file(part, error);
}

enum err backup_reserve(const char *path, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0) {
		close(fd);
		return ERR_NONE;
	}
	if (errno == EEXIST)
		return error_set(error, ERR_DUPLICATE, "%s already exists", path);
	return error_system(error, errno, "can't create %s", path);
}

enum err backup_place(const char *part, const char *path, struct error *error)
{
	if (rename(part, path) < 0)
		return error_system(error, errno, "can't rename %s to %s", part, path);
	return database_sync_dir(path, error);
}
