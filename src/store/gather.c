/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gather.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

#define GATHER_MAX 65536 /* most bytes gathered; one write of SQLite's unix VFS must be less than 131,072 */
#define AHEAD_SIZE (8 * GATHER_MAX)

struct gathered {
	sqlite3_file base;
	uint8_t *bytes;
	int len;
	sqlite3_int64 at;                /* offset of the bytes in the file */
	sqlite3_int64 end;               /* end of what was last written */
	sqlite3_int64 size;              /* size of the file; 0: the next sync asks for it */
	sqlite3_file inner[];
};

static sqlite3_vfs vfs;

static const sqlite3_io_methods *methods_of(struct gathered *file)
{
	return file->inner->pMethods;
}

static int write_inner(struct gathered *file, const void *data, int len, sqlite3_int64 at)
{
	file->end = at + len;
	return methods_of(file)->xWrite(file->inner, data, len, at);
}

/* Write the gathered bytes. If that fails they are dropped, and SQLite fails the commit. */
static int flush(struct gathered *file)
{
	int len = file->len;

	file->len = 0;
	return len > 0 ? write_inner(file, file->bytes, len, file->at) : SQLITE_OK;
}

/*
 * Write zeros behind the end of a log that has grown. A sync after writes within the file is about twice as fast as one
 * that also makes the file system record a new size. Zeros are no frame of the log, so SQLite takes them for its end. If
 * there is no room for them, the file keeps its size.
 */
static void write_ahead(struct gathered *file)
{
	static const uint8_t zeros[GATHER_MAX];
	int result = SQLITE_OK;

	if (file->size == 0)
		methods_of(file)->xFileSize(file->inner, &file->size);
	if (file->end <= file->size)
		return;
	for (int done = 0; done < AHEAD_SIZE && result == SQLITE_OK; done += GATHER_MAX)
		result = methods_of(file)->xWrite(file->inner, zeros, GATHER_MAX, file->end + done);
	file->size = file->end + (result == SQLITE_OK ? AHEAD_SIZE : 0);
	if (result != SQLITE_OK)
		methods_of(file)->xTruncate(file->inner, file->end);
}

static int write_cb(sqlite3_file *base, const void *data, int len, sqlite3_int64 at)
{
	struct gathered *file = (struct gathered *)base;
	bool follows = file->len > 0 && at == file->at + file->len && file->len + len <= GATHER_MAX;
	int result = follows ? SQLITE_OK : flush(file);

	if (result != SQLITE_OK)
		return result;
	if (len > GATHER_MAX)
		return write_inner(file, data, len, at);
	if (file->len == 0)
		file->at = at;
	memcpy(file->bytes + file->len, data, (size_t)len);
	file->len += len;
	return SQLITE_OK;
}

static int read_cb(sqlite3_file *base, void *data, int len, sqlite3_int64 at)
{
	struct gathered *file = (struct gathered *)base;
	int result = flush(file);

	return result == SQLITE_OK ? methods_of(file)->xRead(file->inner, data, len, at) : result;
}

static int truncate_cb(sqlite3_file *base, sqlite3_int64 size)
{
	struct gathered *file = (struct gathered *)base;
	int result = flush(file);

	file->size = file->end = 0;
	return result == SQLITE_OK ? methods_of(file)->xTruncate(file->inner, size) : result;
}

static int sync_cb(sqlite3_file *base, int flags)
{
	struct gathered *file = (struct gathered *)base;
	int result = flush(file);

	if (result == SQLITE_OK)
		write_ahead(file);
	return result == SQLITE_OK ? methods_of(file)->xSync(file->inner, flags) : result;
}

static int size_cb(sqlite3_file *base, sqlite3_int64 *ret_size)
{
	struct gathered *file = (struct gathered *)base;
	int result = flush(file);

	return result == SQLITE_OK ? methods_of(file)->xFileSize(file->inner, ret_size) : result;
}

/* Close without writing the gathered bytes: they weren't synced, so they were never acknowledged. */
static int close_cb(sqlite3_file *base)
{
	struct gathered *file = (struct gathered *)base;

	flush(file);
	mem_free(file->bytes);
	return methods_of(file)->xClose(file->inner);
}

static int lock_cb(sqlite3_file *base, int level)
{
	struct gathered *file = (struct gathered *)base;

	return methods_of(file)->xLock(file->inner, level);
}

static int unlock_cb(sqlite3_file *base, int level)
{
	struct gathered *file = (struct gathered *)base;

	return methods_of(file)->xUnlock(file->inner, level);
}

static int reserved_cb(sqlite3_file *base, int *ret_reserved)
{
	struct gathered *file = (struct gathered *)base;

	return methods_of(file)->xCheckReservedLock(file->inner, ret_reserved);
}

static int control_cb(sqlite3_file *base, int op, void *arg)
{
	struct gathered *file = (struct gathered *)base;

	return methods_of(file)->xFileControl(file->inner, op, arg);
}

static int sector_cb(sqlite3_file *base)
{
	struct gathered *file = (struct gathered *)base;

	return methods_of(file)->xSectorSize(file->inner);
}

static int traits_cb(sqlite3_file *base)
{
	struct gathered *file = (struct gathered *)base;

	return methods_of(file)->xDeviceCharacteristics(file->inner);
}

/* Used for the write-ahead log only, which is never mapped or shared, so version 1 of the methods is enough. */
static const sqlite3_io_methods methods = {
	.iVersion = 1, .xClose = close_cb, .xRead = read_cb, .xWrite = write_cb, .xTruncate = truncate_cb, .xSync = sync_cb,
	.xFileSize = size_cb, .xLock = lock_cb, .xUnlock = unlock_cb, .xCheckReservedLock = reserved_cb,
	.xFileControl = control_cb, .xSectorSize = sector_cb, .xDeviceCharacteristics = traits_cb,
};

static int open_cb(sqlite3_vfs *own, const char *name, sqlite3_file *base, int flags, int *ret_flags)
{
	struct gathered *file = (struct gathered *)base;
	sqlite3_vfs *below = own->pAppData;
	int result;

	if (!(flags & SQLITE_OPEN_WAL))
		return below->xOpen(below, name, base, flags, ret_flags);
	base->pMethods = NULL;
	result = below->xOpen(below, name, file->inner, flags, ret_flags);
	if (!file->inner->pMethods)
		return result;
	file->bytes = mem_alloc(GATHER_MAX);
	file->len = 0;
	file->end = file->size = 0;
	base->pMethods = &methods;
	return result;
}

const char *gather_vfs(void)
{
	sqlite3_vfs *below = sqlite3_vfs_find(NULL);

	if (vfs.pAppData == below)
		return vfs.zName;
	if (vfs.zName)
		sqlite3_vfs_unregister(&vfs);
	vfs = *below;
	vfs.zName = "titan";
	vfs.pAppData = below;
	vfs.szOsFile = (int)sizeof(struct gathered) + below->szOsFile;
	vfs.xOpen = open_cb;
	return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : NULL;
}
