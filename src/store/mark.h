/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file beside the database that says which turn was acknowledged last. SQLite takes a damaged or missing log for one
 * that ended earlier; a store that ends before the mark has lost what somebody was told is safe. It is written
 * behind each commit and never synced, so a power cut may take the mark back, and never brings one that is too new.
 */
#ifndef TITAN_STORE_MARK_H
#define TITAN_STORE_MARK_H

#include <stdint.h>

#include "proto/error.h"

struct mark {
	int fd;                                  /* -1: none */
};

enum err mark_open(struct mark *mark, const char *database_path, struct error *error);
void mark_set(struct mark *mark, uint64_t turn);
void mark_close(struct mark *mark);              /* the file stays */
/* A store that ends with this turn has all that was acknowledged. */
enum err mark_agrees(const char *database_path, uint64_t turn, struct error *error);
enum err mark_remove(const char *database_path, struct error *error);    /* another store comes in its place */

#endif
