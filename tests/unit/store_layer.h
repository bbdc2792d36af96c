/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A test layer between SQLite and its files, for tests that make the disk fail, count operations, or record them. The
 * store doesn't know of the layer. Include once per program.
 */
#ifndef TITAN_STORE_LAYER_H
#define TITAN_STORE_LAYER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum layer_op { LAYER_CREATE, LAYER_WRITE, LAYER_TRUNCATE, LAYER_SYNC, LAYER_DELETE };
enum layer_which { LAYER_DATABASE, LAYER_LOG, LAYER_JOURNAL, LAYER_OTHER, LAYER_FILES };

struct layer_call {
	enum layer_op op;
	enum layer_which which;
	const void *data;
	int len;
	sqlite3_int64 at;                /* for a truncation, the file's new size */
};

/*
 * Called before each operation. Return SQLITE_OK to do it, or the error with which it fails; with *skip set it isn't
 * done but reported as done.
 */
typedef int layer_hook(const struct layer_call *call, bool *skip);

static layer_hook *layer_hook_cb;
static bool layer_normal;                /* imitate a faulty build: turn synchronous = FULL into NORMAL */
static sqlite3_vfs layer_vfs;
static sqlite3_vfs *layer_real;
static sqlite3_io_methods layer_methods;

struct layer_file {
	sqlite3_file base;
	enum layer_which which;
	sqlite3_file inner[];
};

static inline sqlite3_file *layer_inner(sqlite3_file *file)
{
	return ((struct layer_file *)file)->inner;
}

static inline int layer_ask(struct layer_call call, bool *ret_skip)
{
	*ret_skip = false;
	return layer_hook_cb ? layer_hook_cb(&call, ret_skip) : SQLITE_OK;
}

static inline enum layer_which layer_kind(const char *name, const char *main_name)
{
	size_t len = name ? strlen(name) : 0;

	if (len > 4 && strcmp(name + len - 4, "-wal") == 0)
		return LAYER_LOG;
	if (len > 8 && strcmp(name + len - 8, "-journal") == 0)
		return LAYER_JOURNAL;
	return len > 3 && strcmp(name + len - 3, main_name) == 0 ? LAYER_DATABASE : LAYER_OTHER;
}

static inline int layer_close_cb(sqlite3_file *file)
{
	return layer_inner(file)->pMethods->xClose(layer_inner(file));
}

static inline int layer_read_cb(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
	return layer_inner(file)->pMethods->xRead(layer_inner(file), data, len, at);
}

static inline int layer_write_cb(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	enum layer_which which = ((struct layer_file *)file)->which;
	bool skip;
	int result = layer_ask((struct layer_call){ LAYER_WRITE, which, data, len, at }, &skip);

	return result != SQLITE_OK || skip ? result :
	       layer_inner(file)->pMethods->xWrite(layer_inner(file), data, len, at);
}

static inline int layer_truncate_cb(sqlite3_file *file, sqlite3_int64 size)
{
	enum layer_which which = ((struct layer_file *)file)->which;
	bool skip;
	int result = layer_ask((struct layer_call){ LAYER_TRUNCATE, which, NULL, 0, size }, &skip);

	return result != SQLITE_OK || skip ? result :
	       layer_inner(file)->pMethods->xTruncate(layer_inner(file), size);
}

static inline int layer_sync_cb(sqlite3_file *file, int flags)
{
	enum layer_which which = ((struct layer_file *)file)->which;
	bool skip;
	int result = layer_ask((struct layer_call){ LAYER_SYNC, which, NULL, 0, 0 }, &skip);

	return result != SQLITE_OK || skip ? result : layer_inner(file)->pMethods->xSync(layer_inner(file), flags);
}

static inline int layer_size_cb(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	return layer_inner(file)->pMethods->xFileSize(layer_inner(file), ret_size);
}

static inline int layer_lock_cb(sqlite3_file *file, int level)
{
	return layer_inner(file)->pMethods->xLock(layer_inner(file), level);
}

static inline int layer_unlock_cb(sqlite3_file *file, int level)
{
	return layer_inner(file)->pMethods->xUnlock(layer_inner(file), level);
}

static inline int layer_reserved_cb(sqlite3_file *file, int *ret_reserved)
{
	return layer_inner(file)->pMethods->xCheckReservedLock(layer_inner(file), ret_reserved);
}

static inline int layer_control_cb(sqlite3_file *file, int op, void *arg)
{
	char **pragma = arg;

	/* Overwrite SQLite's own copy of the pragma's value; 1 means NORMAL. */
	if (layer_normal && op == SQLITE_FCNTL_PRAGMA && strcmp(pragma[1], "synchronous") == 0 && pragma[2])
		strcpy(pragma[2], "1");
	return layer_inner(file)->pMethods->xFileControl(layer_inner(file), op, arg);
}

static inline int layer_sector_cb(sqlite3_file *file)
{
	return layer_inner(file)->pMethods->xSectorSize(layer_inner(file));
}

static inline int layer_traits_cb(sqlite3_file *file)
{
	return layer_inner(file)->pMethods->xDeviceCharacteristics(layer_inner(file));
}

static inline int layer_open_cb(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct layer_file *ours = (struct layer_file *)file;
	bool skip;
	int result;

	(void)vfs;
	file->pMethods = NULL;
	ours->which = layer_kind(name, ".db");
	result = layer_real->xOpen(layer_real, name, ours->inner, flags, ret_flags);
	if (ours->inner->pMethods)
		file->pMethods = &layer_methods;
	if (result == SQLITE_OK && flags & SQLITE_OPEN_CREATE)
		layer_ask((struct layer_call){ LAYER_CREATE, ours->which, NULL, 0, 0 }, &skip);
	return result;
}

static inline int layer_delete_cb(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
	bool skip;

	(void)vfs;
	layer_ask((struct layer_call){ LAYER_DELETE, layer_kind(name, ".db"), NULL, 0, 0 }, &skip);
	return layer_real->xDelete(layer_real, name, sync_dir);
}

static inline void layer_put(void)
{
	layer_real = sqlite3_vfs_find(NULL);
	/* Version 1 of the methods has no shared memory, so a store that used some would fail. */
	layer_methods = (sqlite3_io_methods){
		.iVersion = 1,
		.xClose = layer_close_cb,
		.xRead = layer_read_cb,
		.xWrite = layer_write_cb,
		.xTruncate = layer_truncate_cb,
		.xSync = layer_sync_cb,
		.xFileSize = layer_size_cb,
		.xLock = layer_lock_cb,
		.xUnlock = layer_unlock_cb,
		.xCheckReservedLock = layer_reserved_cb,
		.xFileControl = layer_control_cb,
		.xSectorSize = layer_sector_cb,
		.xDeviceCharacteristics = layer_traits_cb,
	};
	layer_vfs = *layer_real;
	layer_vfs.zName = "layer";
	layer_vfs.szOsFile += (int)sizeof(struct layer_file);
	layer_vfs.xOpen = layer_open_cb;
	layer_vfs.xDelete = layer_delete_cb;
	if (sqlite3_vfs_register(&layer_vfs, 1) != SQLITE_OK)
		abort();
}

#endif
