/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A copy of the database in a file of its own, while the database is in use. It is written beside its place,
 * checked, synced and only then renamed: a file with the name that was asked for is whole, or empty.
 */
#ifndef TITAN_STORE_BACKUP_H
#define TITAN_STORE_BACKUP_H

#include <stdbool.h>

#include <sqlite3.h>

#include "proto/error.h"

struct backup {
	sqlite3 *to;
	sqlite3_backup *job;
	char *path, *part;               /* where it will be, and where it is being written */
	bool placed;                     /* an empty file keeps the place */
};

/* replace: what has that name may be lost. Half-made ones are for backup_abandon. */
enum err backup_begin(struct backup *backup, sqlite3 *from, const char *path, bool replace, struct error *error);
/* SQLITE_OK while there is more, SQLITE_DONE, or why it failed. A change in between is taken along. */
int backup_step(struct backup *backup, int pages);
enum err backup_end(struct backup *backup, struct error *error);         /* abandoned when that fails */
void backup_abandon(struct backup *backup);
/* Why the latest step failed, as an error. */
enum err backup_error(const struct backup *backup, int result, struct error *error);

#endif
