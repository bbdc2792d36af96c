/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts a backup in the place of the store. The new generation is higher than those of the backup, of the store that was
 * there, and of every store that was put aside before, so no epoch that a worker may still have is given a second time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/backup.h"
#include "store/database.h"
#include "store/mark.h"

#define KEPT_SUFFIX "-before-"
#define PART_SUFFIX "-restored"

/*
 * Check that no process has locked the file. The query takes no lock. Closing the descriptor drops this process's own
 * locks on the file, but it has none.
 */
static enum err check_unused(const char *path, struct error *error)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	bool locked = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	if (fd < 0 && errno != ENOENT)
		return error_system(error, errno, "can't open the store %s", path);
	if (fd >= 0)
		close(fd);
	if (!locked)
		return ERR_NONE;
	error_set(error, ERR_STORE_LOCKED, "process %ld has the store %s open", (long)lock.l_pid, path);
	return error_next(error, "titan down --keep-workers");
}

/* Read the generation of a store. 0: it can't be read. */
static uint64_t read_generation(const char *path)
{
	sqlite3 *handle = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t generation = 0;

	if (access(path, F_OK) == 0 &&
	    sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
	    sqlite3_exec(handle, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(handle, "SELECT value FROM meta WHERE name = 'generation'", -1, &statement, NULL) ==
	    SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		generation = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return generation > 0 ? (uint64_t)generation : 0;
}

/* Find the highest generation among the stores that earlier restores put aside. */
static uint64_t kept_generation(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir_name[PATH_MAX], prefix[NAME_MAX + 1];
	uint64_t highest = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(dir_name, sizeof(dir_name), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	snprintf(prefix, sizeof(prefix), "%s" KEPT_SUFFIX, slash ? slash + 1 : path);
	dir = opendir(dir_name);
	while (dir && (entry = readdir(dir))) {
		uint64_t number;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		number = strtoull(entry->d_name + strlen(prefix), NULL, 10);
		if (number > highest && number < UINT32_MAX)
			highest = number;
	}
	if (dir)
		closedir(dir);
	return highest;
}

static uint64_t next_generation(const char *from, const char *path)
{
	const uint64_t seen[] = { read_generation(from), read_generation(path), kept_generation(path) };
	uint64_t highest = 0;

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (seen[i] > highest)
			highest = seen[i];
	return highest + 1;
}

static enum err raise_generation(const char *part, uint64_t generation, struct error *error)
{
	sqlite3 *handle = NULL;
	char sql[192];
	int result = sqlite3_open_v2(part, &handle, SQLITE_OPEN_READWRITE, NULL);

	snprintf(sql, sizeof(sql), "PRAGMA locking_mode = EXCLUSIVE; INSERT OR REPLACE INTO meta (name, value) "
		 "VALUES ('generation', %" PRIu64 "); DELETE FROM meta WHERE name = 'boot'", generation);
	if (result == SQLITE_OK)
		result = sqlite3_exec(handle, sql, NULL, NULL, NULL);
	sqlite3_close(handle);
	return result == SQLITE_OK ? ERR_NONE :
	       error_set(error, ERR_STORE, "can't raise the generation in %s: %s", part, sqlite3_errstr(result));
}

static enum err copy_whole(const char *from, const char *part, struct error *error)
{
	struct database source = { 0 };
	struct backup backup = { 0 };
	int result;
	enum err err = database_open(&source, from, true, error);

	if (err == ERR_NONE)
		err = backup_begin(&backup, source.handle, part, 0, error);
	if (err == ERR_NONE && (result = backup_step(&backup, -1)) != SQLITE_DONE)
		err = backup_error(&backup, result, error);
	if (err == ERR_NONE)
		err = backup_end(&backup, error);
	else
		backup_abandon(&backup);
	database_close(&source);
	return err;
}

/*
 * Rename the store and its log. The log is renamed even without a store (after an interrupted restore); otherwise
 * SQLite would replay it into the new store.
 */
static enum err put_aside(const char *path, const char *kept, struct error *error)
{
	char log[PATH_MAX + 8], kept_log[PATH_MAX + 8];

	snprintf(log, sizeof(log), "%s-wal", path);
	snprintf(kept_log, sizeof(kept_log), "%s-wal", kept);
	if (rename(path, kept) < 0 && errno != ENOENT)
		return error_system(error, errno, "can't rename %s to %s", path, kept);
	if (rename(log, kept_log) < 0 && errno != ENOENT)
		return error_system(error, errno, "can't rename %s to %s", log, kept_log);
	return ERR_NONE;
}

static enum err swap(const char *part, const char *path, const char *kept, struct error *error)
{
	/*
	 * Lock the whole range of SQLite's locks, which also keeps out a process that opened the file before the
	 * restore's mark existed.
	 */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	enum err err = ERR_NONE;

	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) < 0)
		err = error_set(error, ERR_STORE_LOCKED, "a process has the store %s open", path);
	if (err == ERR_NONE)
		err = mark_remove(path, error);
	if (err == ERR_NONE)
		err = put_aside(path, kept, error);
	if (err == ERR_NONE)
		err = backup_place(part, path, error);
	if (fd >= 0)
		close(fd);
	return err;
}

static enum err restore(const char *from, const char *path, struct restored *restored, struct error *error)
{
	char part[PATH_MAX];
	bool there = access(path, F_OK) == 0;
	enum err err;

	snprintf(part, sizeof(part), "%s" PART_SUFFIX, path);
	unlink(part);                    /* remove a part file that an interrupted restore left */
	restored->generation = next_generation(from, path);
	snprintf(restored->kept, sizeof(restored->kept), "%s" KEPT_SUFFIX "%" PRIu64, path, restored->generation);
	err = copy_whole(from, part, error);
	if (err == ERR_NONE)
		err = raise_generation(part, restored->generation, error);
	if (err == ERR_NONE)
		err = backup_complete(part, error);
	if (err == ERR_NONE)
		err = swap(part, path, restored->kept, error);
	if (err != ERR_NONE)
		unlink(part);
	if (!there)
		restored->kept[0] = '\0';
	return err;
}

enum err store_restore(const char *from, const char *path, struct restored *ret_restored, struct error *error)
{
	struct restored restored;
	char mark[PATH_MAX];
	enum err err;
	int fd;

	err = check_unused(path, error);
	if (err != ERR_NONE)
		return err;
	snprintf(mark, sizeof(mark), "%s" DATABASE_RESTORE_SUFFIX, path);
	fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_system(error, errno, "can't create %s", mark);
	close(fd);
	err = check_unused(path, error);
	if (err == ERR_NONE)
		err = database_sync_dir(mark, error);
	if (err == ERR_NONE)
		err = restore(from, path, &restored, error);
	/* The store wasn't renamed yet, so nothing has changed. */
	if (err != ERR_NONE && access(path, F_OK) == 0)
		unlink(mark);
	if (err != ERR_NONE)
		return err;
	if (unlink(mark) < 0)
		return error_system(error, errno, "can't remove %s", mark);
	err = database_sync_dir(path, error);
	if (err == ERR_NONE)
		*ret_restored = restored;
	return err;
}
