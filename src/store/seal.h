/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last line of a backup, behind the database's pages, where SQLite doesn't look: the number of bytes before the
 * line, and their SHA-256.
 */
#ifndef TITAN_STORE_SEAL_H
#define TITAN_STORE_SEAL_H

#include <stdbool.h>

#include "proto/error.h"

/* Add the seal to a complete part file, and sync it. */
enum err seal_write(const char *path, struct error *error);
/*
 * Compare a file with its seal. A file without a seal is a store, or a backup made by an older titan; such a file must
 * end with its last page.
 */
enum err seal_check(const char *path, bool *ret_sealed, struct error *error);

#endif
