/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of the database while it is in use. A copy is made in a part file, completed (one file without a log, checked,
 * synced), sealed (seal.h) unless it becomes a store, and only then renamed: a file with the name that was asked for is
 * whole, or empty.
 */
#ifndef TITAN_STORE_BACKUP_H
#define TITAN_STORE_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/error.h"

struct backup {
	sqlite3 *to;
	sqlite3_backup *job;
	char *path;                      /* of the part file */
};

/*
 * The part file must not be there yet. What was begun is ended or abandoned, also when beginning failed. Spare is left
 * free where the copy lies beside what it is of.
 */
enum err backup_begin(struct backup *backup, sqlite3 *from, const char *part, int64_t spare, struct error *error);
/* SQLITE_OK while there is more, SQLITE_DONE, or why it failed. A change in between is taken along. */
int backup_step(struct backup *backup, int pages);
enum err backup_end(struct backup *backup, struct error *error);
void backup_abandon(struct backup *backup);              /* and removes the part file */
/* Why the latest step failed, as an error. */
enum err backup_error(const struct backup *backup, int result, struct error *error);

enum err backup_complete(const char *part, struct error *error);
/* Keeps the name with an empty file, so that the rename takes nobody else's; ERR_DUPLICATE: it is in use. */
enum err backup_reserve(const char *path, struct error *error);
enum err backup_place(const char *part, const char *path, struct error *error);          /* the rename, durably */

#endif
