/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies with SQLite's own backup: pages that the same connection changes meanwhile are copied again. The
 * part file needs no journal: until it is renamed it is nothing.
 */
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/database.h"

#define PART_SUFFIX ".part"

enum err backup_error(const struct backup *backup, int result, struct error *error)
{
	error_set(error, (result & 0xff) == SQLITE_FULL ? ERR_FULL : ERR_STORE, "can't write the backup %s: %s",
		  backup->path, sqlite3_errstr(result));
	return error ? error->code : ERR_STORE;
}

/* The empty file that keeps the place, so that nobody else's is overwritten by the rename. */
static enum err keep_place(struct backup *backup, const char *source, bool replace, struct error *error)
{
	struct stat there, own;
	int fd = open(backup->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0) {
		close(fd);
		backup->placed = true;
		return ERR_NONE;
	}
	if (errno != EEXIST)
		return error_system(error, errno, "can't create the backup %s", backup->path);
	if (lstat(backup->path, &there) < 0)
		return error_system(error, errno, "can't look at %s", backup->path);
	if (!S_ISREG(there.st_mode))
		return error_set(error, ERR_INVALID, "%s is there and isn't a regular file", backup->path);
	if (stat(source, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino)
		return error_set(error, ERR_INVALID, "%s is the store itself", backup->path);
	if (!replace)
		return error_set(error, ERR_DUPLICATE, "%s is there already", backup->path);
	return ERR_NONE;
}

static enum err make_part(const struct backup *backup, struct error *error)
{
	int fd;

	unlink(backup->part);
	fd = open(backup->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_system(error, errno, "can't create %s", backup->part);
	close(fd);
	return ERR_NONE;
}

enum err backup_begin(struct backup *backup, sqlite3 *from, const char *path, bool replace, struct error *error)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	struct buf part = { 0 };
	int result;
	enum err err;

	*backup = (struct backup){ .path = mem_strdup(path) };
	buf_addf(&part, "%s" PART_SUFFIX, path);
	backup->part = mem_strdup(buf_cstr(&part));
	buf_free(&part);
	err = keep_place(backup, sqlite3_db_filename(from, "main"), replace, error);
	if (err == ERR_NONE)
		err = make_part(backup, error);
	if (err != ERR_NONE)
		return err;
	result = sqlite3_open_v2(backup->part, &backup->to, flags, NULL);
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

static int is_ok_cb(void *arg, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(bool *)arg = values[0] && strcmp(values[0], "ok") == 0;
	return 0;
}

/* One file, without a log beside it, and nothing in it is damaged. */
static enum err finish_part(struct backup *backup, struct error *error)
{
	bool is_ok = false;
	int result = sqlite3_backup_finish(backup->job);

	backup->job = NULL;
	if (result == SQLITE_OK)
		result = sqlite3_exec(backup->to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_exec(backup->to, "PRAGMA quick_check(1)", is_ok_cb, &is_ok, NULL);
	if (result != SQLITE_OK)
		return backup_error(backup, result, error);
	if (!is_ok)
		return error_set(error, ERR_STORE_TRUST, "the backup %s doesn't pass its check", backup->path);
	result = sqlite3_close(backup->to);
	backup->to = NULL;
	return result == SQLITE_OK ? ERR_NONE : backup_error(backup, result, error);
}

static enum err sync_part(const struct backup *backup, struct error *error)
{
	int fd = open(backup->part, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int result = fd < 0 ? -1 : fsync(fd);
	int fault = errno;

	if (fd >= 0)
		close(fd);
	return result == 0 ? ERR_NONE : error_system(error, fault, "can't sync %s", backup->part);
}

static void release(struct backup *backup)
{
	sqlite3_backup_finish(backup->job);
	sqlite3_close(backup->to);
	mem_free(backup->path);
	mem_free(backup->part);
	*backup = (struct backup){ 0 };
}

enum err backup_end(struct backup *backup, struct error *error)
{
	enum err err = finish_part(backup, error);

	if (err == ERR_NONE)
		err = sync_part(backup, error);
	if (err == ERR_NONE && rename(backup->part, backup->path) < 0)
		err = error_system(error, errno, "can't rename %s to %s", backup->part, backup->path);
	if (err != ERR_NONE) {
		backup_abandon(backup);
		return err;
	}
	err = database_sync_dir(backup->path, error);
	release(backup);
	return err;
}

void backup_abandon(struct backup *backup)
{
	if (backup->part)
		unlink(backup->part);
	if (backup->placed)
		unlink(backup->path);
	release(backup);
}
