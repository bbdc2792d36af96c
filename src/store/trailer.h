/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last line of a backup, behind the database's pages, where SQLite doesn't look: the number of bytes before the
 * line, and their SHA-256.
 */
#ifndef TITAN_STORE_TRAILER_H
#define TITAN_STORE_TRAILER_H

#include <stdbool.h>

#include "proto/error.h"

/* Add the trailer to a complete part file, and sync it. */
enum err trailer_write(const char *path, struct error *error);
/*
 * Compare a file with its trailer. A file without a trailer is a store, or a backup made by an older titan; such a file
 * must end with its last page.
 */
enum err trailer_check(const char *path, bool *ret_found, struct error *error);

#endif
