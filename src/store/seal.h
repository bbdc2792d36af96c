/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last line of a backup, behind the database's pages, where SQLite doesn't look: the SHA-256 of all before it, and
 * how many bytes that are.
 */
#ifndef TITAN_STORE_SEAL_H
#define TITAN_STORE_SEAL_H

#include <stdbool.h>

#include "proto/error.h"

/* Of a complete part file; durable. */
enum err seal_write(const char *path, struct error *error);
/*
 * Compare a file with its seal. One without a seal is a store, or a backup that an older titan made: it may have nothing
 * behind its last page.
 */
enum err seal_check(const char *path, bool *ret_sealed, struct error *error);

#endif
