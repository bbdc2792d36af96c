/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of the database while it is in use. A copy goes through four steps: write a part file; complete it (one file
 * without a log, checked and synced); add its trailer (trailer.h; not if it becomes a store); rename it. So a file with
 * the final name is either complete or empty.
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
	char *path;                      /* path of the part file */
};

/*
 * Begin a copy; the part file must not exist yet. Always call backup_end or backup_abandon afterwards, even if this
 * fails. spare: bytes to leave free on the copy's file system, beside the copy itself.
 */
enum err backup_begin(struct backup *backup, sqlite3 *from, const char *part, int64_t spare, struct error *error);
/*
 * Copy some pages. Return SQLITE_OK if pages are left, SQLITE_DONE at the end, otherwise an error. Changes made between
 * two steps are in the copy.
 */
int backup_step(struct backup *backup, int pages);
enum err backup_end(struct backup *backup, struct error *error);
void backup_abandon(struct backup *backup);              /* end a copy and remove its part file */
/* Turn the result of a failed step into an error. */
enum err backup_error(const struct backup *backup, int result, struct error *error);

enum err backup_complete(const char *part, struct error *error);
/* Create an empty file at path, so that no other process takes the name before the rename. ERR_DUPLICATE: it exists. */
enum err backup_reserve(const char *path, struct error *error);
/* Rename part to path and sync the directory. */
enum err backup_place(const char *part, const char *path, struct error *error);

#endif
